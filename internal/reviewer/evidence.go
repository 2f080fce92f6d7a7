package reviewer

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lazyregexp"
	"company/internal/patch"
	"company/internal/safetext"
)

// Evidence is compared with what a reviewer did: code reads the transcript, no model
// judges. A command must have been run in the review, or be one of the gates; a file
// must be in the diff that the reviewer was shown, or have been read or printed; of
// named lines some must have been seen. Evidence in plain text, which names neither
// in fields of their own, must at least mention something of that kind.

const (
	// maxFacts bounds how many facts of one entry are listed as seen.
	maxFacts = 6
	// maxFact is how many bytes one of them has at most.
	maxFact = 200
	// maxNamed is how many commands and files a refusal lists.
	maxNamed = 20
)

// noEvidence begins each refusal of a review whose evidence does not stand.
const noEvidence = "The evidence does not stand"

// checkEvidence compares all evidence of an approval with the transcript. checked has
// a line for each entry; fault is empty where all of it stands.
func (s *seenRecord) checkEvidence(list []evidence, criteria []string) (checked []string, fault string) {
	var faults []string
	for i, e := range list {
		facts, wrong := s.checkEntry(e)
		checked = append(checked, strings.Join(facts, "; "))
		for _, w := range wrong {
			about := "entry " + strconv.Itoa(i+1)
			if i < len(criteria) {
				about = "for “" + safetext.CutBetweenWords(criteria[i], 80) + "”"
			}
			faults = append(faults, "- "+about+": "+w)
		}
	}
	if s.left < 0 {
		faults = []string{"- it names more than can be looked for; name the few commands and files that show each criterion"}
	}
	if n := len(criteria); len(list) < n {
		faults = append(faults, fmt.Sprintf("- there are %d acceptance criteria and %d entries; evidence names what shows each of them, in order", n, len(list)))
	}
	if len(faults) == 0 {
		return checked, ""
	}
	more := ""
	if len(faults) > maxNamed {
		more, faults = fmt.Sprintf("\n- and %d more", len(faults)-maxNamed), faults[:maxNamed]
	}
	return checked, noEvidence + ":\n" + strings.Join(faults, "\n") + more + "\n" + s.listSeen()
}

// checkEntry lists what of one entry was seen, and what of it was not.
func (s *seenRecord) checkEntry(e evidence) (facts, wrong []string) {
	if e.isEmpty() {
		return nil, []string{"it is empty"}
	}
	add := func(fact string) {
		if fact = safetext.CutBetweenWords(fact, maxFact); len(facts) < maxFacts && !slices.Contains(facts, fact) {
			facts = append(facts, fact)
		}
	}
	for _, command := range slices.Concat(e.Ran, commandsIn(e.Shows)) {
		if fact := s.findCommand(command); fact != "" {
			add(fact)
		} else if strings.HasPrefix(joinFields(command), "git diff") && len(s.subject.diff.Changes) > 0 {
			add("the diff") // the first message has it
		} else {
			wrong = append(wrong, "`"+safetext.EscapeLine(command, maxFact)+"` was not run in this review, and is none of the gates")
		}
	}
	for _, name := range e.Read {
		if fact, why := s.findFile(name); why != "" {
			wrong = append(wrong, why)
		} else {
			add(fact)
		}
	}
	if len(facts)+len(wrong) == 0 {
		s.findMentions(e.Shows, add)
	}
	if len(facts)+len(wrong) == 0 {
		wrong = append(wrong, "it names no command that was run, and no file that was read")
	}
	return facts, wrong
}

// listSeen tells a reviewer which commands and files it could name.
func (s *seenRecord) listSeen() string {
	var ran, read []string
	for _, c := range s.calls {
		switch {
		case c.isError:
		case c.name == "run_command" && c.command != "":
			ran = append(ran, "`"+safetext.EscapeLine(c.command, maxFact)+"` ("+exitOf(c.result)+")")
		case c.name == "read_file" && c.file != "":
			read = append(read, safetext.EscapeLine(c.file, maxFact))
		}
	}
	list := func(what string, names []string) string {
		slices.Sort(names)
		if names = slices.Compact(names); len(names) == 0 {
			return what + " nothing"
		}
		more := ""
		if n := len(names) - maxNamed; n > 0 {
			more, names = fmt.Sprintf(" and %d more", n), names[:maxNamed]
		}
		return what + " " + strings.Join(names, ", ") + more
	}
	return "You have " + list("run", ran) + "; you have read the diff and " + list("besides", read) +
		".\nRun or read what shows it, and name that in ran and read; or request changes where it is not met. This is said once: a second review without evidence is taken from you."
}

// argumentsOf are the arguments of a call: its command, or its file and lines.
func argumentsOf(c agent.TranscriptCall) (command, file string, lines lineRange) {
	var a struct {
		Command, Path string
		Offset, Limit int
	}
	if json.Unmarshal([]byte(c.Arguments), &a) != nil {
		return "", "", lineRange{}
	}
	const most = 2000 // lines of one read
	first := max(1, a.Offset)
	if a.Limit <= 0 || a.Limit > most {
		a.Limit = most
	}
	if a.Path != "" {
		a.Path = cleanPath(a.Path)
	}
	return a.Command, a.Path, lineRange{first, first + a.Limit - 1}
}

// workTree is where the repository lies in a reviewer's container.
const workTree = "/work/repo/"

func cleanPath(p string) string {
	return path.Clean(strings.TrimPrefix(strings.TrimSpace(p), workTree))
}

var exitLine = lazyregexp.New(`^(exit code -?\d+|timed out after \S+|running as \S+)`)

// exitOf is how a command ended, as its answer says.
func exitOf(result string) string {
	if m := exitLine.FindString(result); m != "" {
		return m
	}
	return "no exit code"
}

// joinFields is a command with one blank between its fields, so that line ends and
// indentation do not matter.
func joinFields(command string) string {
	return strings.Join(strings.Fields(strings.Trim(strings.TrimSpace(command), "`")), " ")
}

// holdsFields says whether a text holds another that neither begins nor ends inside of
// a name or a path.
func holdsFields(text, words string) bool {
	inWord := func(b byte) bool {
		return b == '_' || b == '-' || b == '.' || b == '/' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	for from := 0; words != ""; {
		at := strings.Index(text[from:], words)
		if at < 0 {
			return false
		}
		begin, end := from+at, from+at+len(words)
		if (begin == 0 || !inWord(text[begin-1]) || !inWord(words[0])) && (end == len(text) || !inWord(text[end]) || !inWord(words[len(words)-1])) {
			return true
		}
		from = begin + 1
	}
	return false
}

// findCommand tells how a command ended that was run, newest first, or that is a gate's;
// empty: it is neither. Of a command that was a part of another one it tells that one, too: what
// `echo go test` or `go test || true` ended with is no result of the tests.
func (s *seenRecord) findCommand(command string) string {
	command = joinFields(command)
	if command == "" {
		return ""
	}
	for _, c := range slices.Backward(s.calls) {
		if c.name != "run_command" || c.isError || !s.findWords(c.command, command) {
			continue
		}
		ran := "ran `" + safetext.EscapeLine(command, maxFact/2) + "`"
		if c.command == command {
			return ran + ": " + exitOf(c.result)
		}
		return ran + " (" + exitOf(c.result) + ") in `" + safetext.EscapeLine(c.command, maxFact/2) + "`"
	}
	for _, g := range s.subject.checks {
		if holdsFields(joinFields(g.Command), command) {
			return "gate " + g.Name + " (`" + safetext.EscapeLine(g.Command, maxFact/2) + "`): " + checkOutcome(g)
		}
	}
	return ""
}

var placeRE = lazyregexp.New(`^(.*?)(?::|#)L?(\d+)(?:(?:-|–|:|\.\.)L?(\d+))?$`)

// findFile tells where a file, or lines of it, were seen; why says that they were not.
func (s *seenRecord) findFile(name string) (fact, why string) {
	name = strings.Trim(strings.TrimSpace(name), "`")
	file, lines := name, lineRange{}
	if m := placeRE.FindStringSubmatch(name); m != nil {
		file = m[1]
		lines.first, _ = strconv.Atoi(m[2])
		if lines.last, _ = strconv.Atoi(m[3]); lines.last < lines.first {
			lines.last = lines.first
		}
	}
	file = cleanPath(file)
	all := lines == lineRange{}
	shown := safetext.EscapeLine(name, maxFact/2)
	if hunks, there := s.hunks[file]; there && (all || slices.ContainsFunc(hunks, lines.overlapsWith)) {
		return shown + " in the diff", ""
	}
	seen := false
	for _, c := range s.calls {
		switch {
		case c.isError:
		case c.name == "read_file" && c.file == file:
			if seen = true; all || c.lines.overlapsWith(lines) {
				return "read " + shown, ""
			}
		case c.name == "search" && s.foundBySearch(c, file, lines, all):
			return shown + " in a search", ""
		case c.name == "run_command" && (s.findWords(c.command, file) || s.findWords(c.command, path.Base(file)) || s.findWords(c.result, file)):
			return shown + " in `" + safetext.EscapeLine(c.command, maxFact/2) + "`", ""
		}
	}
	if _, there := s.hunks[file]; there || seen {
		return "", "the lines of " + shown + " were not read"
	}
	return "", shown + " was not read, and is not in the diff"
}

// foundBySearch reports whether a search found a file, or one of the named lines of it.
func (s *seenRecord) foundBySearch(c seenCall, file string, lines lineRange, all bool) bool {
	s.left -= len(c.result)
	switch {
	case s.left < 0:
		return false
	case all:
		return strings.HasPrefix(c.result, file+":") || strings.Contains(c.result, "\n"+file+":")
	}
	return slices.ContainsFunc(matchedLines(c.result, file), lines.overlapsWith)
}

// matchedLines are the lines of a file that a search found.
func matchedLines(result, file string) []lineRange {
	var out []lineRange
	for line := range strings.Lines(result) {
		if rest, ok := strings.CutPrefix(line, file+":"); ok {
			number, _, _ := strings.Cut(rest, ":")
			if n, err := strconv.Atoi(number); err == nil {
				out = append(out, lineRange{n, n})
			}
		}
	}
	return out
}

// readHunks are the lines that a patch shows of each file, of the old and of the new
// version. A file without lines (a binary one, a mode) is there with none.
func readHunks(text []byte) map[string][]lineRange {
	out := map[string][]lineRange{}
	var file *patch.File
	var ranges []lineRange
	keep := func() {
		if file != nil {
			out[file.Path()] = append(out[file.Path()], ranges...)
		}
	}
	for l := range patch.Lines(string(text)) {
		if l.File != file {
			keep()
			file, ranges = l.File, []lineRange{{}}
		}
		if l.Kind == patch.Hunk {
			ranges = append(ranges, lineRange{l.Old, l.Old + l.OldCount - 1}, lineRange{l.New, l.New + l.NewCount - 1})
		}
	}
	keep()
	return out
}

var (
	inBackticks = lazyregexp.New("`([^`\n]+)`")
	// programs begin a command line for certain. Another quotation may be an expression
	// of the code.
	programs = lazyregexp.New(`^(?:[A-Z_]+=\S+ )*(?:go|gofmt|npm|npx|pnpm|yarn|node|deno|bun|python3?|pytest|tox|pip|uv|poetry|cargo|rustc|make|cmake|ctest|ninja|meson|git|bash|sh|mvn|gradle|\./gradlew|ruby|bundle|rake|rspec|php|phpunit|composer|grep|rg|sed|cat|find|curl|docker|\./[\w./-]+) \S`)
	pathLike = lazyregexp.New(`[\w@+-][\w@+./-]*\.\w+(?::\d+(?:-\d+)?)?|[\w@+-]+(?:/[\w@+.-]+)+`)
	nameLike = lazyregexp.New(`[A-Za-z_]\w{3,}`)
	ofDiff   = lazyregexp.New(`(?i)\b(diff|patch)\b`)
	ofGates  = lazyregexp.New(`(?i)\b(gates?|checks?|linters?|test suite|tests pass(ed)?|all tests)\b`)
)

// commandsIn are the command lines that a text quotes.
func commandsIn(text string) []string {
	var out []string
	for _, m := range inBackticks.FindAllStringSubmatch(text, -1) {
		if programs.MatchString(m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// findMentions adds the files and commands that a plain text mentions and that the reviewer saw:
// files, names of tests and functions, the diff, the gates.
func (s *seenRecord) findMentions(text string, add func(fact string)) {
	for _, p := range pathLike.FindAllString(text, -1) {
		if fact, why := s.findFile(strings.TrimRight(p, ".")); why == "" {
			add(fact)
		}
	}
	for _, n := range nameLike.FindAllString(text, -1) {
		if !isIdentifier(n) && !strings.Contains(text, "`"+n+"`") {
			continue
		}
		switch {
		case s.isInDiff(n):
			add(n + " in the diff")
		case slices.ContainsFunc(s.calls, func(c seenCall) bool {
			return !c.isError && c.name != submitReview && s.findWords(c.result, n)
		}):
			add(n + " in what was run or read")
		}
	}
	if ofDiff.MatchString(text) && len(s.subject.diff.Changes) > 0 {
		add("the diff")
	}
	if ofGates.MatchString(text) {
		for _, g := range s.subject.checks {
			add("gate " + g.Name + ": " + checkOutcome(g))
		}
	}
}

// isInDiff reports whether the diff, or the path of one of its files, has a name.
func (s *seenRecord) isInDiff(name string) bool {
	return s.findWords(string(s.subject.diff.Patch), name) || slices.ContainsFunc(s.subject.diff.Changes, func(c gitops.FileChange) bool {
		s.left -= len(c.Path)
		return s.left >= 0 && strings.Contains(c.Path, name)
	})
}

// isIdentifier says whether a name is one of source code for certain: it has an
// underscore, a digit, or a capital inside.
func isIdentifier(word string) bool {
	return strings.ContainsFunc(word[1:], func(r rune) bool { return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' }) && strings.ToUpper(word) != word
}

// countRefusals is how often the review was refused for its evidence.
func countRefusals(calls []agent.TranscriptCall) int {
	n := 0
	for _, c := range calls {
		if c.Name == submitReview && c.IsError && strings.HasPrefix(c.Result, noEvidence) {
			n++
		}
	}
	return n
}

// unproven is the end of a review whose evidence was refused twice.
type unproven struct {
	Unproven string `json:"unproven"`
}

// endUnproven is how such a run ends: another model is asked, or the president.
func endUnproven(why string, another bool) company.RunEnded {
	e := company.E(company.EEvidence, "the reviewer approved without evidence, twice").Because(safetext.EscapeLine(why, 600))
	out := company.RunEnded{Status: company.RunError, Code: e.Code, Error: e.Error()}
	if another {
		out.Hint = "the model of agents.second_reviewer is asked"
		return out
	}
	out.Hint, out.Human = "to have it reviewed once more, approve; agents.second_reviewer: {model: ...} has another model asked", true
	return out
}

// endSecondUnproven is the end of such a run of a second reviewer: the first review stands.
func endSecondUnproven(why string) company.RunEnded {
	e := company.E(company.EEvidence, "the second reviewer approved without evidence, twice").Because(safetext.EscapeLine(why, 600))
	return company.RunEnded{Status: company.RunError, Code: e.Code, Error: e.Error(), Hint: "the first review stands"}
}
