package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops"
)

// salvage takes the work of a run of the bundle's ticket.
func (b *bundle) salvage(r company.Run) (Salvaged, error) {
	b.t.Helper()
	task := &company.Task{ID: "t1", Project: company.Project{ID: "project", Path: b.p.Dir}, Head: b.p.Base,
		Prepared: &company.TaskPrepared{}, Subtasks: []*company.Subtask{
			{ID: "t1-01", Base: b.p.Base, Planned: company.PlannedSubtask{Title: "x"}},
		}}
	s := b.factory.Salvager()
	s.Git, s.Author = b.p.Store, gitops.Person{Name: "Ann", Email: "ann@example.org"} // who commits in the checkout
	return s.TakeWork(b.t.Context(), task, &r)
}

// The work of a run whose holder is gone is what it had pushed, and its checkpoint. Taken again, as after
// a kill between the taking and its record, it is the same.
func TestTakesWorkOfAGoneHolder(t *testing.T) {
	b := setup(t)
	worker := company.Run{ID: run, Role: company.Worker, Subtask: "t1-01", From: b.p.Base}
	if got, err := b.salvage(worker); err != nil || got.Head != "" {
		t.Fatalf("nothing was pushed: %+v, %v", got, err)
	}
	at := b.commit(string(b.p.Base), "pushed.txt", "p\n")
	b.push(at, "refs/heads/agent/t1-01-x")
	b.push(b.commit(at, "wip.txt", "w\n"), gitops.CheckpointRef(run))
	first, err := b.salvage(worker)
	if err != nil || first.Branch != "agent/t1-01-x" ||
		listChanges(first.Changes) != "pushed.txt created 1, wip.txt created 1" ||
		b.read(first.Head, "wip.txt") != "w\n" {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := b.salvage(worker)
	if at, _ := b.p.Mirror.Ref(t.Context(), gitops.ResultRef(run)); err != nil || again.Head != first.Head ||
		at != first.Head {
		t.Errorf("again %+v, %v; the mirror keeps %s", again, err, at)
	}
	for _, role := range []company.Role{company.Merger, company.Reviewer, company.Manager} {
		other := worker
		if other.Role = role; role == company.Manager {
			other.Subtask = ""
		}
		if got, err := b.salvage(other); err != nil || got.Head != "" {
			t.Errorf("of the %s: %+v, %v", role, got, err)
		}
	}
	gone := worker
	gone.ID = "t1-01.9"
	if got, err := b.salvage(gone); err != nil || got.Head != "" {
		t.Errorf("a run that had no container: %+v, %v", got, err)
	}
	if left, err := b.p.Store.HasQuarantine(gone.ID); err != nil || left {
		t.Errorf("a repository was made for it: %v, %v", left, err)
	}
}

// What a run left is as foreign as what it hands in: the checks refuse the same, and a repository that is
// damaged has no work to take.
func TestWorkOfAGoneHolderIsChecked(t *testing.T) {
	worker := company.Run{ID: run, Role: company.Worker, Subtask: "t1-01"}
	for what, spoil := range map[string]func(b *bundle){
		"another author": func(b *bundle) {
			b.p.Git("checkout", "-q", "--detach", string(b.p.Base))
			b.p.Git("commit", "-q", "--allow-empty", "--author", "Eve <eve@example.org>", "-m", "x")
			b.push("HEAD", "refs/heads/agent/t1-01-x")
		},
		"a large file": func(b *bundle) {
			b.push(b.commit(string(b.p.Base), "large.bin", strings.Repeat("x", 11<<20)), gitops.CheckpointRef(run))
		},
		"a submodule": func(b *bundle) {
			b.p.Git("checkout", "-q", "--detach", string(b.p.Base))
			b.p.Git("update-index", "--add", "--cacheinfo", "160000,"+string(b.p.Base)+",sub")
			b.p.Git("commit", "-q", "-m", "[t1-01] x")
			b.push("HEAD", "refs/heads/agent/t1-01-x")
		},
		"a head that is cut": func(b *bundle) {
			b.push(b.commit(string(b.p.Base), "a.txt", "two\n"), "refs/heads/agent/t1-01-x")
			packs, err := filepath.Glob(filepath.Join(b.quarantine.Dir(), "objects", "??", "*"))
			if err != nil || len(packs) == 0 {
				b.t.Fatalf("no loose objects: %v", err)
			}
			for _, file := range packs {
				if err := os.Remove(file); err != nil {
					b.t.Fatal(err)
				}
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			b := setup(t)
			spoil(b)
			at := worker
			at.From = b.p.Base
			if got, err := b.salvage(at); err == nil {
				t.Errorf("taken: %+v", got)
			}
		})
	}
}
