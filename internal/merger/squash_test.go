package merger_test

import (
	"slices"
	"testing"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/merger/mergertest"
)

// A ticket whose conflict was resolved by a merge of both sides comes to the branch as one
// commit all the same, without that merge and without the attempts.
func TestResolvedConflictIsOneCommit(t *testing.T) {
	b := mergertest.New(t)
	b.QueueForMerge(mergertest.One, map[string]string{"shared.go": "package a\n\nvar x = 1\n"})
	head := b.QueueForMerge(mergertest.Two, map[string]string{"shared.go": "package a\n\nvar x = 2\n"})
	first := b.MergeFront(mergertest.One)
	m := b.Project.Mirror
	tree, err := m.AddFiles(t.Context(), b.Project.Tree(first),
		map[string][]byte{"shared.go": []byte("package a\n\nvar x = 3\n")})
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := m.CommitTree(
		t.Context(),
		gitops.CommitSpec{Tree: tree, Parents: []company.OID{head, first}, Message: "both",
			When: b.Task(mergertest.Task).Runs[company.NewRunID(mergertest.Task, mergertest.Two, company.Worker, 1)].EndedAt})
	if err != nil {
		t.Fatal(err)
	}
	merged, err := m.MergeTree(t.Context(), first, resolved)
	if err != nil || !merged.Clean || merged.Tree != tree {
		t.Fatalf("a resolution does not merge onto the squashed branch: %+v, %v", merged, err)
	}
	log, err := m.LogWithout(t.Context(), first, []company.OID{b.Project.Base}, 10)
	if err != nil || len(log) != 1 || !slices.Equal(log[0].Parents, []company.OID{b.Project.Base}) {
		t.Errorf("%+v, %v", log, err)
	}
}
