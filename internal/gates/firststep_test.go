package gates_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gates"
)

// sixPackages is a module in which b depends on a, and the test of d reads the source of c.
var sixPackages = map[string]string{
	"go.mod":      "module example.org/six\n\ngo 1.24\n",
	"a/a.go":      "package a\n\nconst A = 1\n",
	"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n",
	"b/b.go":      "package b\n\nimport \"example.org/six/a\"\n\nconst B = 2 * a.A\n",
	"b/b_test.go": "package b\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) {\n\tif B != 2 " +
		"{\n\t\tt.Error(B)\n\t}\n}\n",
	"c/c.go":      "package c\n\n// C is short.\nconst C = 1\n",
	"c/c_test.go": "package c\n\nimport \"testing\"\n\nfunc TestC(t *testing.T) {}\n",
	"d/d_test.go": "package d\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestD(t *testing.T) {\n\tif text, err := " +
		"os.ReadFile(\"../c/c.go\"); err != nil || len(text) > 50 {\n\t\tt.Error(len(text), err)\n\t}\n}\n",
	"e/e.go": "package e\n", "f/f.go": "package f\n",
}

// stepped is a project with a baseline, whose tickets are judged.
type stepped struct {
	*bundle
	state *company.State
	task  *company.Task
	h     *gates.Handler
}

// inSteps judges the base of a project whose tests are slow, by its last gate alone.
func inSteps(t *testing.T, files map[string]string) *stepped {
	t.Helper()
	b := setup(t, nil).withDocker()
	b.runner.FirstStepAfter = 1
	b.writeFiles(files)
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "the project")
	base := b.detectedJob()
	return b.beginSteps(base.Gates[len(base.Gates)-1:], base.Image.ID)
}

// beginSteps judges the base by these gates in an image.
func (b *bundle) beginSteps(cmds []company.GateCommand, image string) *stepped {
	b.t.Helper()
	b.image = image
	s := b.state(b.commit("main"), cmds)
	task := s.Tasks["t1"]
	h := &gates.Handler{Decider: fakeDecider{s}, Runner: b.runner, Mirrors: oneMirror{b.mirror}, Watcher: unwatched{},
		RedGreen: true}
	cmd, err := h.RunBaseline(b.ctx, company.Effect{Task: "t1"})
	if err != nil {
		b.t.Fatal(err)
	}
	known := cmd.(company.RecordBaseline).Result
	if task.Baseline = &known; known.Checks[0].Part != nil || known.Checks[0].Counts == nil {
		b.t.Fatalf("on the base: %+v", known)
	}
	return &stepped{b, s, task, h}
}

// judgeChange gives the check of a ticket that writes these files, and its verdict. An empty
// text deletes.
func (p *stepped) judgeChange(name string, files map[string]string) (company.GateCheck, company.GateResult) {
	p.t.Helper()
	p.git("switch", "-q", "-c", name, "main")
	p.writeFiles(files)
	for file, text := range files {
		if text == "" {
			p.git("rm", "-q", "-f", file)
		}
	}
	p.git("add", "-A")
	p.git("commit", "-q", "-m", name)
	p.task.Subtasks = []*company.Subtask{{ID: "t1-01", Head: p.commit(name)}}
	cmd, err := p.h.RunGates(p.ctx, company.Effect{Task: "t1", Subtask: "t1-01"})
	if err != nil {
		p.t.Fatal(err)
	}
	r := cmd.(company.RecordGateResult).Result
	return r.Checks[0], r
}

// Of a suite that is slow on the base a ticket runs the packages that it touches and those
// that depend on them; the whole runs all. The verdict of the first step is not one on the
// tree, names no test as gone that was not to be run, and shows red to green (GAT-3).
func TestFirstStep(t *testing.T) {
	t.Parallel()
	p := inSteps(t, sixPackages)
	b, s, task, h := p.bundle, p.state, p.task, p.h
	if c := task.Baseline.Checks[0]; !task.Baseline.Passed || c.Counts.Passed != 4 {
		t.Fatalf("on the base: %+v", c)
	}
	judge := func(name string, files map[string]string) company.GateResult {
		t.Helper()
		c, r := p.judgeChange(name, files)
		if c.Command != "go test ./..." || len(c.Gone) > 0 {
			t.Errorf("%s: %+v", name, c)
		}
		return r
	}

	r := judge("breaks-b", map[string]string{"a/a.go": "package a\n\nconst A = 3\n"})
	if c := r.Checks[0]; r.Passed || c.Part == nil || *c.Part != (company.TestPart{Ran: 2, Of: 6}) ||
		!slices.Equal(c.NewFailures(), []string{"example.org/six/b TestB"}) || c.Counts.Passed != 1 {
		t.Errorf("what depends on the touched package: %+v", r)
	}

	r = judge("breaks-d", map[string]string{
		"c/c.go": "package c\n\n// C is long, and longer than a test of another package allows.\nconst C = 2\n",
		"c/c_test.go": sixPackages["c/c_test.go"] +
			"\nfunc TestMore(t *testing.T) {\n\tif C != 2 {\n\t\tt.Error(C)\n\t}\n}\n",
	})
	if c := r.Checks[0]; !r.Passed || c.Part == nil || c.Part.Ran != 1 || c.Counts.Passed != 2 {
		t.Errorf("what imports do not tell: %+v", r)
	}
	if g := r.RedGreen; g == nil || g.Fresh != 1 || !slices.Equal(g.Proof, []string{"example.org/six/c TestMore"}) ||
		g.Reason != "" {
		t.Errorf("red to green: %+v", r.RedGreen)
	}
	whole, err := b.runner.Evaluate(b.ctx, s, task, b.mirror, r.Tree, "t1-01", nil)
	if c := whole.Checks[0]; err != nil || whole.Passed || whole.Cached || c.Part != nil ||
		!slices.Equal(c.NewFailures(), []string{"example.org/six/d TestD"}) {
		t.Errorf("the whole: %+v, %v", whole, err)
	}
	s.GateResults[company.GateKey(whole.Tree, whole.GateHash, whole.Image)] = whole
	task.Subtasks = []*company.Subtask{{ID: "t1-01", Head: b.commit("breaks-d")}}
	if cmd, err := h.RunGates(b.ctx, company.Effect{Task: "t1", Subtask: "t1-01"}); err != nil ||
		!cmd.(company.RecordGateResult).Result.Cached || cmd.(company.RecordGateResult).Result.Passed {
		t.Errorf("a whole verdict that is known does not count: %+v, %v", cmd, err)
	}

	if r = judge(
		"module",
		map[string]string{"go.mod": sixPackages["go.mod"] + "\n// more\n",
			"c/more.go": "package c\n"}); r.Checks[0].Part != nil || r.Checks[0].Counts.Passed != 4 {
		t.Errorf("a change of the module: %+v", r)
	}
	if err := os.Symlink("c.go", filepath.Join(b.dir, "c", "linked.md")); err != nil {
		t.Fatal(err)
	}
	if r = judge("link", map[string]string{"c/more.go": "package c\n"}); r.Checks[0].Part != nil ||
		r.Checks[0].Counts.Passed != 4 {
		t.Errorf("a link: %+v", r)
	}
	task.Prepared.ImageLayers = []string{"base=1", "services=2"}
	if c := judge("seeds", map[string]string{"a/a.go": "package a\n\nconst A = 4\n"}).Checks[0]; c.Part != nil ||
		c.Counts.Passed != 3 || len(c.NewFailures()) != 1 {
		t.Errorf("a red part with services: %+v", c)
	}
	if c := judge("keeps", map[string]string{"a/more.go": "package a\n"}).Checks[0]; c.Part == nil ||
		c.Counts.Passed != 2 {
		t.Errorf("a green part with services: %+v", c)
	}
	b.runner.FirstStepAfter = 0
	if r = judge("off", map[string]string{"c/more.go": "package c\n\nconst More = 1\n"}); r.Checks[0].Part != nil ||
		r.Checks[0].Counts.Passed != 4 {
		t.Errorf("turned off: %+v", r)
	}
}

// Without the change the whole suite may run where the verdict is one of a first step: the
// base's time bounds it.
func TestRedGreenLimitAfterAFirstStep(t *testing.T) {
	t.Parallel()
	r, part := &gates.Runner{Timeout: time.Hour}, &company.TestPart{Ran: 1, Of: 9}
	base := company.GateCheck{Took: 10 * time.Minute}
	for name, c := range map[string]struct {
		check company.GateCheck
		want  time.Duration
	}{
		"a first step":      {company.GateCheck{Took: 10 * time.Second, Part: part}, 22 * time.Minute},
		"one that is slow":  {company.GateCheck{Took: 11 * time.Minute, Part: part}, 24 * time.Minute},
		"all of the suite":  {company.GateCheck{Took: 5 * time.Minute}, 12 * time.Minute},
		"beyond the bounds": {company.GateCheck{Took: 50 * time.Minute}, time.Hour},
	} {
		if got := gates.RedGreenLimit(r, c.check, base); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}

// Linux takes 128 KiB in one argument: a check on more folders than that runs all.
func TestCommandOfManyFolders(t *testing.T) {
	t.Parallel()
	gate := company.GateCommand{Name: "test", Command: "go test ./...", Report: "go test -json ./...", Probe: "go version"}
	for _, c := range []struct {
		folders int
		fits    bool
	}{{1000, true}, {10000, false}} {
		j := gates.Job{Gates: []company.GateCommand{gate}}
		command := "go test -json" + strings.Repeat(" ./internal/folder", c.folders)
		if ok := gates.RunReport(j, command); ok != c.fits || (j.Gates[0].Report == command) != c.fits ||
			(j.Gates[0].Probe == "") != c.fits {
			t.Errorf("%d folders: %v, %.40s", c.folders, ok, j.Gates[0].Report)
		}
	}
}

// partRecord has whether a part was run, by tree.
type partRecord map[company.OID]bool

func (p partRecord) RanPart(tree company.OID, _ int) (part, known bool) {
	part, known = p[tree]
	return part, known
}

// In a replay the record says whether a check ran a part, whatever the base takes there.
func TestFirstStepOfARecord(t *testing.T) {
	t.Parallel()
	gate := company.GateCommand{Name: "test", Command: "go test ./...", Plant: "go",
		Canary: "go list -find -e -f '{{.Dir}}' ./...\ngo test -json"}
	for name, c := range map[string]struct {
		tree   company.OID
		took   time.Duration
		record bool
		want   bool
	}{
		"slow":                      {"part", 2 * time.Minute, false, true},
		"quick":                     {"part", time.Second, false, false},
		"quick, a part in a record": {"part", time.Second, true, true},
		"slow, all in a record":     {"whole", 2 * time.Minute, true, false},
		"slow, not in the record":   {"other", 2 * time.Minute, true, true},
		"quick, not in the record":  {"other", time.Second, true, false},
	} {
		r := &gates.Runner{FirstStepAfter: time.Minute}
		if c.record {
			r.Record = partRecord{"part": true, "whole": false}
		}
		base := &company.GateResult{Checks: []company.GateCheck{{Name: "test", Passed: true, Took: c.took}}}
		j := gates.Job{Gates: []company.GateCommand{gate}, Tree: c.tree, Since: "base", BaselineResult: base}
		if got := gates.TakesFirstStep(r, j); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
