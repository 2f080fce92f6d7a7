package gates_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gates"
)

// A command that does less is proposed where the repository itself shows a way.
func TestNarrower(t *testing.T) {
	short := "package x\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {\n\tif testing.Short() " +
		"{\n\t\tt.Skip()\n\t}\n}\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"Go with short tests": {map[string]string{"go.mod": "module x\n", "x_test.go": short},
			[]string{"test: go test -short ./... (its tests ask testing.Short())"}},
		"Go without": {map[string]string{"go.mod": "module x\n", "x.go": "package x // testing.Short()\n"},
			nil},
		"Go, and a copy with short": {map[string]string{"go.mod": "module x\n", "x.go": "package x\n",
			"testdata/x_test.go": short}, nil},
		"pytest with a marker": {map[string]string{
			"pyproject.toml": "[tool.pytest.ini_options]\nmarkers = [\n  \"fast: quick ones\",\n  \"slow: marks tests as " +
				"slow\",\n]\n", "test_a.py": ""},
			[]string{`test: python3 -m pytest -m "not slow" (pyproject.toml declares the marker slow)`}},
		"pytest with a marker in INI": {map[string]string{
			"pytest.ini": "[pytest]\nmarkers =\n    integration: asks a server\n"},
			[]string{`test: python3 -m pytest -m "not integration" (pytest.ini declares the marker integration)`}},
		"pytest that is slow by word": {map[string]string{
			"pyproject.toml": "[tool.pytest.ini_options]\naddopts = \"-q\"\n[tool.x]\nslow = 1\n", "test_a.py": ""}, nil},
		"make": {map[string]string{"Makefile": "test: unit\n\t./all\nunit:\n\t./some\n"},
			[]string{"test: make unit (Makefile has the target unit)"}},
		"npm": {map[string]string{"package.json": `{"scripts":{"test":"./all","test:unit":"./some"}}`},
			[]string{"test: npm run test:unit (package.json has the script test:unit)"}},
		"Rust with tests beside": {map[string]string{"Cargo.toml": "[package]\n", "tests/a.rs": ""},
			[]string{"test: cargo test --offline --no-fail-fast --lib --bins (the tests in tests/ are programs of their own)"}},
		"nothing": {map[string]string{"a.txt": ""}, nil},
	} {
		var got []string
		for _, n := range detect(t, c.files, gates.Options{Proposals: true}).Narrower {
			got = append(got, fmt.Sprintf("%s: %s", n.Gate, n))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// A baseline names a command that does less beside a check that runs over two minutes,
// and beside no other.
func TestSlowCheckGetsANarrower(t *testing.T) {
	b := setup(t, func(dir string) { writeBelow(t, dir, "Makefile", "test: unit\n\t./all\nunit:\n\t./some\n") })
	b.image, b.runner = "sha256:image", &gates.Runner{}
	base := b.commit("main")
	tree, err := b.mirror.Tree(b.ctx, base)
	if err != nil {
		t.Fatal(err)
	}
	cmds := []company.GateCommand{{Name: "test", Command: "make test"}}
	for name, c := range map[string]struct {
		check company.GateCheck
		want  string
	}{
		"3 minutes": {company.GateCheck{Passed: true, Took: 3 * time.Minute},
			"make unit (Makefile has the target unit)"},
		"1 minute":              {company.GateCheck{Passed: true, Took: time.Minute}, ""},
		"3 runs, 1 minute each": {company.GateCheck{Passed: true, Took: 3 * time.Minute, Attempts: []int{0, 0}}, ""},
		"absent":                {company.GateCheck{Absent: true, ExitCode: 127, Output: "not in the image"}, ""},
	} {
		c.check.Name, c.check.Command = "test", cmds[0].Command
		s := b.state(base, cmds)
		// It was judged before, so that no container is needed.
		verdict := company.GateResult{Tree: tree, GateHash: gates.HashGates(cmds), Image: b.image, Passed: c.check.Passed,
			Checks: []company.GateCheck{c.check}}
		s.GateResults[company.GateKey(verdict.Tree, verdict.GateHash, verdict.Image)] = verdict
		h := &gates.Handler{Decider: fakeDecider{s}, Runner: b.runner, Mirrors: oneMirror{b.mirror}, Watcher: unwatched{}}
		cmd, err := h.RunBaseline(b.ctx, company.Effect{Task: "t1"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := c.check
		want.Narrower = c.want
		if got := cmd.(company.RecordBaseline).Result.Checks; len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s: %+v, not %+v", name, got, want)
		}
		if verdict.Checks[0].Narrower != "" {
			t.Errorf("%s: the verdict that is stored was changed", name)
		}
	}
}
