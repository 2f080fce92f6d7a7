package testreport

import (
	"strconv"
	"strings"

	"company/internal/lib/lazyregexp"
)

// lintFindings reads the text output of linters. A finding is a line (path:line:column: text), or is below
// the name of its file, as eslint and phpstan print it. A finding is named by its file and its rule or
// message, without numbers that change with the text around it.
//
// The output is understood if each line is a finding or known decoration. Lines before a linter's own
// summary may be any text if the summary counts as many findings as were read. Any other output gets a
// ParseError, because a line in it may be a failure without a name.
type lintFindings struct {
	res      Results
	errors   []string // names of findings that make a linter red
	warnings []string
	file     string // the file of the findings that follow, each in its own line
	isTable  bool   // the findings of file follow in a table
	isListed bool   // no finding followed file so far
	held     bool   // the last line was not understood, unless the next line is a caret, which marks it as quoted source

	unparsed       bool // a line was not understood
	unparsedBefore bool // a line before the last summary was not understood
	summed         int  // findings, as the summaries count them
	warningsAreRed bool // there are more warnings than the linter allows
}

var (
	findingLine  = lazyregexp.New(`^(?:vet: )?([^\s:][^:]*):\d+(?::\d+)?:\s+(.+)$`)
	decorationRE = lazyregexp.New(
		`^\s|^$|^# |^exit status \d+$|^Found \d+ errors?\.|^All checks passed!|^No fixes available|^\[\*\] |^go: downloading |^warning: |^level=\w+ |^info  - |^Checking formatting\.\.\.$|^\[warn\] Code style issues |^All matched files use |^\d+ issues?[.:]?$|^\* [\w-]+: \d+$` +
			`|^\*{10,} Module |^-{10,}$|^Your code has been rated at |^Success: no issues found` + // pylint, mypy
			// output of the programs that start linters
			`|^> \S|^\$ \S|^npm (?:ERR!|error)\b|^error Command failed with exit code|^info Visit https://| ELIFECYCLE |^yarn run v|^g?make(?:\[\d+\])?: ` +
			`|^✖ \d+ problem|^svelte-check found |^Found \d+ errors? in |^\d+ files? inspected, |^\[ERROR\] Found \d+ errors?|^(?:Getting Svelte diagnostics|Loading svelte-check|=+)`)
	caretLine = lazyregexp.New(`^[ \t~]*\^[~^ \t]*$`)

	// fileLine matches a line with only a file name. The patterns after it match the findings below a file
	// name: those of eslint and stylelint, Next, svelte-check, and phpstan.
	fileLine    = lazyregexp.New(`^(\.{0,2}/?[^\s:(]+\.[A-Za-z]\w{0,9})(?::\d+:\d+)?$`)
	tableFile   = lazyregexp.New(`^\s{1,3}Line\s{2,}(\S+\.\w{1,10})(?: \(in context of .*\))?\s*$`)
	stylishLine = lazyregexp.New(`^\s+\d+:\d+\s+(error|warning|✖|⚠)\s+(.+?)(?:\s{2,}(@?[A-Za-z0-9_./@-]+))?$`)
	nextLine    = lazyregexp.New(`^\d+:\d+\s+(Error|Warning): (.+?)(?:\s{2,}(@?[A-Za-z0-9_./@-]+))?$`)
	svelteLine  = lazyregexp.New(`^(Error|Warn): (.+)$`)
	tableLine   = lazyregexp.New(`^\s{1,3}:?\d+\s{2,}(.+?)\s*$`)

	tscLine = lazyregexp.New(`^([^\s(:][^(:]*)(?:\(\d+,\d+\): |:\d+:\d+ - )(error|warning) (TS\d+: .+)$`)

	// summaryRE match the counts that linters print at the end. The first group counts all findings, or only
	// the errors if a second group counts the warnings.
	summaryRE = []*lazyregexp.Regexp{
		lazyregexp.New(`^✖ \d+ problems? \((\d+) errors?, (\d+) warnings?\)`),
		lazyregexp.New(`^svelte-check found (\d+) errors?(?: and (\d+) warnings?)?`),
		lazyregexp.New(`^Found (\d+) errors?(?:\.| in )`),
		lazyregexp.New(`^\d+ files? inspected, (\d+) offenses? detected`),
		lazyregexp.New(`^\s*\[ERROR\] Found (\d+) errors?`),
		lazyregexp.New(`^(\d+) issues?[.:]$`),
	}
	// unformatted matches a file that prettier would format differently.
	unformatted = lazyregexp.New(`^\[warn\] (\S+\.\w+)$`)
	tooManyRE   = lazyregexp.New(`found too many warnings|too many warnings`)

	// movingNumbers matches numbers in a message that change when other parts of the file change: line
	// numbers, lengths, and the complexity of a function.
	movingNumbers = lazyregexp.New(
		`\blines? \d+(?:-\d+)?|\(\d+(?: ?[>/] ?\d+[^)]*)?\)|\bcomplexity (?:of )?\d+|:\d+:\d+\b`)
	numberRE = lazyregexp.New(`\d+`)
)

// workTree is the path of the tree in a gate's container. Some linters print absolute file names.
const workTree = "/work/repo/"

func cleanFile(file string) string {
	return strings.TrimPrefix(strings.TrimPrefix(file, workTree), "./")
}

// stableMessage returns the message of a finding with its moving numbers replaced by N.
func stableMessage(message string) string {
	return movingNumbers.ReplaceAllStringFunc(
		message, func(text string) string { return numberRE.ReplaceAllString(text, "N") })
}

// add adds a finding as an error or a warning, by the severity that its linter printed.
func (f *lintFindings) add(file, severity, message, rule string) {
	name := cleanFile(file) + ": " + stableMessage(message)
	if rule != "" {
		name += " (" + rule + ")"
	}
	list := &f.errors
	if s := strings.ToLower(severity); strings.HasPrefix(s, "warn") || s == "⚠" {
		list = &f.warnings
	}
	if len(f.errors)+len(f.warnings) < MaxTests {
		*list = append(*list, name)
	}
}

func (f *lintFindings) ReadLine(line string) {
	line = strings.TrimRight(line, " ")
	if caretLine.MatchString(line) {
		f.held = false
		return
	}
	f.unparsed = f.unparsed || f.held
	f.held = false
	switch {
	case f.readSummary(line), f.readFinding(line):
	case tooManyRE.MatchString(line):
		f.warningsAreRed = true
	default:
		f.held = !decorationRE.MatchString(line)
	}
}

// readSummary reads a linter's count of its findings and reports whether the line is one.
func (f *lintFindings) readSummary(line string) bool {
	for _, re := range summaryRE {
		m := re.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		f.endFile()
		f.unparsedBefore = f.unparsedBefore || f.unparsed
		f.unparsed = false
		for _, count := range m[1:] {
			n, _ := strconv.Atoi(count)
			f.summed += min(max(n, 0), MaxTests)
		}
		return true
	}
	return false
}

// readFinding reads a finding or the name of the file for the findings below, and reports whether the line
// is one.
func (f *lintFindings) readFinding(line string) bool {
	if m := unformatted.FindStringSubmatch(line); m != nil {
		f.add(m[1], "", "is not formatted", "")
		return true
	}
	if m := tscLine.FindStringSubmatch(line); m != nil {
		f.add(m[1], m[2], m[3], "")
		return true
	}
	if m := findingLine.FindStringSubmatch(line); m != nil {
		if text, isNote := strings.CutPrefix(m[2], "note: "); !isNote || text == "" {
			f.add(m[1], "", m[2], "")
		}
		return true
	}
	if f.file != "" && !f.isTable {
		for _, re := range []*lazyregexp.Regexp{stylishLine, nextLine, svelteLine} {
			if m := re.FindStringSubmatch(line); m != nil {
				f.add(f.file, m[1], m[2], strings.Join(m[3:], ""))
				f.isListed = false
				return true
			}
		}
	}
	if f.isTable {
		if m := tableLine.FindStringSubmatch(line); m != nil {
			f.add(f.file, "", m[1], "")
			return true
		}
	}
	if m := tableFile.FindStringSubmatch(line); m != nil {
		f.endFile()
		f.file, f.isTable = m[1], true
		return true
	}
	if m := fileLine.FindStringSubmatch(line); m != nil {
		f.endFile()
		f.file, f.isListed = m[1], true
		return true
	}
	return false
}

// endFile ends the list of findings for a file. A file name without findings below it is a finding itself,
// since gofmt -l and prettier -l list files.
func (f *lintFindings) endFile() {
	if f.isListed {
		f.add(f.file, "", "is listed", "")
	}
	f.file = ""
	f.isTable = false
	f.isListed = false
}

// Finish returns the findings. Warnings are included if the linter reports that they make it fail.
func (f *lintFindings) Finish() *Results {
	f.endFile()
	read := len(f.errors) + len(f.warnings)
	if f.unparsed || f.held || f.summed > read || f.unparsedBefore && f.summed != read {
		f.res.ParseError = "not only findings"
	}
	failed := f.errors
	if f.warningsAreRed {
		failed = append(failed, f.warnings...)
	}
	for _, name := range failed {
		f.res.AddFailure(name, "")
	}
	return &f.res
}
