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
	"company/internal/gitops/patch"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// Evidence is compared with the reviewer's actions. Code reads the transcript, without a model. A command must
// have been run in the review, or be one of the gates. A file must be in the diff that the reviewer was shown,
// or have been read or printed. At least some of the named lines must have been seen. Evidence in plain text,
// without commands or files in their own fields, must at least mention such an action.

const (
	// maxFacts limits the listed facts of one entry.
	maxFacts = 6
	// maxFact limits one fact, in bytes.
	maxFact = 200
	// maxNamed limits the commands and files that a refusal lists.
	maxNamed = 20
)

// noEvidence begins each refusal of a review because of its evidence.
const noEvidence = "The evidence does not stand"

// checkEvidence compares the evidence of an approval with the transcript. checked has a line for each entry.
// fault is empty if all evidence is confirmed.
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
		faults = append(faults, fmt.Sprintf("- there are %d acceptance criteria and %d entries; evidence names what shows "+
			"each of them, in order", n, len(list)))
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

// checkEntry lists the confirmed facts of one entry, and its unconfirmed claims.
func (s *seenRecord) checkEntry(e evidence) (facts, wrong []string) {
	if e.isEmpty() {
		return nil, []string{"it has no evidence"}
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
			add("the diff") // it is in the first message
		} else {
			wrong = append(wrong, "`"+safetext.EscapeLine(command, maxFact)+
				"` was not run in this review, and is none of the gates")
		}
	}
	for _, name := range e.Read {
		if fact, reason := s.findFile(name); reason != "" {
			wrong = append(wrong, reason)
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

// listSeen lists the commands and files that a reviewer could name.
func (s *seenRecord) listSeen() string {
	var ran, read []string
	for _, seenCall := range s.calls {
		switch {
		case seenCall.isError:
		case seenCall.name == "run_command" && seenCall.command != "":
			ran = append(ran, "`"+safetext.EscapeLine(seenCall.command, maxFact)+"` ("+exitOf(seenCall.result)+")")
		case seenCall.name == "read_file" && seenCall.file != "":
			read = append(read, safetext.EscapeLine(seenCall.file, maxFact))
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
		".\nRun or read what shows it, and name that in ran and read; or request changes where it is not met. This is said " +
		"once: a second review without evidence is taken from you."
}

// argumentsOf returns the arguments of a call: its command, or its file and lines.
func argumentsOf(call agent.TranscriptCall) (command, file string, lines lineRange) {
	var a struct {
		Command, Path string
		Offset, Limit int
	}
	if json.Unmarshal([]byte(call.Arguments), &a) != nil {
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

// workTree is the path of the repository in a reviewer's container.
const workTree = "/work/repo/"

func cleanPath(p string) string {
	return path.Clean(strings.TrimPrefix(strings.TrimSpace(p), workTree))
}

var exitLine = lazyregexp.New(`^(exit code -?\d+|timed out after \S+|running as \S+)`)

// exitOf returns how a command ended, according to its result.
func exitOf(result string) string {
	if m := exitLine.FindString(result); m != "" {
		return m
	}
	return "no exit code"
}

// joinFields joins a command's fields with single spaces, so that line ends and indentation do not matter.
func joinFields(command string) string {
	return strings.Join(strings.Fields(strings.Trim(strings.TrimSpace(command), "`")), " ")
}

// holdsFields reports whether text contains words, with neither end inside a name or a path.
func holdsFields(text, words string) bool {
	inWord := func(b byte) bool {
		return b == '_' || b == '-' || b == '.' || b == '/' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' ||
			b >= 'A' && b <= 'Z'
	}
	for from := 0; words != ""; {
		index := strings.Index(text[from:], words)
		if index < 0 {
			return false
		}
		begin, end := from+index, from+index+len(words)
		if (begin == 0 || !inWord(text[begin-1]) || !inWord(words[0])) &&
			(end == len(text) || !inWord(text[end]) || !inWord(words[len(words)-1])) {
			return true
		}
		from = begin + 1
	}
	return false
}

// findCommand describes how a command ended: the newest such run, or else a gate. It returns "" if the command
// was not run and is not part of a gate. If the command was only a part of a longer one, the description
// includes the longer one. The exit of `echo go test` or `go test || true` is not a result of the tests.
func (s *seenRecord) findCommand(command string) string {
	command = joinFields(command)
	if command == "" {
		return ""
	}
	for _, seenCall := range slices.Backward(s.calls) {
		if seenCall.name != "run_command" || seenCall.isError || !s.findWords(seenCall.command, command) {
			continue
		}
		ran := "ran `" + safetext.EscapeLine(command, maxFact/2) + "`"
		if seenCall.command == command {
			return ran + ": " + exitOf(seenCall.result)
		}
		return ran + " (" + exitOf(seenCall.result) + ") in `" + safetext.EscapeLine(seenCall.command, maxFact/2) + "`"
	}
	for _, gateCheck := range s.subject.checks {
		if holdsFields(joinFields(gateCheck.Command), command) {
			return "gate " + gateCheck.Name + " (`" + safetext.EscapeLine(gateCheck.Command, maxFact/2) + "`): " +
				checkOutcome(gateCheck)
		}
	}
	return ""
}

var placeRE = lazyregexp.New(`^(.*?)(?::|#)L?(\d+)(?:(?:-|–|:|\.\.)L?(\d+))?$`)

// findFile describes where a file, or lines of it, were seen. Otherwise reason explains that they were not.
func (s *seenRecord) findFile(name string) (fact, reason string) {
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
	for _, seenCall := range s.calls {
		switch {
		case seenCall.isError:
		case seenCall.name == "read_file" && seenCall.file == file:
			if seen = true; all || seenCall.lines.overlapsWith(lines) {
				return "read " + shown, ""
			}
		case seenCall.name == "search" && s.foundBySearch(seenCall, file, lines, all):
			return shown + " in a search", ""
		case seenCall.name == "run_command" &&
			(s.findWords(seenCall.command, file) || s.findWords(seenCall.command, path.Base(file)) ||
				s.findWords(seenCall.result, file)):
			return shown + " in `" + safetext.EscapeLine(seenCall.command, maxFact/2) + "`", ""
		}
	}
	if _, there := s.hunks[file]; there || seen {
		return "", "the lines of " + shown + " were not read"
	}
	return "", shown + " was not read, and is not in the diff"
}

// foundBySearch reports whether a search found a file, or one of the given lines of it.
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

// matchedLines returns the lines of a file that a search found.
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

// readHunks returns the lines of each file that a patch shows, of the old and of the new version. A file without
// such lines (binary, a mode change) has only an empty range.
func readHunks(text []byte) map[string][]lineRange {
	out := map[string][]lineRange{}
	var file *patch.File
	var ranges []lineRange
	keep := func() {
		if file != nil {
			out[file.Path()] = append(out[file.Path()], ranges...)
		}
	}
	for line := range patch.Lines(string(text)) {
		if line.File != file {
			keep()
			file, ranges = line.File, []lineRange{{}}
		}
		if line.Kind == patch.Hunk {
			ranges = append(ranges, lineRange{line.Old, line.Old + line.OldCount - 1},
				lineRange{line.New, line.New + line.NewCount - 1})
		}
	}
	keep()
	return out
}

var (
	inBackticks = lazyregexp.New("`([^`\n]+)`")
	// programs matches the beginning of a certain command line. Other quoted text may be an expression of the code.
	programs = lazyregexp.New(
		`^(?:[A-Z_]+=\S+ )*(?:go|gofmt|npm|npx|pnpm|yarn|node|deno|bun|python3?|pytest|tox|pip|uv|poetry|cargo|rustc|make|cmake|ctest|ninja|meson|git|bash|sh|mvn|gradle|\./gradlew|ruby|bundle|rake|rspec|php|phpunit|composer|grep|rg|sed|cat|find|curl|docker|\./[\w./-]+) \S`)
	pathLike = lazyregexp.New(`[\w@+-][\w@+./-]*\.\w+(?::\d+(?:-\d+)?)?|[\w@+-]+(?:/[\w@+.-]+)+`)
	nameLike = lazyregexp.New(`[A-Za-z_]\w{3,}`)
	ofDiff   = lazyregexp.New(`(?i)\b(diff|patch)\b`)
	ofGates  = lazyregexp.New(`(?i)\b(gates?|checks?|linters?|test suite|tests pass(ed)?|all tests)\b`)
)

// commandsIn returns the command lines that a text quotes.
func commandsIn(text string) []string {
	var out []string
	for _, m := range inBackticks.FindAllStringSubmatch(text, -1) {
		if programs.MatchString(m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// findMentions calls add for each file and command that a plain text mentions and that the reviewer saw. It also
// looks for names of tests and functions, the diff, and the gates.
func (s *seenRecord) findMentions(text string, add func(fact string)) {
	for _, p := range pathLike.FindAllString(text, -1) {
		if fact, reason := s.findFile(strings.TrimRight(p, ".")); reason == "" {
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

// isInDiff reports whether a name is in the diff, or in the path of one of its files.
func (s *seenRecord) isInDiff(name string) bool {
	return s.findWords(string(s.subject.diff.Patch), name) ||
		slices.ContainsFunc(s.subject.diff.Changes, func(fileChange gitops.FileChange) bool {
			s.left -= len(fileChange.Path)
			return s.left >= 0 && strings.Contains(fileChange.Path, name)
		})
}

// isIdentifier reports whether a name is certainly from source code: it has an underscore, a digit, or a capital
// inside.
func isIdentifier(word string) bool {
	return strings.ContainsFunc(word[1:],
		func(r rune) bool {
			return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z'
		}) && strings.ToUpper(word) != word
}

// countRefusals returns how often the review was refused because of its evidence.
func countRefusals(calls []agent.TranscriptCall) int {
	n := 0
	for _, c := range calls {
		if c.Name == submitReview && c.IsError && strings.HasPrefix(c.Result, noEvidence) {
			n++
		}
	}
	return n
}

// unproven is the result of a review whose evidence was refused twice.
type unproven struct {
	Unproven string `json:"unproven"`
}

// endUnproven returns the end of a run with an unproven review. Another model is asked, or the president.
func endUnproven(reason string, another bool) company.RunEnded {
	fault := company.E(company.EEvidence, "the reviewer approved without evidence, twice").
		Because(safetext.EscapeLine(reason, 600))
	out := company.RunEnded{Status: company.RunError, Code: fault.Code, Error: fault.Error()}
	if another {
		out.Hint = "the model of agents.second_reviewer is asked"
		return out
	}
	out.Hint, out.Human = "to have it reviewed once more, approve; agents.second_reviewer: {model: ...} has another "+
		"model asked", true
	return out
}

// endSecondUnproven returns the end of a second reviewer's run with an unproven review. The first review stays
// valid.
func endSecondUnproven(reason string) company.RunEnded {
	fault := company.E(company.EEvidence, "the second reviewer approved without evidence, twice").
		Because(safetext.EscapeLine(reason, 600))
	return company.RunEnded{Status: company.RunError, Code: fault.Code, Error: fault.Error(),
		Hint: "the first review stands"}
}
