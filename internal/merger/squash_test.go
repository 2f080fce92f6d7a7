package merger_test

import (
	"slices"
	"testing"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/merger"
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

// The one commit of a ticket follows the style of the log, and begins with the ticket if the log shows none.
// The trailer names the ticket in both cases.
func TestSquashSubjectNamesTicketWithoutStyle(t *testing.T) {
	t.Parallel()
	task := &company.Task{ID: mergertest.Task, Settings: company.Settings{}.WithDefaults()}
	sub := &company.Subtask{ID: mergertest.One, Planned: company.PlannedSubtask{Title: "Keep commas", Description: "x"},
		Changes: []company.Change{{Path: "parser/read.go"}}}
	own := []gitops.Commit{{Message: "[t1-01] Keep the last comma\n"}}
	const long = "Keep the commas of quoted fields when the reader meets an empty line"
	for _, test := range []struct {
		name string
		log  []string
		own  []gitops.Commit
		want string
	}{
		{"no commits", nil, nil, "[t1-01] Keep commas\n\nTicket: t1-01\n"},
		{"too few commits", []string{"first", "fix: x y"}, nil, "[t1-01] Keep commas\n\nTicket: t1-01\n"},
		{"own subject", []string{"first"}, own, "[t1-01] Keep the last comma\n\nTicket: t1-01\n"},
		{"a long subject", nil, []gitops.Commit{{Message: long}},
			"[t1-01] Keep the commas of quoted fields when the reader meets an …\n\n" + long + "\n\nTicket: t1-01\n"},
		{"plain", []string{"add a file", "drop a file", "count files"}, nil, "keep commas\n\nTicket: t1-01\n"},
		{"conventional", []string{"fix: a b", "feat: c d", "docs: e f"}, nil, "feat: keep commas\n\nTicket: t1-01\n"},
	} {
		got := merger.SquashMessage(merger.DetectStyle(test.log), task, sub, test.own)
		if got != test.want {
			t.Errorf("%s: %q, not %q", test.name, got, test.want)
		}
	}
}

// Commits that a company wrote show no style.
func TestStyleIsOfPeople(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		"[t1-01] Keep commas\n":                       true,
		"Keep commas\n\nTicket: t1-01\n":              true,
		"Keep commas\n\nTicket: t1-01\nSigned-off-by": true,
		"Keep commas\n\nTicket: ABC-17\n":             false,
		"Keep commas\n":                               false,
	} {
		if got := merger.IsOfProgram(gitops.Commit{Message: message}); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}
