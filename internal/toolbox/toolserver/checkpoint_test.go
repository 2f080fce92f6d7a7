package toolserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/toolbox/toolproto"
)

// look is all of a workspace that a checkpoint promises to keep.
func (b *bench) look(t testing.TB) string {
	t.Helper()
	git := func(args ...string) string {
		t.Helper()
		return strings.Join(args, " ") + ":\n" + gitexectest.Git(t, b.dir, args...) + "\n"
	}
	out := git("status", "--porcelain=v2", "--branch", "--untracked-files=all") +
		git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags", "refs/stash") +
		git("ls-files", "--stage") + git("stash", "list") + git("diff", "--no-ext-diff")
	for _, name := range []string{"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE"} {
		data, _ := os.ReadFile(filepath.Join(b.dir, ".git", name))
		out += fmt.Sprintf("%s: %q\n", name, data)
	}
	err := filepath.WalkDir(b.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(b.dir, p)
		if d.IsDir() {
			out += rel + "/\n"
			return nil
		}
		data := ""
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			data = string(text)
		} else {
			data, _ = os.Readlink(p)
		}
		out += fmt.Sprintf("%s %v %q\n", rel, info.Mode(), data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What a checkpoint says that it holds exactly is there in the next container:
// files, empty folders, index, branches, stash, a merge that is half done.
func TestCheckpointIsExact(t *testing.T) {
	other := `git checkout -q -b other && echo other > a.txt && git commit -qam other && git checkout -q ` + branch
	conflict := other + ` && echo mine > a.txt && git commit -qam mine && ! git merge -q other`
	for name, command := range map[string]string{
		"nothing":            `true`,
		"files":              `echo new > new.txt; echo more >> a.txt; rm sub/b.txt; chmod +x a.txt; ln -s a.txt link`,
		"a name":             `mkdir -p 'd e/ü'; echo x > 'd e/ü/tab	and "quote"'`,
		"empty folders":      `mkdir -p deep/er/est sub/empty ignored/y; touch deep/file; rmdir ignored/y ignored; mkdir -p sub2/a; rm sub/b.txt`,
		"staged":             `echo staged > s.txt; git add s.txt; echo later > s.txt; git rm -q --cached sub/b.txt; git add -A a.txt`,
		"staged, gone":       `echo staged > s.txt; git add s.txt; rm s.txt`,
		"forced":             `echo kept > kept.log; git add -f kept.log`,
		"a commit":           `echo c > c.txt; git add c.txt; git commit -qm c; echo d > d.txt`,
		"elsewhere":          other + `; git checkout -q other; echo there > t.txt`,
		"detached":           other + `; git checkout -q --detach other; echo there > t.txt`,
		"its branch is gone": `git checkout -q -b other; git branch -D ` + branch,
		"back":               `echo c > c.txt; git add c.txt; git commit -qm c; git push -q origin HEAD; git reset -q --soft HEAD~1`,
		"a tag":              `git tag light; echo c > c.txt; git add c.txt; git commit -qm c; git tag -a -m heavy heavy; git tag -d heavy; git reset -q --hard light`,
		"stashed":            `echo one > a.txt; git stash -q; echo two > a.txt; git stash push -q -m second; echo three > a.txt`,
		"a conflict":         conflict,
		"half resolved":      conflict + `; echo both > a.txt; echo new > n.txt; git add n.txt`,
		"resolved":           conflict + `; echo both > a.txt; git add a.txt`,
		"merged, not yet":    other + ` && git merge -q --no-ff --no-commit other`,
		"deleted by them": `git checkout -q -b other && git rm -q a.txt && git commit -qm gone && git checkout -q ` +
			branch + ` && echo mine > a.txt && git commit -qam mine && ! git merge -q other`,
	} {
		if testing.Short() && len(name)%3 != 0 { // a sample
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin, base := newOrigin(t)
			b := newBench(t)
			b.prepare(t, origin, base, func(r *toolproto.PrepareRequest) { r.Exact = true })
			if r := b.run(t, toolproto.RunRequest{Command: command}); r.ExitCode != 0 {
				t.Fatal(r.Text())
			}
			want := b.look(t)
			c := must[toolproto.CheckpointResult](t)(b.Checkpoint(t.Context(), run))
			if !c.Exact || (c.OID == "") != (command == "true") {
				t.Fatalf("%+v", c)
			}
			if got := b.look(t); got != want {
				t.Errorf("the checkpoint moved something:\n%s\nwas\n%s", got, want)
			}
			next := newBench(t)
			p := next.prepare(t, origin, base,
				func(r *toolproto.PrepareRequest) { r.Exact, r.Resume, r.Holder = true, c.OID, 1 })
			if got := next.look(t); got != want {
				t.Errorf("restored is\n%s\nwas\n%s", got, want)
			}
			if again := must[toolproto.CheckpointResult](t)(next.Checkpoint(t.Context(), run)); again.Changed ||
				again.OID != c.OID || !again.Exact {
				t.Errorf("a restored workspace is the checkpoint's: %+v, %+v", again, p)
			}
		})
	}
}

// What a checkpoint cannot hold it says.
func TestCheckpointThatIsNotExact(t *testing.T) {
	pick := `git checkout -q -b other && echo other > a.txt && git commit -qam other && git checkout -q ` + branch +
		` && echo mine > a.txt && git commit -qam mine && ! git cherry-pick other`
	for name, command := range map[string]string{
		"a pick":   pick,
		"a rebase": pick + `; git cherry-pick --abort; ! git rebase -q other`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin, base := newOrigin(t)
			b := newBench(t)
			b.prepare(t, origin, base)
			if r := b.run(t, toolproto.RunRequest{Command: command}); r.ExitCode != 0 {
				t.Fatal(r.Text())
			}
			c := must[toolproto.CheckpointResult](t)(b.Checkpoint(t.Context(), run))
			if c.Exact || c.Why == "" || gitexectest.Git(t, origin, "rev-parse", "refs/company/checkpoint/"+run) != c.OID {
				t.Fatalf("%+v", c)
			}
			if again := must[toolproto.CheckpointResult](t)(b.Checkpoint(t.Context(), run)); again.Exact {
				t.Fatalf("%+v", again)
			}
		})
	}
}

// A branch that was pushed after the checkpoint does not count when the journal
// names the checkpoint.
func TestExactGoesBack(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	b.file(t, "work.txt", "w\n")
	c := must[toolproto.CheckpointResult](t)(b.Checkpoint(t.Context(), run))
	b.commit(t, "later")
	for resume, files := range map[string]int{c.OID: 1, "": 0} {
		next := newBench(t)
		p := next.prepare(t, origin, base, func(r *toolproto.PrepareRequest) { r.Exact, r.Resume = true, resume })
		s := must[toolproto.GitStatusResult](t)(next.GitStatus(t.Context()))
		if p.Head != base || s.Head != base || len(s.Files) != files {
			t.Errorf("from %q: %+v %+v", resume, p, s)
		}
	}
	_, err := newBench(t).Prepare(
		t.Context(),
		toolproto.PrepareRequest{CloneURL: origin, BaseOID: base, Branch: branch, AuthorName: "a", AuthorEmail: "b",
			Exact: true, Resume: base})
	requireRefusal(t, err, toolproto.KindGit, "not a checkpoint")
}

// The same commit made again at its time has its id.
func TestCommitOfATime(t *testing.T) {
	origin, base := newOrigin(t)
	var first string
	for range 2 {
		b := newBench(t)
		b.prepare(t, origin, base, func(r *toolproto.PrepareRequest) { r.Exact = true })
		b.file(t, "n", "n")
		c := must[toolproto.GitCommitResult](t)(
			b.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "m", When: 1_600_000_000}))
		if first == "" {
			first = c.Commit
		}
		if at := gitexectest.Git(t, origin, "log", "-1", "--format=%at %ct", branch); c.Commit != first ||
			at != "1600000000 1600000000" {
			t.Errorf("%s at %s, the first was %s", c.Commit, at, first)
		}
	}
}

// What the agent knew in another container it knows here; an id of a process
// there names none here.
func TestRecallAndIds(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	seen := must[toolproto.ReadFileResult](t)(b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "./a.txt"}))
	old := b.run(t, toolproto.RunRequest{Command: "true"})

	next := newBench(t)
	next.prepare(t, origin, base, func(r *toolproto.PrepareRequest) { r.Exact, r.Holder = true, 1 })
	write := func(path string) error {
		_, err := next.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: path, Content: []byte("new\n")})
		return err
	}
	requireRefusal(t, write("a.txt"), toolproto.KindStale, "not read yet")
	if err := next.Recall(t.Context(),
		map[string]string{seen.Path: seen.Digest, "sub/b.txt": strings.Repeat("0", 64)}); err != nil {
		t.Fatal(err)
	}
	if err := write("a.txt"); err != nil {
		t.Error(err)
	}
	requireRefusal(t, write("sub/b.txt"), toolproto.KindStale, "has changed since")
	requireRefusal(t, next.Recall(t.Context(), map[string]string{"x": "zz"}), toolproto.KindArgument, "digest")
	if now := next.run(t, toolproto.RunRequest{Command: "true"}); now.ProcessID == old.ProcessID {
		t.Errorf("%s is used twice", now.ProcessID)
	}
	_, err := next.CheckProcess(t.Context(), old.ProcessID)
	requireRefusal(t, err, toolproto.KindNotFound, old.ProcessID)
}

func BenchmarkCheckpoint(b *testing.B) {
	origin, base := newOrigin(b)
	w := newBench(b)
	w.prepare(b, origin, base)
	for i := 0; b.Loop(); i++ {
		w.file(b, "new.txt", fmt.Sprint(i, time.Now()))
		must[toolproto.CheckpointResult](b)(w.Checkpoint(b.Context(), run))
	}
}
