package upkeep

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
	"company/internal/lib/safedir/foldertest"
	"company/internal/office"
)

// Work that no branch holds is never put away for its age: not by the round of
// a serving company, not at a start, not by cleanup without --unmerged.
func TestUnmergedWorkIsKept(t *testing.T) {
	p := gitopstest.New(t, map[string]string{"a.txt": "a\n"})
	ctx := t.Context()
	worked := p.Commit("agent/t1-01-x", map[string]string{"a.txt": "b\n"})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	mirror := p.Mirror.Dir()
	gitIn(t, mirror, "update-ref", "refs/remotes/origin/x", string(worked))

	long := time.Now().AddDate(-1, 0, 0)
	ended := func(id company.TaskID, st company.TaskStatus, subs ...*company.Subtask) *company.Task {
		task := &company.Task{ID: id, Status: st, Ended: long, Project: company.Project{ID: "project", Path: p.Dir},
			Subtasks: subs, Runs: map[company.RunID]*company.Run{}}
		for _, sub := range subs {
			run := company.NewRunID(id, sub.ID, company.Worker, 1)
			task.Runs[run] = &company.Run{ID: run, Role: company.Worker, Subtask: sub.ID, Ended: true, Head: sub.Head}
		}
		return task
	}
	sub := func(id company.SubtaskID, st company.SubtaskStatus, head company.OID) *company.Subtask {
		return &company.Subtask{ID: id, Status: st, Head: head}
	}
	s := company.NewState()
	for _, task := range []*company.Task{
		ended("t1", company.StatusCancelled, sub("t1-01", company.SubtaskCancelled, worked),
			sub("t1-02", company.SubtaskCompleted, worked), sub("t1-03", company.SubtaskCancelled, ""),
			sub("t1-04", company.SubtaskCancelled, "")),
		ended("t2", company.StatusCompleted, sub("t2-01", company.SubtaskCompleted, worked)),
	} {
		s.Tasks[task.ID] = task
	}
	for _, run := range []company.RunID{"t1-01.1", "t1-02.1", "t2-01.1"} {
		must(p.Mirror.UpdateRef(ctx, gitops.ResultRef(run), worked, ""))
	}
	// The repositories of t1-03 (cut with a checkpoint) and t1-04 (cut before
	// anything was done) are all that there is of their runs.
	for _, run := range []company.RunID{"t1-01.1", "t1-03.1", "t1-04.1", "t2-01.1"} {
		q, err := p.Store.Quarantine(ctx, p.Mirror, run, p.Base, nil)
		must(err)
		if run != "t1-04.1" {
			gitIn(t, q.Dir(), "fetch", "-q", mirror, string(worked)+":"+gitops.CheckpointRef(run))
		}
	}
	off := &office.Office{Paths: office.Paths{Git: filepath.Dir(p.Mirror.Dir())}}
	off.GitFolder, off.RunsFolder = foldertest.Open(t, filepath.Dir(p.Mirror.Dir())), foldertest.Open(t, t.TempDir())
	found := func(unmerged bool) (out []string) {
		t.Helper()
		all, err := retentionPolicy{state: s, office: off, before: time.Now(), unmerged: unmerged}.listRepositories(
			ctx, p.Store, "origin")
		must(err)
		for _, l := range all {
			what := l.Kind + " " + l.Name
			if l.Unmerged {
				what += " unmerged"
			}
			out = append(out, what)
		}
		slices.Sort(out)
		return out
	}
	is := func(got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("put away:\n%v\nwant\n%v", got, want)
		}
	}
	// While a branch holds it, nothing is lost with it.
	is(found(false),
		[]string{"repository t1-01.1", "repository t1-04.1", "repository t2-01.1", "result t1-01.1", "result t1-02.1",
			"result t2-01.1"})
	for ref := range strings.FieldsSeq(
		gitIn(t, mirror, "for-each-ref", "--format=%(refname)", "--contains="+string(worked), "refs/remotes/",
			"refs/heads/")) {
		gitIn(t, mirror, "update-ref", "-d", ref)
	}
	is(found(false),
		[]string{"repository t1-01.1", "repository t1-04.1", "repository t2-01.1", "result t1-02.1", "result t2-01.1"})
	is(found(true),
		[]string{"repository t1-01.1", "repository t1-03.1 unmerged", "repository t1-04.1", "repository t2-01.1",
			"result t1-01.1 unmerged", "result t1-02.1", "result t2-01.1"})
}

// gitIn runs git in a repository.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git",
		append([]string{"-c", "safe.directory=*", "-c", "uploadpack.allowAnySHA1InWant=true", "--git-dir", dir}, args...)...).
		CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}
