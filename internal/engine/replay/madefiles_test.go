package replay

import (
	"context"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
)

// recordedFiles gives a tree's name as the text of its files; one tree is gone.
type recordedFiles struct{ gone company.OID }

func (f recordedFiles) ReadRecorded(_ context.Context, tree company.OID, name string) ([]byte, error) {
	if tree == f.gone {
		return nil, company.E(company.ENotFound, "no such tree")
	}
	return []byte(string(tree) + " " + name), nil
}

// A lock file that a client made again is that of the record: of the tree that it was made
// of, wherever that tree was judged. One that is not recorded stays a conflict.
func TestLocksAreThoseOfTheRecord(t *testing.T) {
	t.Parallel()
	remade := func(of string) []company.RemadeFile {
		return []company.RemadeFile{{Path: "package-lock.json", Command: "npm", Of: company.OID(of)}}
	}
	r := &Record{steps: []step{
		{data: &company.GateFinished{Result: company.GateResult{Tree: "gone"}, Remade: remade("one")}},
		{data: &company.MergeGated{GateFinished: company.GateFinished{Result: company.GateResult{Tree: "merged"},
			Remade: remade("one")}}},
		{data: &company.StackIntended{
			Members: []company.StackMember{{Tree: "first"}, {Tree: "second", Remade: remade("two")}}}},
		{data: &company.StackRed{Members: []company.StackMember{{Tree: "red", Remade: remade("three")}}}},
	}}
	l := MadeFiles{Record: r, Files: recordedFiles{"gone"}}
	for of, want := range map[company.OID]string{"one": "merged", "two": "second", "three": "red", "four": ""} {
		got, err := l.RemakeLocks(t.Context(), nil, nil, of, []ecosystem.LockConflict{{Path: "package-lock.json"}})
		if (err == nil) != (want != "") ||
			want != "" && (len(got) != 1 || string(got[0].Text) != want+" package-lock.json" || got[0].Command != "npm") {
			t.Errorf("%s: %+v, %v", of, got, err)
		}
	}
}

// A record tells of each ticket's tree whether a part of its tests was run.
func TestRecordTellsParts(t *testing.T) {
	t.Parallel()
	gate := func(tree company.OID, parts ...*company.TestPart) step {
		d := &company.GateFinished{Result: company.GateResult{Tree: tree}}
		for _, p := range parts {
			d.Result.Checks = append(d.Result.Checks, company.GateCheck{Part: p})
		}
		return step{data: d}
	}
	r := &Record{steps: []step{gate("a", nil, &company.TestPart{Ran: 1, Of: 4}), gate("b", nil),
		gate("c", &company.TestPart{Ran: 1, Of: 4}), gate("c", nil)}}
	for _, c := range []struct {
		tree        company.OID
		check       int
		part, known bool
	}{{"a", 0, false, true}, {"a", 1, true, true}, {"a", 2, false, false}, {"b", 0, false, true}, {"c", 0, true, true},
		{"d", 0, false, false}} {
		if part, known := r.RanPart(c.tree, c.check); part != c.part || known != c.known {
			t.Errorf("%s, %d: %v, %v", c.tree, c.check, part, known)
		}
	}
}

// All files that were generated of a tree are those of one recorded tree; without one the
// merge is a conflict. No generator is run.
func TestGeneratedFilesAreThoseOfTheRecord(t *testing.T) {
	t.Parallel()
	remade := []company.RemadeFile{{Path: "package-lock.json", Command: "npm", Of: "before"},
		{Path: "a.go", Command: "go generate .", Of: "one"}, {Path: "b.go", Command: "make b", Of: "one"}}
	r := &Record{steps: []step{
		{data: &company.GateFinished{Result: company.GateResult{Tree: "gone"}, Remade: remade}},
		{data: &company.StackIntended{Members: []company.StackMember{{Tree: "merged", Remade: remade}}}},
	}}
	run := func(context.Context) (ecosystem.Generated, error) {
		t.Error("a generator is run")
		return ecosystem.Generated{}, nil
	}
	l := MadeFiles{Record: r, Files: recordedFiles{"gone"}}
	got, err := l.RemakeGenerated(t.Context(), nil, "one", nil, run)
	if err != nil || got.Why != "" || len(got.Files) != 2 || string(got.Files[0].Text) != "merged a.go" ||
		got.Files[0].Command != "go generate ." || got.Files[1].Path != "b.go" {
		t.Errorf("%+v, %v", got, err)
	}
	if none, err := l.RemakeGenerated(t.Context(), nil, "two", nil, run); err != nil || none.Why == "" ||
		len(none.Files) > 0 {
		t.Errorf("%+v, %v", none, err)
	}
}
