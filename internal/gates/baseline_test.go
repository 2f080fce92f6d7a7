package gates_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/testreport"
	"company/internal/gates"
)

// jobWith is a job on the head of main, with these gates.
func (b *bundle) jobWith(cmds ...company.GateCommand) gates.Job {
	j := b.job("", "true")
	j.Gates, j.Hash = cmds, gates.HashGates(cmds)
	return j
}

func lintGate(command string) company.GateCommand {
	return company.GateCommand{Name: "lint", Command: command, Parse: testreport.FormatFindings}
}

func tapGate(command string) company.GateCommand {
	return company.GateCommand{Name: "test", Command: command, Parse: "tap"}
}

// On the base every check is run, whatever fails; on a branch only a new
// failure bars, and a known red lint does not keep the tests from running.
func TestBaseline(t *testing.T) {
	t.Parallel()
	b := setup(t, nil).withDocker()
	cmds := []company.GateCommand{lintGate("cat findings; exit 1"), tapGate("cat results; exit $(cat code)")}
	tree := func(findings, results, code string) gates.Job {
		b.writeFiles(map[string]string{"findings": findings, "results": results, "code": code})
		b.git("add", "-A")
		b.git("commit", "-q", "--allow-empty", "-m", "more")
		return b.jobWith(cmds...)
	}
	j := tree("a.go:3:1: old finding\n", "1..3\nok 1 - good\nok 2 - other\nnot ok 3 - old\n", "1")
	j.Baseline = true
	base := b.mustRun(j)
	if base.Passed || len(base.Checks[1].Tests) != 1 || base.Checks[1].Skipped || len(base.Checks[1].Attempts) != 1 ||
		base.Checks[0].Tests[0].Name != "a.go: old finding" {
		t.Fatalf("%+v", base)
	}
	for _, c := range []struct {
		name, findings, results, code string
		passed                        bool
		gone                          []string
		excused                       company.BaselineComparison
	}{
		{"as it was, two lines further down", "a.go:5:1: old finding\n", "1..3\nok 1 - good\nok 2 - other\nnot ok 3 - old\n",
			"1", true, nil, company.ComparedKnown},
		{"a new finding", "a.go:5:1: old finding\nb.go:1:1: new\n", "1..1\nok 1 - good\n", "0", false, nil, ""},
		{"a new failure", "a.go:5:1: old finding\n", "1..3\nnot ok 1 - good\nok 2 - other\nnot ok 3 - old\n", "1",
			false, nil, ""},
		{"mended, and two tests dropped", "a.go:5:1: old finding\n", "1..1\nok 1 - old\n", "0", true,
			[]string{"good", "other"}, ""},
		{"green, and no report any more", "a.go:5:1: old finding\n", "all is well\n", "0", true,
			[]string{"good", "other"}, ""},
		{"a known failure that takes the rest with it", "a.go:5:1: old finding\n", "1..3\nnot ok 1 - old\n", "1",
			false, nil, ""},
		{"red without a word", "a.go:5:1: old finding\n", "", "1", false, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := tree(c.findings, c.results, c.code)
			j.BaselineResult = &base
			res := b.mustRun(j)
			test := res.Checks[1]
			if res.Passed != c.passed || !slices.Equal(test.Gone, c.gone) || test.Excused != c.excused {
				t.Errorf("%+v", res)
			}
			if skipped := c.name == "a new finding"; test.Skipped != skipped ||
				(res.Checks[0].Excused == company.ComparedKnown) == skipped {
				t.Errorf("%+v", res)
			}
		})
	}
}

// A failure that a second run of the same tree does not have is flaky, and
// said to be; the exit code of the last run is the verdict.
func TestFlaky(t *testing.T) {
	b := setup(t, nil).withDocker()
	res := b.mustRun(b.jobWith(tapGate(`echo 1..2; echo ok 1 - sure
if [ "$STARTED_BEFORE" = 0 ]; then echo not ok 2 - now and then; exit 3; fi
echo ok 2 - now and then`)))
	ch := res.Checks[0]
	if !res.Passed || !ch.Passed || !slices.Equal(ch.Flaky, []string{"now and then"}) ||
		!slices.Equal(ch.Attempts, []int{3}) || len(b.rt.ids) != 2 {
		t.Errorf("%+v, %d containers", res, len(b.rt.ids))
	}
	if !strings.Contains(ch.Output, "flaky: the run of the same tree before this one ended with exit code 3") {
		t.Errorf("%q", ch.Output)
	}
}

// On a red base nothing ever turns green that could show a failure to be
// flaky: what failed in any run of it is known.
func TestFlakyOnARedBase(t *testing.T) {
	t.Parallel()
	b := setup(t, nil).withDocker()
	shaky := tapGate(`echo 1..3; echo ok 1 - sure; echo not ok 2 - old
if [ "$STARTED_BEFORE" = 0 ]; then echo not ok 3 - now and then; exit 3; fi
echo ok 3 - now and then; exit 3`)
	j := b.jobWith(shaky)
	j.Baseline = true
	base := b.mustRun(j)
	ch := base.Checks[0]
	if len(ch.Tests) != 2 || ch.Counts.Failed != 2 || !slices.Equal(ch.Flaky, []string{"now and then"}) ||
		len(ch.Attempts) > 2 {
		t.Fatalf("%+v", ch)
	}
	shaky = tapGate("echo 1..3; echo ok 1 - sure; echo not ok 2 - old; echo not ok 3 - now and then; exit 3")
	j = b.jobWith(shaky)
	j.BaselineResult = &base
	if res := b.mustRun(j); !res.Passed || res.Checks[0].Excused != company.ComparedKnown {
		t.Errorf("%+v", res)
	}
}

// A detected linter that the image does not have is absent; what somebody
// asked for, or a test, is an error that says what to do, before any work.
func TestMissingTools(t *testing.T) {
	t.Parallel()
	b := setup(t, func(dir string) {}).withDocker()
	b.writeFiles(map[string]string{"Makefile": "lint:\n\tno-such-linter .\n"})
	ok := company.GateCommand{Name: "test", Command: "true"}
	for _, c := range []struct {
		name   string
		gate   company.GateCommand
		absent bool
		fix    string
	}{
		{"found, by its probe", company.GateCommand{Name: "lint", Command: "true", Probe: "command -v no-such-linter"}, true,
			""},
		{"found, by its exit code", company.GateCommand{Name: "lint (web)", Command: "no-such-linter ."}, true, ""},
		{"given", company.GateCommand{Name: "lint", Command: "no-such-linter .", Given: true}, false, "gates.lint"},
		{"a test", company.GateCommand{Name: "test", Command: "no-such-test", Given: true}, false, "gates.test"},
		{"a test by its probe",
			company.GateCommand{Name: "test (web)", Command: "true", Probe: "test -x node_modules/.bin/vitest"}, false,
			"container.setup"},
		{"not executable", company.GateCommand{Name: "test", Command: "/etc/passwd"}, false, "gates.test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := b.jobWith(c.gate, ok)
			j.Baseline = true
			res, err := b.runner.Run(b.ctx, j)
			if c.absent {
				if err != nil || !res.Checks[0].Absent || res.Checks[0].Passed || !res.Checks[1].Passed || res.Untested {
					t.Fatalf("%+v, %v", res, err)
				}
				j.Baseline, j.BaselineResult = false, &res
				before := len(b.rt.ids)
				res := b.mustRun(j)
				if !res.Passed || res.Checks[0].Excused != company.ComparedAbsent || len(b.rt.ids) != before+1 {
					t.Errorf("%+v", res)
				}
				return
			}
			var e *company.Error
			if !errors.As(err, &e) || e.Code != company.EGates || e.Class != company.HumanRequired ||
				!strings.Contains(e.Hint, c.fix) {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
	// The same on a branch is red: it could start on the base.
	j := b.jobWith(company.GateCommand{Name: "lint", Command: "no-such-linter ."})
	j.BaselineResult = &company.GateResult{Checks: []company.GateCheck{{Name: "lint", Passed: true}}}
	if res := b.mustRun(j); res.Passed || res.Checks[0].Absent {
		t.Errorf("%+v", res)
	}
}

// A gate of a part runs in its folder, and a report that is a file reaches us
// behind the text, with the exit code of the command.
func TestFolderAndReportFile(t *testing.T) {
	t.Parallel()
	b := setup(t, nil).withDocker()
	b.writeFiles(map[string]string{"it's/here/file": "x\n"})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "folder")
	xml := `<testsuite><testcase classname="c" name="good"/><testcase classname="c" name="bad"><failure message="no"/></testcase></testsuite>`
	g := company.GateCommand{Name: "test (here)", Dir: "it's/here", Command: "test", Parse: testreport.FormatJUnit,
		Report: "pwd; ls; echo '" + xml + "' > " + testreport.File + "; exit 3"}
	res := b.mustRun(b.jobWith(g))
	ch := res.Checks[0]
	if ch.ExitCode != 3 || ch.Counts == nil || *ch.Counts != (company.TestCounts{Passed: 1, Failed: 1}) ||
		ch.Tests[0].Name != "c bad" || ch.Tests[0].Message != "no" {
		t.Errorf("%+v", ch)
	}
	if !strings.Contains(ch.Output, "/it's/here\nfile\n") || strings.Contains(ch.Output, "testcase") ||
		strings.Contains(ch.Output, "company-report") {
		t.Errorf("%q", ch.Output)
	}
	g.Report = "echo no report; exit 0"
	if ch := b.mustRun(b.jobWith(g)).Checks[0]; !ch.Passed || ch.Counts != nil {
		t.Errorf("%+v", ch)
	}
	g.Dir = "gone"
	if res := b.mustRun(b.jobWith(g)); res.Passed {
		t.Errorf("%+v", res)
	}
}

// A check for which nothing of the repository asks judges a change where the base is green by it. Where
// that is red the check is left out, and says so; it asks nobody anything.
func TestUnaskedCheck(t *testing.T) {
	t.Parallel()
	b := setup(t, nil).withDocker()
	tree := func(code string) gates.Job {
		b.writeFiles(map[string]string{"code": code})
		b.git("add", "-A")
		b.git("commit", "-q", "--allow-empty", "-m", "more")
		return b.jobWith(company.GateCommand{Name: "build", Command: "echo built; exit $(cat code)", Provisional: true},
			company.GateCommand{Name: "test", Command: "true"})
	}
	for _, c := range []struct {
		base, change string
		left, passed bool
	}{{"0", "0", false, true}, {"0", "3", false, false}, {"3", "0", true, true}, {"3", "4", true, true},
		{"137", "0", true, true}} {
		j := tree(c.base)
		j.Baseline = true
		base := b.mustRun(j)
		if got := base.Checks[0]; got.LeftOut != c.left || got.Absent != c.left || got.Passed == c.left ||
			c.left && !strings.Contains(got.ExplainAbsence(), "red on the base") || base.Untested {
			t.Errorf("base %s: %+v", c.base, got)
		}
		j = tree(c.change)
		j.BaselineResult = &base
		res := b.mustRun(j)
		// As a baseline of its tree the verdict of a change does not do: what is left out was not run there.
		if _, ok := res.Reuse(nil, nil); c.left && ok {
			t.Errorf("base %s, change %s: the verdict stands for a baseline", c.base, c.change)
		}
		if _, ok := base.Reuse(nil, nil); ok != (c.base != "137") {
			t.Errorf("base %s is reused: %t", c.base, ok)
		}
		if res.Passed != c.passed || res.Checks[0].LeftOut != c.left ||
			c.left != (res.Checks[0].Excused == company.ComparedAbsent) {
			t.Errorf("base %s, change %s: %+v", c.base, c.change, res)
		}
	}
}

// The baseline is judged once: the next task on the same tree takes it over.
func TestBaselineEffect(t *testing.T) {
	b := setup(t, nil).withDocker()
	base := b.commit("main")
	cmds := commands("", "echo x; exit 1")
	s := b.state(base, cmds)
	e := &gates.Handler{Decider: fakeDecider{s}, Runner: b.runner, Mirrors: oneMirror{b.mirror}, Watcher: unwatched{}}
	take := func() company.GateResult {
		t.Helper()
		cmd, err := e.RunBaseline(b.ctx, company.Effect{Task: "t1"})
		if err != nil {
			t.Fatal(err)
		}
		return cmd.(company.RecordBaseline).Result
	}
	first := take()
	if first.Passed || first.Cached || first.Checks[0].ExitCode != 1 || len(b.rt.ids) != 2 {
		t.Fatalf("%+v, %d containers", first, len(b.rt.ids))
	}
	s.GateResults[company.GateKey(first.Tree, first.GateHash, first.Image)] = first
	if again := take(); !again.Cached || again.Checks[0].ExitCode != 1 || len(b.rt.ids) != 2 {
		t.Errorf("%+v, %d containers", again, len(b.rt.ids))
	}
}

// A gate that is killed on the base is not a verdict: neither red nor excused.
func TestKilledOnTheBase(t *testing.T) {
	b := setup(t, nil).withDocker()
	j := b.jobWith(company.GateCommand{Name: "test", Command: "sh -c 'kill -9 $$'; exit $?"})
	j.Baseline = true
	_, err := b.runner.Run(b.ctx, j)
	var e *company.Error
	if !errors.As(err, &e) || e.Class != company.HumanRequired ||
		!strings.Contains(e.Message, "was killed on the base commit, exit 137") ||
		!strings.Contains(e.Hint, "workers.memory") {
		t.Errorf("%v", err)
	}
}

// A probe says why, and does not read the tree.
func TestProbeReason(t *testing.T) {
	b := setup(t, nil).withDocker()
	j := b.jobWith(company.GateCommand{Name: "test", Command: "true", Probe: "echo first; echo 'No module named x' >&2; " +
		"exit 3"})
	j.Baseline = true
	if _, err := b.runner.Run(b.ctx, j); err == nil ||
		!strings.Contains(err.Error()+fmt.Sprint(errors.Unwrap(err)), "No module named x") {
		t.Errorf("%v", err)
	}
	b.writeFiles(
		map[string]string{"conftest.py": "import gone\n", "pytest.ini": "[pytest]\n", "test_a.py": "def test_a(): pass\n"})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "python")
	p, err := gates.Detect(b.ctx, b.mirror, b.commit("main"), gates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if probe := p.Gates[0].Probe; !strings.HasPrefix(probe, "cd / && ") || strings.Contains(probe, "--version") {
		t.Errorf("the tree is on the path of %s", probe)
	}
}

// A failing test that turns a gate red, and no report says by which name: that
// is said, and the gate is not called blind. Where the base's report does say
// it, the change has taken the names away.
func TestCanaryWithoutAReport(t *testing.T) {
	t.Parallel()
	report := `{"numTotalTests":1,"testResults":[{"name":"x","status":"failed","assertionResults":[{"fullName":"CANARYn0e","status":"failed"}]}]}`
	gate := company.GateCommand{Name: gates.Test, Command: "true", Plant: "script", Parse: "jest-json",
		Canary: "test ! -f named || echo '" + report + "' >" + testreport.File + "; exit 1"}
	for name, c := range map[string]struct {
		was, now string // the file that has the report written
		want     company.Canary
	}{
		"never a name":   {"", "", company.Canary{Reason: "the failing test turns it red, and its report names no test"}},
		"names":          {"x", "x", company.Canary{Proven: []string{"."}}},
		"no names since": {"x", "", company.Canary{Hollow: []string{"."}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, nil).withDocker()
			b.runner.Canary = true
			put := func(text string, named string) {
				b.writeFiles(map[string]string{"a.test.js": "test('a', () => {});\n" + text})
				b.git("rm", "-q", "--cached", "--ignore-unmatch", "named")
				if err := os.RemoveAll(filepath.Join(b.dir, "named")); err != nil {
					t.Fatal(err)
				}
				if named != "" {
					b.writeFiles(map[string]string{"named": named})
				}
				b.git("add", "-A")
				b.git("commit", "-q", "-m", "change")
			}
			put("", c.was)
			base := b.commit("main")
			put("\n", c.now)
			j := b.jobWith(gate)
			j.Base, j.BaseImage = base, gates.ImageByID(b.image)
			got := b.mustRun(j).Checks[0].Canary
			if got == nil {
				t.Fatal("nothing was looked at")
			}
			if got.Took = 0; !reflect.DeepEqual(*got, c.want) {
				t.Errorf("%+v, want %+v", *got, c.want)
			}
		})
	}
}
