package gates_test

import (
	"fmt"
	"slices"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/gates"
	"company/internal/lib/hosttest"
)

// What a change touches is git's word: what it deletes, what it adds, and which of
// it says what a gate does.
func TestPlacesOfAChange(t *testing.T) {
	many := map[string]string{}
	for i := range gates.MaxCanaries + 1 {
		many[fmt.Sprintf("p%03d/p.go", i)] = "package p\n"
	}
	var limited []string
	for i := range gates.MaxCanaries {
		limited = append(limited, fmt.Sprintf("p%03d", i))
	}
	was := map[string]string{
		"go.mod": "module x\n", "a/a.go": "package a\n", "b/b.go": "package b\n", "b/more.go": "package b\n",
		"gone/gone.go": "package gone\n", "still/s.go": "package still\n",
		"py/conftest.py": "", "py/one/test_1.py": "", "py/two/test_2.py": "",
	}
	for name, c := range map[string]struct {
		gate   company.GateCommand
		delete []string
		now    map[string]string
		want   []string
		dark   []string // of them, what no gate can look at
		reason string
	}{
		"changed, and deleted in part or whole": {company.GateCommand{Plant: "go"}, []string{"b/more.go", "gone/gone.go"},
			map[string]string{"a/a.go": "package a // more\n"}, []string{"a", "b"}, nil, ""},
		"a module is added around new files": {company.GateCommand{Plant: "go"}, nil,
			map[string]string{"m/go.mod": "module m\n", "m/m.go": "package m\n"}, []string{"m"}, []string{"m"}, ""},
		"a module is added around old files": {company.GateCommand{Plant: "go"}, nil,
			map[string]string{"still/go.mod": "module still\n", "still/s.go": "package still // more\n"},
			[]string{"still"}, nil, ""},
		"a file that steers the gate is deleted": {company.GateCommand{Plant: "pytest", Dir: "py"},
			[]string{"py/conftest.py"}, nil, []string{"py/one", "py/two"}, nil, ""},
		"more than are looked at": {company.GateCommand{Plant: "go"}, nil, many, limited, nil,
			"101 folders are changed, and only 100 were looked at"},
	} {
		t.Run(name, func(t *testing.T) {
			hosttest.Long(t, "one more row")
			b := setup(t, nil)
			b.writeFiles(was)
			b.git("add", "-A")
			b.git("commit", "-q", "-m", "base")
			base := b.commit("main")
			for _, p := range c.delete {
				b.git("rm", "-q", p)
			}
			b.writeFiles(c.now)
			b.git("add", "-A")
			b.git("commit", "-q", "-m", "change")
			tree, err := b.mirror.Tree(b.ctx, b.commit("main"))
			if err != nil {
				t.Fatal(err)
			}
			places, reason, err := gates.CanaryPlaces(
				b.ctx, gates.Job{Mirror: b.mirror, Base: base, Tree: tree, Gates: []company.GateCommand{c.gate}}, 0)
			var dark []string
			for _, p := range places {
				if p.Unreachable {
					dark = append(dark, p.Dir)
				}
			}
			if got := ecosystemtest.Dirs(places); err != nil || reason != c.reason || !slices.Equal(got, c.want) ||
				!slices.Equal(dark, c.dark) {
				t.Errorf("failing tests in %q, of them out of reach %q, %q, %v", got, dark, reason, err)
			}
		})
	}
}
