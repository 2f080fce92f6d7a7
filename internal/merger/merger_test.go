package merger

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/folder/foldertest"
	"company/internal/forge"
	"company/internal/forge/local"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

const (
	task = company.TaskID("t1")
	one  = company.SubtaskID("t1-01")
	two  = company.SubtaskID("t1-02")
)

// bundle is a project with two branches of one wave, on the real core. Gates
// are judged from the cache of verdicts: what is not in it fails the test.
type bundle struct {
	*decidertest.Decider
	t      *testing.T
	p      *gitopstest.Project
	merger *Merger
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{Decider: decidertest.New(t), t: t, p: gitopstest.New(t, map[string]string{
		"a.go": "package a\n", "b.go": "package a\n", "shared.go": "package a\n\nvar x = 0\n",
	})}
	b.merger = &Merger{Desk: b, Mirrors: b.p, Runner: &gates.Runner{}, Author: gitops.Person{Name: "Merger", Email: "m@example.org"}}
	b.Submit("do both", b.p.Dir)
	b.Prepare(task, b.p.Base, company.GateCommand{Name: "test", Command: "true"})
	var subs []company.PlannedSubtask
	for _, name := range []string{"a", "b"} {
		subs = append(subs, company.PlannedSubtask{
			Title: "Change " + name, Description: "Change what " + name + " does, so that everybody is content with it, and show that by a test.",
			AcceptanceCriteria: []string{name + " is changed", "nothing else is"}, WriteSet: []string{name + ".go"}, Effort: company.EffortMedium,
		})
	}
	b.Plan(task, company.Plan{Waves: []company.Wave{{Subtasks: subs}}, Why: "two files"})
	return b
}

// approved brings a subtask to the merge queue with these changes.
func (b *bundle) approved(sub company.SubtaskID, files map[string]string) company.OID {
	b.t.Helper()
	head := b.p.Commit(string(sub), files)
	var changes []company.Change
	for name := range files {
		changes = append(changes, company.Change{Path: name, Action: "modified"})
	}
	b.Work(sub, head, changes...)
	merged, err := b.p.Mirror.MergeTree(b.t.Context(), b.Task(task).Head, head)
	if err != nil {
		b.t.Fatal(err)
	}
	tree := merged.Tree
	if !merged.Clean {
		tree = b.p.Tree(head)
	}
	b.Gate(sub, tree)
	b.Approve(sub)
	return head
}

func (b *bundle) do(what func(context.Context, company.Effect) (company.Command, error), sub company.SubtaskID) company.Command {
	b.t.Helper()
	cmd, err := what(b.t.Context(), company.Effect{Task: task, Subtask: sub})
	if err != nil {
		b.t.Fatal(err)
	}
	return cmd
}

// merge brings the front of the queue to the integration branch.
func (b *bundle) merge(sub company.SubtaskID) company.OID {
	b.t.Helper()
	b.Must(b.do(b.merger.Test, sub))
	merged := b.do(b.merger.Merge, sub).(company.RecordMerge)
	b.Must(merged)
	return merged.Commit
}

func (b *bundle) ref() company.OID {
	b.t.Helper()
	at, err := b.p.Mirror.Ref(b.t.Context(), "refs/heads/develop-t1-"+decidertest.Office)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		b.t.Fatal(err)
	}
	return at
}

// What is merged is the tree that was judged; merging again makes the same
// commit, whether the branch had moved before the crash or not.
func TestMergeTwice(t *testing.T) {
	b := setup(t)
	head := b.approved(one, map[string]string{"a.go": "package a\n\nvar a = 1\n"})
	tested := b.do(b.merger.Test, one).(company.RecordMergeGate)
	if !tested.Result.Passed || !tested.Result.Cached || tested.Overlap || tested.Tree != tested.Result.Tree || tested.Onto != b.p.Base {
		t.Fatalf("%+v", tested)
	}
	if tested.HeadTree != b.p.Tree(head) || tested.HeadTree != tested.Tree {
		t.Errorf("the head's own tree is %s, and not %s, though nothing else was merged", tested.HeadTree, tested.Tree)
	}
	b.Must(tested)
	first := b.do(b.merger.Merge, one).(company.RecordMerge)
	if b.ref() != first.Commit {
		t.Errorf("the branch is at %s, not at %s", b.ref(), first.Commit)
	}
	// Killed after the branch moved, before that was recorded.
	if again := b.do(b.merger.Merge, one).(company.RecordMerge); again != first || b.ref() != first.Commit {
		t.Errorf("again: %+v, not %+v; the branch is at %s", again, first, b.ref())
	}
	// The same, but the commit has another id now: a gpg signature tells the
	// time. What it is made of is the same.
	in := b.Task(task).Intent
	signed, err := b.p.Mirror.CommitTree(t.Context(), gitops.CommitSpec{Tree: in.Tree, Parents: []company.OID{in.Onto, in.Head}, Message: in.Message, When: in.At.Add(time.Hour)})
	if err == nil {
		err = b.p.Mirror.UpdateRef(t.Context(), "refs/heads/develop-t1-"+decidertest.Office, signed, first.Commit)
	}
	if err != nil {
		t.Fatal(err)
	}
	if again := b.do(b.merger.Merge, one).(company.RecordMerge); again.Commit != signed || b.ref() != signed {
		t.Errorf("again: %+v, not %s; the branch is at %s", again, signed, b.ref())
	}
	// Killed after the commit was made, before the branch moved.
	b.p.Git("--git-dir="+b.p.Mirror.Dir(), "update-ref", "-d", "refs/heads/develop-t1-"+decidertest.Office)
	if again := b.do(b.merger.Merge, one).(company.RecordMerge); again != first || b.ref() != first.Commit {
		t.Errorf("again: %+v, not %+v; the branch is at %s", again, first, b.ref())
	}
	commits, err := b.p.Mirror.Log(t.Context(), b.p.Base, first.Commit, 10)
	if err != nil || len(commits) != 2 {
		t.Fatalf("%v, %v", commits, err)
	}
	i := slices.IndexFunc(commits, func(c gitops.Commit) bool { return c.OID == first.Commit })
	c := commits[i]
	if !slices.Equal(c.Parents, []company.OID{b.p.Base, head}) || c.Tree != tested.Tree || c.Subject() != "[t1-01] Merge: Change a" ||
		c.Author.Name != "Merger" || !c.When.Equal(b.Task(task).Intent.At) {
		t.Errorf("%+v", c)
	}
	b.Must(first)
	if cmd := b.do(b.merger.Merge, one); cmd != nil {
		t.Errorf("a third time: %+v", cmd)
	}
	if main, err := b.p.Mirror.Ref(t.Context(), "refs/heads/main"); err == nil {
		t.Errorf("the mirror has a main of its own at %s", main)
	}
}

// known is a desk whose verdicts are those of another task.
type known struct {
	company.Decider
	shows *company.RedGreen
}

func (k known) View() *company.State {
	s := k.Decider.View()
	for key, v := range s.GateResults {
		v.RedGreen = k.shows
		s.GateResults[key] = v
	}
	return s
}

// What a ticket's tests show stays with the tree that they were run on; that of
// another task, which made the same tree, is not this one's.
func TestMergeKeepsWhatTestsShow(t *testing.T) {
	b := setup(t)
	b.approved(one, map[string]string{"a.go": "package a\n\nvar a = 1\n"})
	own, other := &company.RedGreen{Files: 1, Shown: 1}, &company.RedGreen{Files: 9}
	b.merger.Desk = known{b, other}
	gate := b.Task(task).Subtask(one).Gate
	if got := b.do(b.merger.Test, one).(company.RecordMergeGate); got.Result.RedGreen != nil {
		t.Errorf("%+v is another task's", got.Result.RedGreen)
	}
	gate.Result.RedGreen = own
	if got := b.do(b.merger.Test, one).(company.RecordMergeGate); got.Result.RedGreen != own {
		t.Errorf("%+v is not what the ticket's gate found", got.Result.RedGreen)
	}
}

// A branch that somebody else moved is for a person, before anything is
// written.
func TestMovedBranch(t *testing.T) {
	b := setup(t)
	b.approved(one, map[string]string{"a.go": "package a\n\nvar a = 1\n"})
	b.Must(b.do(b.merger.Test, one))
	stray := b.p.Commit("stray", map[string]string{"stray": "x\n"})
	if err := b.p.Mirror.UpdateRef(t.Context(), "refs/heads/develop-t1-"+decidertest.Office, stray, ""); err != nil {
		t.Fatal(err)
	}
	requirePerson(t, b, one)
	if b.ref() != stray {
		t.Errorf("the branch was moved to %s", b.ref())
	}
}

// A branch that is gone although something was merged to it, likewise.
func TestVanishedBranch(t *testing.T) {
	b := setup(t)
	b.approved(one, map[string]string{"a.go": "package a\n\nvar a = 1\n"})
	b.approved(two, map[string]string{"b.go": "package a\n\nvar b = 1\n"})
	first := b.merge(one)
	merged, err := b.p.Mirror.MergeTree(t.Context(), first, b.Task(task).Subtask(two).Head)
	if err != nil {
		t.Fatal(err)
	}
	b.judged(merged.Tree)
	b.Must(b.do(b.merger.Test, two))
	b.p.Git("--git-dir="+b.p.Mirror.Dir(), "update-ref", "-d", "refs/heads/develop-t1-"+decidertest.Office)
	requirePerson(t, b, two)
	if b.ref() != "" {
		t.Errorf("the branch was made anew at %s", b.ref())
	}
}

// judged has the merger's runner find a verdict on the tree.
func (b *bundle) judged(tree company.OID) {
	b.merger.Desk = withVerdict{b.Decider, b.Green(task, tree)}
}

// withVerdict is a desk whose state holds one more verdict.
type withVerdict struct {
	*decidertest.Decider
	v company.GateResult
}

func (d withVerdict) View() *company.State {
	s := d.Decider.View()
	s.GateResults[company.GateKey(d.v.Tree, d.v.GateHash, d.v.Image)] = d.v
	return s
}

func requirePerson(t *testing.T, b *bundle, sub company.SubtaskID) {
	t.Helper()
	cmd, err := b.merger.Merge(t.Context(), company.Effect{Task: task, Subtask: sub})
	var e *company.Error
	if cmd != nil || !errors.As(err, &e) || e.Code != company.EConflict || e.Class != company.HumanRequired || e.Hint == "" {
		t.Errorf("%v, %v", cmd, err)
	}
}

// A verdict of the reviewer stands while the base moves in other files, and
// not when it moves in a file of the diff.
func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		name  string
		other map[string]string
		want  bool
	}{
		{"another file", map[string]string{"b.go": "package a\n\nvar b = 1\n"}, false},
		{"the same file elsewhere", map[string]string{"shared.go": "// About x.\npackage a\n\nvar x = 0\n"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := setup(t)
			b.approved(one, c.other)
			b.approved(two, map[string]string{"shared.go": "package a\n\nvar x = 0\n\nvar y = 1\n"})
			first := b.merge(one)
			merged, err := b.p.Mirror.MergeTree(t.Context(), first, b.Task(task).Subtask(two).Head)
			if err != nil || !merged.Clean {
				t.Fatalf("%+v, %v", merged, err)
			}
			b.judged(merged.Tree)
			tested := b.do(b.merger.Test, two).(company.RecordMergeGate)
			if tested.Overlap != c.want || tested.Onto != first || tested.Tree != merged.Tree || tested.HeadTree == tested.Tree {
				t.Errorf("%+v", tested)
			}
			b.Must(tested)
			if voided := b.Task(task).Subtask(two).Status == company.SubtaskInGate; voided != c.want {
				t.Errorf("the subtask is %s", b.Task(task).Subtask(two).Status)
			}
		})
	}
}

// REV-2: what does not merge is named, and nothing is judged.
func TestConflict(t *testing.T) {
	b := setup(t)
	b.approved(one, map[string]string{"shared.go": "package a\n\nvar x = 1\n"})
	head := b.approved(two, map[string]string{"shared.go": "package a\n\nvar x = 2\n", "b.go": "package a\n\nvar b = 1\n"})
	first := b.merge(one)
	cmd := b.do(b.merger.Test, two)
	got, ok := cmd.(company.ReportConflict)
	if !ok || got.Head != head || got.Onto != first || !slices.Equal(got.Paths, []string{"shared.go"}) {
		t.Fatalf("%+v", cmd)
	}
	b.Must(got)
	sub := b.Task(task).Subtask(two)
	if text := conflictBrief(b.Task(task), sub); !strings.Contains(text, "- shared.go\n") || !strings.Contains(text, "This side: t1-02 Change b\n"+sub.Planned.Description) ||
		!strings.Contains(text, "Merged before: t1-01 Change a") {
		t.Errorf("%s", text)
	}
}

// A resolution is a merge of exactly both sides without markers left.
func TestCheckResolution(t *testing.T) {
	b := setup(t)
	ours := b.p.Commit("ours", map[string]string{"shared.go": "package a\n\nvar x = 1\n"})
	theirs := b.p.Commit("theirs", map[string]string{"shared.go": "package a\n\nvar x = 2\n"})
	resolve := func(branch, text string, second company.OID) company.OID {
		b.p.Git("switch", "-q", "-c", branch, string(ours))
		b.p.Write(map[string]string{"shared.go": text})
		b.p.Git("add", "-A")
		tree := b.p.Git("write-tree")
		args := []string{"commit-tree", "-m", branch, "-p", string(ours)}
		if second != "" {
			args = append(args, "-p", string(second))
		}
		b.p.Git("reset", "-q", "--hard", b.p.Git(append(args, tree)...))
		b.p.Git("switch", "-q", "main")
		return b.p.Fetch(branch)
	}
	sub := &company.Subtask{Head: ours, Conflict: &company.ConflictReported{Head: ours, Onto: theirs, Paths: []string{"shared.go"}}}
	for _, c := range []struct {
		name, text string
		second     company.OID
		refused    string
	}{
		{"both", "package a\n\nvar x = 3\n", theirs, ""},
		{"deleted", "", theirs, ""},
		{"markers in the middle of a line", "package a\n\nvar x = `a <<<<<<< b`\n", theirs, ""},
		{"markers", "package a\n\n<<<<<<< HEAD\nvar x = 1\n=======\nvar x = 2\n>>>>>>> develop\n", theirs, "markers are left in shared.go"},
		{"half of the markers", "package a\n\nvar x = 1\n>>>>>>> develop\n", theirs, "markers are left in shared.go"},
		{"one side only", "package a\n\nvar x = 1\n\nvar y = 2\n", "", "does not hold " + theirs.Short()},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := company.RunEnded{Status: company.RunSuccess, Head: resolve(strings.ReplaceAll(c.name, " ", "-"), c.text, c.second)}
			if err := checkResolution(t.Context(), b.p.Mirror, sub, &out); err != nil {
				t.Fatal(err)
			}
			switch {
			case c.refused == "" && (out.Status != company.RunSuccess || out.Head == "" || out.Error != ""):
				t.Errorf("refused: %+v", out)
			case c.refused != "" && (out.Status != company.RunError || out.Head != "" || out.Code != company.EConflict || !strings.Contains(out.Error, c.refused)):
				t.Errorf("%+v, want a refusal that says %q", out, c.refused)
			}
		})
	}
}

// delivered is a task whose delivery has been decided on.
func delivered(t *testing.T) (*bundle, *Delivery, *local.Forge) {
	t.Helper()
	return deliveredWith(t, map[string]string{"a.go": "package a\n\nvar a = 1\n"})
}

// deliveredWith is delivered, where the first subtask made these files.
func deliveredWith(t *testing.T, files map[string]string) (*bundle, *Delivery, *local.Forge) {
	t.Helper()
	b := setup(t)
	b.approved(one, files)
	b.approved(two, map[string]string{"b.go": "package a\n\nvar b = 1\n"})
	first := b.merge(one)
	merged, err := b.p.Mirror.MergeTree(t.Context(), first, b.Task(task).Subtask(two).Head)
	if err != nil {
		t.Fatal(err)
	}
	b.judged(merged.Tree)
	b.merge(two)
	tk := b.Task(task)
	b.Must(company.RecordGateResult{Task: task, GateFinished: company.GateFinished{Head: tk.Head, Onto: tk.Head, Result: b.Green(task, tk.Tree)}})
	run := company.NewRunID(task, "", company.Reviewer, 1)
	fence := b.Claim(run, tk.Head)
	b.Must(company.EndRun{Run: run, Fence: fence, Outcome: company.RunEnded{Status: company.RunSuccess},
		Review: &company.ReviewRecorded{Head: tk.Head, Onto: tk.Head, Verdict: company.Approve}})
	b.Must(company.IntendDelivery{Task: task})
	f := &local.Forge{Office: foldertest.Open(t, t.TempDir()), Dir: "pulls"}
	return b, &Delivery{Desk: b, Mirrors: b.p, Forge: func(context.Context, forge.Ref, string) (forge.Forge, error) { return f, nil }, Keep: func(_ context.Context, text string) (company.Hash, error) {
		return company.HashOf(text)
	}}, f
}

func origin(t *testing.T, b *bundle) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "origin.git")
	b.p.Git("init", "-q", "--bare", "-b", "main", dir)
	b.p.Git("remote", "add", "origin", dir)
	b.p.Git("push", "-q", "origin", "main")
	return dir
}

// Delivering again pushes nothing new and finds the same pull request.
func TestDeliverTwice(t *testing.T) {
	b, c, f := delivered(t)
	dir := origin(t, b)
	first := b.do(c.Do, "").(company.RecordDelivery)
	again := b.do(c.Do, "").(company.RecordDelivery)
	if first != again || first.Number != 1 || first.Head != b.Task(task).Head || first.Body == "" {
		t.Errorf("%+v, then %+v", first, again)
	}
	if refs := b.p.Git("--git-dir="+dir, "for-each-ref", "--format=%(refname) %(objectname)"); refs !=
		"refs/heads/develop-t1-"+decidertest.Office+" "+string(first.Head)+"\nrefs/heads/main "+string(b.p.Base) {
		t.Errorf("the origin has\n%s", refs)
	}
	rec, err := f.ReadRecord(1)
	if err != nil || rec.Head != first.Head || rec.Base != "main" || rec.Task != task || rec.Office != decidertest.Office {
		t.Errorf("%+v, %v", rec, err)
	}
	if files, err := filepath.Glob(filepath.Join(filepath.Dir(f.FullPagePath(1)), "*")); err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
	b.Must(first)
	if tk := b.Task(task); tk.Status != company.StatusCompleted || tk.PR.Number != 1 {
		t.Errorf("%+v", tk.PR)
	}
}

// Without a remote the pull request is there all the same.
func TestDeliverWithoutRemote(t *testing.T) {
	b, c, f := delivered(t)
	got := b.do(c.Do, "").(company.RecordDelivery)
	if rec, err := f.ReadRecord(got.Number); err != nil || rec.Head != b.Task(task).Head {
		t.Errorf("%+v, %v", rec, err)
	}
}

// A branch of that name that is not ours is left alone, and a person is asked;
// no pull request is opened for what was not pushed.
func TestDeliverTaken(t *testing.T) {
	b, c, f := delivered(t)
	dir := origin(t, b)
	b.p.Git("push", "-q", "origin", "main:refs/heads/develop-t1-"+decidertest.Office)
	cmd, err := c.Do(t.Context(), company.Effect{Task: task})
	var e *company.Error
	if cmd != nil || !errors.As(err, &e) || e.Code != company.EConflict || e.Class != company.HumanRequired || e.Hint == "" {
		t.Errorf("%v, %v", cmd, err)
	}
	if at := b.p.Git("--git-dir="+dir, "rev-parse", "develop-t1-"+decidertest.Office); at != string(b.p.Base) {
		t.Errorf("the branch was moved to %s", at)
	}
	if _, err := f.ReadRecord(1); err == nil {
		t.Error("a pull request without its branch")
	}
}
