package gates

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// tapReport reads FormatTAP 13 and 14, with the subtests that node, tap and others
// nest by indentation.
type tapReport struct {
	res     testResults
	path    []string // names of the subtests that are open, by depth
	plan    bool
	planned int // tests that the plans at the top speak of
	tests   int // at the top
	count   int // failures by the runner's own count
}

const maxDepth = 64

var scriptFile = regexp.MustCompile(`^\S+\.[cm]?[jt]sx?$`)

var tapPlan = regexp.MustCompile(`^1\.\.([0-9]+)\b`)

// tapCount is how many tests failed, as node, mocha, ava and tape sum it up.
var tapCount = regexp.MustCompile(`^# fail +([0-9]{1,9})$`)

var tapLine = regexp.MustCompile(`^(not )?ok\b[ \t]*([0-9]*)[ \t]*(?:-[ \t]*)?(.*)$`)

func (t *tapReport) readLine(line []byte) {
	s := string(line)
	text := strings.TrimLeft(s, " ")
	depth := min((len(s)-len(text))/4, maxDepth-1)
	if name, ok := strings.CutPrefix(text, "# Subtest: "); ok {
		t.path = append(t.path[:min(depth, len(t.path))], cleanName(name, maxName))
		return
	}
	if strings.HasPrefix(text, "Bail out!") {
		t.res.addUnrun("Bail out!", text)
		return
	}
	if m := tapPlan.FindStringSubmatch(text); m != nil && depth == 0 {
		n, err := strconv.Atoi(m[1])
		if t.plan = true; err == nil && n <= maxTests {
			t.planned += n
		}
		return
	}
	if m := tapCount.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		t.count = max(t.count, n)
		return
	}
	m := tapLine.FindStringSubmatch(text)
	if m == nil {
		return
	}
	name, directive, _ := strings.Cut(m[3], " # ")
	if rest, ok := strings.CutPrefix(m[3], "# "); ok {
		name, directive = "", rest
	}
	if name = strings.TrimPrefix(strings.TrimSpace(name), workspaceDir); name == "" {
		name = "test " + m[2]
	}
	if depth == 0 {
		t.tests++
	}
	full := strings.Join(append(t.path[:min(depth, len(t.path)):min(depth, len(t.path))], name), " > ")
	word, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(directive)), " ")
	switch {
	case strings.HasPrefix(word, "SKIP"), strings.HasPrefix(word, "TODO"):
		t.res.addSkip()
	case m[1] != "" && depth == 0 && scriptFile.MatchString(name):
		t.res.addUnrun(full, "") // node calls a file that cannot be loaded a test
	case m[1] != "":
		t.res.addFailure(full, "")
	default:
		t.res.addPass(full)
	}
}

func (t *tapReport) finishReport() *testResults {
	if t.tests == 0 && !t.plan && t.res.nFailed == 0 {
		t.res.parseError = "no TAP"
	}
	// ava writes a test's name as it is: one that is called "x # TODO" looks like
	// one that may fail.
	t.res.counted(t.count)
	if !t.plan || t.tests < t.planned { // what died on its way is more than the failures that it came to
		t.res.incomplete = append(t.res.incomplete, notEndedName)
	}
	return &t.res
}

// cargoReport reads the text of cargo test, its stderr and stdout as one.
type cargoReport struct {
	res  testResults
	unit string // the binary whose tests come now
	runs bool   // its tests began, and did not end yet
	any  bool
	sum  int // failures by the runner's own count
}

var (
	cargoRunning = regexp.MustCompile(`^\s+(?:Running|Doc-tests) (?:unittests )?(\S+)(?: \((?:\S*/)?([^/\s)]+?)(?:-[0-9a-f]{16})?\))?`)
	cargoBegin   = regexp.MustCompile(`^running \d+ tests?$`)
	cargoEnd     = regexp.MustCompile(`^test result: (?:.*; ([0-9]{1,9}) failed;)?`)
	cargoTest    = regexp.MustCompile(`^test (.+) \.\.\. (ok|FAILED|ignored)\b`)
	cargoBroken  = regexp.MustCompile("^error: could not compile `([^`]+)`(?: \\(([^)]*)\\))?")
	cargoLine    = regexp.MustCompile(` \(line \d+\)`)
)

func (c *cargoReport) readLine(line []byte) {
	s := string(line)
	if m := cargoRunning.FindStringSubmatch(s); m != nil {
		c.endBinary()
		// Each crate of a workspace has a src/lib.rs.
		if c.unit, c.any = m[1], true; m[2] != "" {
			c.unit = m[2] + " " + m[1]
		}
		return
	}
	switch {
	case cargoBegin.MatchString(s):
		c.endBinary()
		c.runs = true
		return
	case cargoEnd.MatchString(s):
		n, _ := strconv.Atoi(cargoEnd.FindStringSubmatch(s)[1])
		c.sum += min(n, maxTests)
		c.runs = false
		return
	}
	if m := cargoBroken.FindStringSubmatch(s); m != nil {
		c.any = true
		c.res.addUnrun(strings.TrimSpace("could not compile "+m[1]+" "+m[2]), s)
		return
	}
	m := cargoTest.FindStringSubmatch(s)
	if m == nil {
		return
	}
	c.any = true
	// A documentation test is named by its line, which moves.
	name := strings.TrimSuffix(c.unit+" "+cargoLine.ReplaceAllString(m[1], ""), " - should panic")
	switch m[2] {
	case "ok":
		c.res.addPass(name)
	case "FAILED":
		c.res.addFailure(name, "")
	default:
		c.res.addSkip()
	}
}

// endBinary says of a binary that died that it did.
func (c *cargoReport) endBinary() {
	if c.runs && len(c.res.incomplete) < maxNamedFailures {
		c.res.incomplete = append(c.res.incomplete, strings.TrimSpace(c.unit+" "+notEndedName))
	}
	c.runs = false
}

func (c *cargoReport) finishReport() *testResults {
	c.endBinary()
	if !c.any {
		c.res.parseError = "not what cargo test prints"
	}
	c.res.counted(c.sum) // what tests print may stand in the line of one
	return &c.res
}

// unittestReport reads python3 -m unittest -v, its stderr and stdout as one.
type unittestReport struct {
	res  testResults
	name string // of the test that runs
	any  bool
	sum  int // failures by the runner's own count
}

var (
	unittestName = regexp.MustCompile(`^(\w+ \([\w.]+\))`)
	unittestFail = regexp.MustCompile(`^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (.+)$`)
	unittestRan  = regexp.MustCompile(`^Ran \d+ tests? in `)
	unittestSum  = regexp.MustCompile(`^FAILED \((.+)\)$`)
	unittestBad  = regexp.MustCompile(`(?:failures|errors|unexpected successes)=([0-9]{1,9})`)
)

func (u *unittestReport) readLine(line []byte) {
	s := string(line)
	if m := unittestFail.FindStringSubmatch(s); m != nil {
		if strings.Contains(m[1], "unittest.loader._FailedTest") {
			u.res.addUnrun(m[1], "") // a file that cannot be imported
			return
		}
		u.res.addFailure(m[1], "")
		return
	}
	if unittestRan.MatchString(s) {
		u.any = true
		return
	}
	if m := unittestSum.FindStringSubmatch(s); m != nil {
		for _, bad := range unittestBad.FindAllStringSubmatch(m[1], -1) {
			n, _ := strconv.Atoi(bad[1])
			u.sum += min(n, maxTests)
		}
		return
	}
	if m := unittestName.FindStringSubmatch(s); m != nil {
		u.name = m[1]
	}
	switch {
	case u.name == "":
	case strings.HasSuffix(s, "... ok"), strings.HasSuffix(s, "... expected failure"):
		u.res.addPass(u.name)
		u.name = ""
	case strings.Contains(s, "... skipped"):
		u.res.addSkip()
		u.name = ""
	}
}

func (u *unittestReport) finishReport() *testResults {
	if !u.any {
		u.res.parseError = "not what unittest prints"
	}
	u.res.counted(u.sum)
	return &u.res
}

// lintFindings reads what a linter finds: path:line:column: text. A finding is
// named without its line, which moves with every change above it. Whatever is
// neither a finding nor known to be decoration makes the output one that was
// not understood.
type lintFindings struct {
	res      testResults
	unparsed bool
}

var (
	findingLine  = regexp.MustCompile(`^(?:vet: )?([^\s:][^:]*):\d+(?::\d+)?:\s+(.+)$`)
	decorationRE = regexp.MustCompile(`^\s|^$|^# |^exit status \d+$|^Found \d+ errors?\.|^All checks passed!|^No fixes available|^\[\*\] |^go: downloading |^warning: |^\d+ issues?[.:]?$|^\* [\w-]+: \d+$`)
)

func (f *lintFindings) readLine(line []byte) {
	line = bytes.TrimRight(line, " ")
	if m := findingLine.FindSubmatch(line); m != nil {
		f.res.addFailure(strings.TrimPrefix(string(m[1]), "./")+": "+string(m[2]), "")
		return
	}
	f.unparsed = f.unparsed || !decorationRE.Match(line)
}

func (f *lintFindings) finishReport() *testResults {
	if f.unparsed {
		f.res.parseError = "not only findings"
	}
	return &f.res
}
