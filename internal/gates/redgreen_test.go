package gates_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/lib/hosttest"
)

// tapSuiteScript runs the scripts in tests, and reports them as TAP; it ends with the code
// that one of them leaves.
const tapSuiteScript = "n=0\nfor f in tests/*; do n=$((n+1)); if sh $f; then echo ok $n - $f; else echo not ok $n - " +
	"$f; bad=1; fi; test -f code && exit $(cat code); done\necho 1..$n\nexit ${bad:-0}"

// Which tests show a change: it is run once more on the base with only its
// test files, where a test that needs the change fails.
func TestRedGreen(t *testing.T) {
	t.Parallel()
	b := setup(t, nil).withDocker()
	b.writeFiles(map[string]string{"tests/old": "true\n", "tests/bug": "test \"$(cat answer)\" = 42\n", "answer": "41\n"})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "base")
	base := b.commit("main")
	cmds := []company.GateCommand{tapGate(tapSuiteScript)}
	s := b.state(base, cmds)
	e := &gates.Handler{Decider: fakeDecider{s}, Runner: b.runner, RedGreen: true, Mirrors: oneMirror{b.mirror},
		Watcher: unwatched{}}
	cmd, err := e.RunBaseline(b.ctx, company.Effect{Task: "t1"})
	if err != nil {
		t.Fatal(err)
	}
	known := cmd.(company.RecordBaseline).Result
	s.Tasks["t1"].Baseline = &known
	whole := func(files map[string]string) *company.RedGreen {
		t.Helper()
		b.writeFiles(files)
		b.git("add", "-A")
		b.git("commit", "-q", "-m", "change")
		s.Tasks["t1"].Head = b.commit("main")
		cmd, err := e.RunGates(b.ctx, company.Effect{Task: "t1"})
		if err != nil {
			t.Fatal(err)
		}
		res := cmd.(company.RecordGateResult).Result
		if !res.Passed {
			t.Fatalf("%+v", res)
		}
		return res.RedGreen
	}
	if r := whole(map[string]string{"feature": "x\n"}); r == nil || r.Files != 0 || r.Shown != 0 {
		t.Errorf("no test changed: %+v", r)
	}
	r := whole(
		map[string]string{"answer": "42\n", "tests/feature": "test -f feature\n", "tests/idle": "true\n",
			"tests/bug": "test \"$(cat answer)\" = 42 # mended\n"})
	if r.Files != 3 || r.Fresh != 2 || r.Shown != 1 || !slices.Equal(r.Proof, []string{"tests/feature"}) ||
		!slices.Equal(r.Idle, []string{"tests/idle"}) || r.Reason != "" {
		t.Errorf("%+v", r)
	}
	e.RedGreen = false
	if r := whole(map[string]string{"tests/more": "true\n"}); r != nil {
		t.Errorf("off, and %+v", r)
	}
}

// redGreenBundle is a task with a baseline whose tickets' tests are run without their
// changes too.
type redGreenBundle struct {
	*bundle
	s *company.State
	e *gates.Handler
}

func newRedGreenBundle(t *testing.T, files map[string]string) *redGreenBundle {
	t.Helper()
	b := setup(t, nil).withDocker()
	b.writeFiles(files)
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "base")
	s := b.state(b.commit("main"), []company.GateCommand{tapGate(tapSuiteScript)})
	e := &gates.Handler{Decider: fakeDecider{s}, Runner: b.runner, RedGreen: true, Mirrors: oneMirror{b.mirror},
		Watcher: unwatched{}}
	cmd, err := e.RunBaseline(b.ctx, company.Effect{Task: "t1"})
	if err != nil {
		t.Fatal(err)
	}
	known := cmd.(company.RecordBaseline).Result
	s.Tasks["t1"].Baseline = &known
	return &redGreenBundle{b, s, e}
}

// addTicket has a ticket with this change, from the task's base, judged.
func (p *redGreenBundle) addTicket(id company.SubtaskID, files map[string]string) company.GateResult {
	p.t.Helper()
	p.git("switch", "-q", "-c", string(id), string(p.s.Tasks["t1"].Prepared.Base.OID))
	p.writeFiles(files)
	p.git("add", "-A")
	p.git("commit", "-q", "-m", string(id))
	sub := &company.Subtask{ID: id, Head: p.commit(string(id)), Status: company.SubtaskInGate}
	t := p.s.Tasks["t1"]
	t.Subtasks = append(t.Subtasks, sub)
	g := p.runGates(id)
	sub.Gate = &g
	return g.Result
}

func (p *redGreenBundle) runGates(id company.SubtaskID) company.GateFinished {
	p.t.Helper()
	cmd, err := p.e.RunGates(p.ctx, company.Effect{Task: "t1", Subtask: id})
	if err != nil {
		p.t.Fatal(err)
	}
	got := cmd.(company.RecordGateResult).GateFinished
	if !got.Result.Passed {
		p.t.Fatalf("%+v", got.Result)
	}
	return got
}

// mergeTicket brings a ticket to the integration head, whose tree is as it was
// judged.
func (p *redGreenBundle) mergeTicket(id company.SubtaskID) {
	p.t.Helper()
	t := p.s.Tasks["t1"]
	sub := t.Subtask(id)
	m, err := p.mirror.MergeTree(p.ctx, t.Head, sub.Head)
	if err != nil || !m.Clean {
		p.t.Fatalf("%+v, %v", m, err)
	}
	head, err := p.mirror.CommitTree(
		p.ctx, gitops.CommitSpec{Tree: m.Tree, Parents: []company.OID{t.Head, sub.Head}, Message: "merge",
			When: time.Unix(1e9, 0)})
	if err != nil {
		p.t.Fatal(err)
	}
	t.Head, t.Tree = head, m.Tree
	r := sub.Gate.Result
	p.s.GateResults[company.GateKey(r.Tree, r.GateHash, r.Image)] = r
}

// A ticket's own tests are run without its change: before anybody reviews it,
// and without those of tickets that were merged before it.
func TestRedGreenOfATicket(t *testing.T) {
	t.Parallel()
	p := newRedGreenBundle(t, map[string]string{"tests/old": "true\n"})
	r := p.addTicket(
		"t1-01", map[string]string{"one": "x\n", "tests/one": "test -f one\n", "tests/idle": "true\n"}).RedGreen
	if r == nil || r.Files != 2 || r.Fresh != 2 || !slices.Equal(r.Proof, []string{"tests/one"}) ||
		!slices.Equal(r.Idle, []string{"tests/idle"}) || r.Reason != "" {
		t.Fatalf("%+v", r)
	}
	p.mergeTicket("t1-01")
	ran := len(p.rt.ids)
	if g := p.runGates(""); g.Result.RedGreen != r || len(p.rt.ids) != ran {
		t.Errorf("the whole is the only ticket, and its tests were run again: %+v, %d containers", g.Result.RedGreen,
			len(p.rt.ids)-ran)
	}

	r = p.addTicket("t1-02", map[string]string{"two": "x\n", "tests/two": "test -f two\n"}).RedGreen
	if r == nil || r.Files != 1 || r.Fresh != 1 || !slices.Equal(r.Proof, []string{"tests/two"}) || len(r.Idle) != 0 ||
		r.Reason != "" {
		t.Errorf("beside what the first ticket brought: %+v", r)
	}
	p.mergeTicket("t1-02")
	if r := p.runGates("").Result.RedGreen; r == nil || r.Fresh != 3 || r.Shown != 2 {
		t.Errorf("of the whole: %+v", r)
	}

	clear(p.s.GateResults)
	if r := p.addTicket("t1-03", map[string]string{"tests/three": "true\n"}).RedGreen; r == nil || r.Reason == "" ||
		len(r.Idle) > 0 {
		t.Errorf("nobody knows the tests of the integration head, and %+v", r)
	}
}

// numberedRuntime tells each run without the change which one it is.
type numberedRuntime struct {
	container.Runtime
	runs int
}

func (c *numberedRuntime) Start(ctx context.Context, s container.Spec) (container.Container, error) {
	if s.Labels.Role == "redgreen" {
		c.runs++
		s.Env = append(slices.Clone(s.Env), fmt.Sprint("RUN=", c.runs))
	}
	return c.Runtime.Start(ctx, s)
}

// A test that fails without the change by chance, or passes with it by chance,
// shows nothing.
func TestRedGreenByChance(t *testing.T) {
	t.Parallel()
	p := newRedGreenBundle(t, map[string]string{"tests/old": "true\n"})
	rt := &numberedRuntime{Runtime: p.rt}
	p.runner.Runtime = rt
	r := p.addTicket(
		"t1-01", map[string]string{"one": "x\n", "tests/one": "test -f one\n", "tests/chance": "test \"$RUN\" != 1\n"}).
		RedGreen
	if rt.runs != 2 || r.Shown != 1 || !slices.Equal(r.Proof, []string{"tests/one"}) || len(r.Idle) != 0 {
		t.Errorf("after %d runs: %+v", rt.runs, r)
	}
	rt.runs = 0
	// The one that is ended says nothing about those behind it.
	r = p.addTicket(
		"t1-03", map[string]string{"three": "x\n", "tests/a-kill": "test -f three || echo 137 > code\n",
			"tests/behind": "true\n"}).RedGreen
	if r.Shown != 0 || len(r.Idle) != 0 || !strings.Contains(r.Reason, "ended before they were through, exit 137") {
		t.Errorf("%+v", r)
	}
	r = p.addTicket("t1-04", map[string]string{"four": "x\n", "tests/a-exit": "test -f four || { echo 3 > code; false; " +
		"}\n", "tests/behind": "true\n"}).RedGreen
	if r.Shown != 1 || !slices.Equal(r.Proof, []string{"tests/a-exit"}) || len(r.Idle) != 0 || r.Unseen != 1 ||
		!slices.Equal(r.Died, []string{"test"}) || r.Reason != "" {
		t.Errorf("what is behind the one that ends the run was not seen: %+v", r)
	}
	rt.runs = 0
	if r := p.addTicket("t1-02", map[string]string{"tests/idle": "true\n"}).RedGreen; rt.runs != 1 || len(r.Idle) != 1 {
		t.Errorf("nothing failed, and it was run %d times: %+v", rt.runs, r)
	}
}

// go test is told to run the packages of the changed tests alone, and of others
// nothing is said.
func TestRedGreenOfPackages(t *testing.T) {
	hosttest.Long(t, "one of many kinds of checks")
	p := newRedGreenBundle(t, map[string]string{
		"tests/old": "true\n",
		// A stand-in for go: it lists two packages, and runs those that it is
		// asked for, or both. The tests of a package are those of its file of tests and its
		// cases, and TestProof fails where it is not a case.
		"go.sh": `if test "$1" = list; then printf '%s\n' "$PWD/a" "$PWD/b"; exit; fi
shift 2
test $# -gt 0 || set -- ./a ./b
for d; do for c in $(sort -u $d/x_test.go $d/cases); do
  does=pass; if test $c = TestProof && ! grep -qx $c $d/cases; then does=fail; bad=1; fi
  printf '{"Action":"%s","Package":"x/%s","Test":"%s"}\n' $does "${d#./}" $c
done; done
exit ${bad:-0}
`,
		"a/x_test.go": "TestA\n", "a/cases": "", "b/x_test.go": "TestB\n", "b/cases": "",
	})
	p.s.Tasks["t1"].Prepared.Gates = []company.GateCommand{
		{Name: "test", Command: "go test ./...", Report: "sh go.sh test -json", Parse: "go-json",
			Plant: "go", Canary: "sh go.sh list\nsh go.sh test -json"}}
	p.s.Tasks["t1"].Prepared.GateHash = "go"
	cmd, err := p.e.RunBaseline(p.ctx, company.Effect{Task: "t1"})
	if err != nil {
		t.Fatal(err)
	}
	known := cmd.(company.RecordBaseline).Result
	p.s.Tasks["t1"].Baseline = &known
	r := p.addTicket(
		"t1-01", map[string]string{"a/x_test.go": "TestA\nTestIdle\nTestProof\n", "a/cases": "TestProof\n",
			"b/cases": "TestElsewhere\n"}).RedGreen
	if r == nil || r.Reason != "" || r.Fresh != 2 || !slices.Equal(r.Proof, []string{"x/a TestProof"}) ||
		!slices.Equal(r.Idle, []string{"x/a TestIdle"}) {
		t.Errorf("%+v", r)
	}
	// What tests read may be any package's: then all are run. A test that is not there
	// without the change was not seen to fail.
	r = p.addTicket("t1-02", map[string]string{"b/testdata/x": "x\n", "b/cases": "TestElsewhere\n"}).RedGreen
	if r == nil || len(r.Proof) > 0 || r.Fresh != 1 || r.Unseen != 1 || r.ShowsChange() {
		t.Errorf("%+v", r)
	}
}

// GAT-7: where a test is required, the report says whether the change touches what the
// test gate covers; documents, tests and what is deleted do not count.
func TestRedGreenOfSource(t *testing.T) {
	hosttest.Long(t, "one of many kinds of checks")
	p := newRedGreenBundle(t, map[string]string{"tests/old": "true\n", "old.sh": "x\n", "docs/a.html": "x\n"})
	p.s.Tasks["t1"].Settings.RedGreen = company.RedGreenRequire
	p.e.RedGreen = false // what the task was submitted with counts
	for id, c := range map[company.SubtaskID]struct {
		files  map[string]string
		source bool
	}{
		"t1-01": {map[string]string{"one.sh": "x\n"}, true},
		"t1-02": {map[string]string{"README.md": "x\n", "docs/a.html": "y\n", ".editorconfig": "x\n"}, false},
		"t1-03": {map[string]string{"tests/idle": "true\n"}, false},
	} {
		r := p.addTicket(id, c.files).RedGreen
		if r == nil || r.Source != c.source || r.Shown != 0 {
			t.Errorf("%v: %+v", c.files, r)
		}
	}
	r := p.addTicket("t1-04", map[string]string{"four": "x\n", "tests/four": "test -f four\n"}).RedGreen
	if why, _ := r.ExplainUnshown(); why != "" || !r.Source || r.Shown != 1 {
		t.Errorf("%+v: %s", r, why)
	}
	r = p.addTicket("t1-05", map[string]string{"src/lib.rs": "#[test]\n"}).RedGreen
	if why, unknown := r.ExplainUnshown(); !unknown || !strings.Contains(why, "inside of source files") {
		t.Errorf("%+v: %s", r, why)
	}
	p.s.Tasks["t1"].Settings.RedGreen = company.RedGreenOff
	p.e.RedGreen = true
	if r := p.addTicket("t1-06", map[string]string{"tests/six": "true\n"}).RedGreen; r != nil {
		t.Errorf("off, and %+v", r)
	}
}

// A gate whose ecosystem knows its places counts the change that touches one.
func TestRedGreenOfGoSource(t *testing.T) {
	hosttest.Long(t, "one of many kinds of checks")
	p := newRedGreenBundle(
		t, map[string]string{"tests/old": "true\n", "go.mod": "module x\n\ngo 1.26\n", "a/a.go": "package a\n"})
	set := p.s.Tasks["t1"]
	set.Settings.RedGreen = company.RedGreenRequire
	set.Prepared.Gates[0].Plant, set.Prepared.Gates[0].Canary = "go", "go test -json ./... -run CANARY"
	for id, c := range map[company.SubtaskID]struct {
		files  map[string]string
		source bool
	}{
		"t1-01": {map[string]string{"a/a.go": "package a\n\nvar x = 1\n"}, true},
		"t1-02": {map[string]string{"a/page.html": "x\n", "go.mod": "module x\n\ngo 1.27\n"}, false},
		"t1-03": {map[string]string{"a/a_test.go": "package a\n"}, false},
	} {
		if r := p.addTicket(id, c.files).RedGreen; r == nil || r.Source != c.source {
			t.Errorf("%v: %+v", c.files, r)
		}
	}
}
