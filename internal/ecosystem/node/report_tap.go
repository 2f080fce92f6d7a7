package node

import (
	"strconv"
	"strings"

	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// tapReport reads TAP 13 and 14, including subtests that are nested by indentation, as node, tap and others
// write them.
type tapReport struct {
	res     testreport.Results
	path    []string // names of the open subtests, by depth
	plan    bool
	planned int // tests announced by the plans at the top level
	tests   int // tests at the top level
	count   int // failures, as the runner counts them
}

const maxDepth = 64

var scriptFile = lazyregexp.New(`^\S+\.[cm]?[jt]sx?$`)

var tapPlan = lazyregexp.New(`^1\.\.([0-9]+)\b`)

// tapCount matches the number of failed tests in the summary of node, mocha, ava and tape.
var tapCount = lazyregexp.New(`^# fail +([0-9]{1,9})$`)

var tapLine = lazyregexp.New(`^(not )?ok\b[ \t]*([0-9]*)[ \t]*(?:-[ \t]*)?(.*)$`)

func (t *tapReport) ReadLine(s string) {
	text := strings.TrimLeft(s, " ")
	depth := min((len(s)-len(text))/4, maxDepth-1)
	if name, ok := strings.CutPrefix(text, "# Subtest: "); ok {
		t.path = append(t.path[:min(depth, len(t.path))], testreport.CleanName(name, testreport.MaxName))
		return
	}
	if strings.HasPrefix(text, "Bail out!") {
		t.res.AddUnrun("Bail out!", text)
		return
	}
	if m := tapPlan.FindStringSubmatch(text); m != nil && depth == 0 {
		n, err := strconv.Atoi(m[1])
		if t.plan = true; err == nil && n <= testreport.MaxTests {
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
		t.res.AddSkip()
	case m[1] != "" && depth == 0 && scriptFile.MatchString(name):
		t.res.AddUnrun(full, "") // node reports a file that cannot be loaded as a test
	case m[1] != "":
		t.res.AddFailure(full, "")
	default:
		t.res.AddPass(full)
	}
}

func (t *tapReport) Finish() *testreport.Results {
	if t.tests == 0 && !t.plan && t.res.FailedCount == 0 {
		t.res.ParseError = "no TAP"
	}
	// ava does not escape a test's name. A failed test with the name "x # TODO" looks like a test that may
	// fail.
	t.res.HoldCount(t.count)
	if !t.plan || t.tests < t.planned { // the run died: further tests may have failed
		t.res.Incomplete = append(t.res.Incomplete, testreport.NotEnded)
	}
	return &t.res
}

// tapPlain reads TAP among other output.
type tapPlain struct {
	tapReport
	any bool
}

func (t *tapPlain) ReadLine(s string) {
	t.any = t.any || strings.HasPrefix(s, "TAP version ") || tapPlan.MatchString(s)
	t.tapReport.ReadLine(s)
}

func (t *tapPlain) Finish() *testreport.Results {
	if !t.any { // other output also has lines that begin with "ok"
		return nil
	}
	return t.tapReport.Finish()
}
