package delivery

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/delivery/evidence"
	"company/internal/forge"
	"company/internal/forge/local"
	"company/internal/gitops"
	"company/internal/lib/safedir/foldertest"
	"company/internal/merger/mergertest"
)

// delivered is a task whose delivery has been decided on.
func delivered(t *testing.T) (*mergertest.Bundle, *Delivery, *local.Forge) {
	t.Helper()
	return deliveredWith(t, map[string]string{"a.go": "package a\n\nvar a = 1\n"})
}

// deliveredWith is delivered, where the first subtask made these files.
func deliveredWith(t *testing.T, files map[string]string) (*mergertest.Bundle, *Delivery, *local.Forge) {
	t.Helper()
	return deliveredOn(t, nil, files)
}

// deliveredOn is deliveredWith for a project whose base has more files.
func deliveredOn(t *testing.T, base, files map[string]string) (*mergertest.Bundle, *Delivery, *local.Forge) {
	t.Helper()
	b := mergertest.NewOn(t, base)
	b.QueueForMerge(mergertest.One, files)
	b.QueueForMerge(mergertest.Two, map[string]string{"b.go": "package a\n\nvar b = 1\n"})
	first := b.MergeFront(mergertest.One)
	merged, err := b.Project.Mirror.MergeTree(t.Context(), first, b.Task(mergertest.Task).Subtask(mergertest.Two).Head)
	if err != nil {
		t.Fatal(err)
	}
	b.AddVerdict(merged.Tree)
	b.MergeFront(mergertest.Two)
	tk := b.Task(mergertest.Task)
	b.Must(company.RecordGateResult{Task: mergertest.Task,
		GateFinished: company.GateFinished{Head: tk.Head, Onto: tk.Head, Result: b.Green(mergertest.Task, tk.Tree)}})
	run := company.NewRunID(mergertest.Task, "", company.Reviewer, 1)
	fence := b.Claim(run, tk.Head)
	b.Must(company.EndRun{Run: run, Fence: fence, Outcome: company.RunEnded{Status: company.RunSuccess},
		Review: &company.ReviewRecorded{Head: tk.Head, Onto: tk.Head, Verdict: company.Approve}})
	b.Must(company.IntendDelivery{Task: mergertest.Task})
	f := &local.Forge{Office: foldertest.Open(t, t.TempDir()), Dir: "pulls"}
	c, err := New(
		Config{Decider: b, Mirrors: b.Project, Forges: oneForge{f}, Texts: hashes{}, Log: gitops.NewOpLog(io.Discard),
			Evidence: evidence.Checker{Now: time.Now}})
	if err != nil {
		t.Fatal(err)
	}
	return b, c, f
}

// oneForge is the forge of every pull request.
type oneForge struct{ f forge.Forge }

func (o oneForge) ForPullRequest(context.Context, forge.Ref, string) (forge.Forge, error) {
	return o.f, nil
}

// hashes keeps nothing.
type hashes struct{}

func (hashes) PutBlob(_ context.Context, data []byte) (company.Hash, error) {
	return company.HashOf(string(data))
}

func origin(t *testing.T, b *mergertest.Bundle) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "origin.git")
	b.Project.Git("init", "-q", "--bare", "-b", "main", dir)
	b.Project.Git("remote", "add", "origin", dir)
	b.Project.Git("push", "-q", "origin", "main")
	return dir
}
