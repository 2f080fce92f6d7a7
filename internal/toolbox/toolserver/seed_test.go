package toolserver

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/toolbox/toolproto"
)

// seedOf are the packs of a repository.
func seedOf(t testing.TB, repo string) (files []toolproto.SeedFile) {
	t.Helper()
	gitexectest.Git(t, repo, "--git-dir=.", "repack", "-adq")
	paths, err := filepath.Glob(filepath.Join(repo, "objects/pack/pack-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if !toolproto.IsSeedName(filepath.Base(path)) {
			continue
		}
		files = append(files, bytesOf(filepath.Base(path), must[[]byte](t)(os.ReadFile(path))))
	}
	if len(files) != 2 {
		t.Fatalf("%d packs in %v", len(files), paths)
	}
	return files
}

func bytesOf(name string, data []byte) toolproto.SeedFile {
	return toolproto.SeedFile{Name: name, Open: func() (io.ReadCloser, int64, error) {
		return io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
	}}
}

// A clone that the host sent is the clone that git would have fetched, and costs
// one process of git.
func TestPrepareFromASeed(t *testing.T) {
	origin, base := newOrigin(t)
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "git"),
		[]byte("#!/bin/sh\necho \"$1\" >> "+bin+"/calls\nexec "+real+" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	seeded := &toolproto.Seeded{Refs: map[string]string{"refs/heads/base": base, "refs/company/taken/" + base: base}}
	b := newBench(t, func(c *Config) { c.Env[0] = "PATH=" + bin + ":" + os.Getenv("PATH") })
	if err := b.Seed(t.Context(), seedOf(t, origin)); err != nil {
		t.Fatal(err)
	}
	p := b.prepare(t, "http://127.0.0.1:9/nothing.git", base, func(r *toolproto.PrepareRequest) {
		r.Seeded, r.AuthorName = seeded, `A "quoted\" name`
	})
	if calls := must[[]byte](t)(os.ReadFile(filepath.Join(bin, "calls"))); string(calls) != "checkout\n" {
		t.Errorf("git was started for %q", calls)
	}
	fetched := newBench(t)
	gitexectest.Git(t, origin, "--git-dir=.", "update-ref", "refs/heads/base", base)
	gitexectest.Git(t, origin, "--git-dir=.", "update-ref", "refs/company/taken/"+base, base)
	gitexectest.Git(t, origin, "--git-dir=.", "update-ref", "-d", "refs/heads/main")
	fetched.prepare(t, origin, base, func(r *toolproto.PrepareRequest) { r.AuthorName = `A "quoted\" name` })
	if p.Head != base || p.Branch != branch || p.Dirty {
		t.Errorf("%+v", p)
	}
	if got, want := b.look(t), fetched.look(t); got != want {
		t.Errorf("the clone is\n%s\nfetched it is\n%s", got, want)
	}
	for _, args := range [][]string{{"for-each-ref", "--format=%(refname) %(objectname)"}, {"config", "--list", "--local"},
		{"fsck", "--strict"}, {"log", "-1", "--format=%H"}} {
		got, want := gitexectest.Git(t, b.dir, args...), gitexectest.Git(t, fetched.dir, args...)
		if got = strings.ReplaceAll(got, "http://127.0.0.1:9/nothing.git", origin); got != want {
			t.Errorf("git %s\n%s\nfetched\n%s", args[0], got, want)
		}
	}
	if none := must[toolproto.CheckpointResult](t)(b.Checkpoint(t.Context(), run)); none.Changed || none.OID != "" ||
		none.Tree == "" {
		t.Errorf("nothing has changed: %+v", none)
	}
	if err := b.Seed(t.Context(), seedOf(t, origin)); err == nil || !strings.Contains(err.Error(), "prepared already") {
		t.Errorf("a second seed: %v", err)
	}
}

// What a seed lacks is fetched when the host says so; a base that is nowhere is
// refused by name.
func TestPrepareFromAPartOfTheHistory(t *testing.T) {
	origin, base := newOrigin(t)
	seed := seedOf(t, origin)
	work := filepath.Join(filepath.Dir(origin), "work")
	gitexectest.Git(t, work, "commit", "-q", "--allow-empty", "-m", "later")
	gitexectest.Git(t, work, "push", "-q", origin, "HEAD:refs/heads/main")
	later := gitexectest.Git(t, work, "rev-parse", "HEAD")
	b := newBench(t)
	if err := b.Seed(t.Context(), seed); err != nil {
		t.Fatal(err)
	}
	if p := b.prepare(t, origin, later, func(r *toolproto.PrepareRequest) {
		r.Seeded = &toolproto.Seeded{Refs: map[string]string{"refs/heads/base": base}, Fetch: true}
	}); p.Head != later {
		t.Errorf("%+v", p)
	}
	next := newBench(t)
	_, err := next.Prepare(t.Context(), toolproto.PrepareRequest{
		CloneURL: origin, BaseOID: later, Branch: branch, AuthorName: "a", AuthorEmail: "b",
		Seeded: &toolproto.Seeded{Refs: map[string]string{"refs/heads/base": base}},
	})
	requireRefusal(t, err, toolproto.KindGit, "not in what origin serves")
}

// A seed is packs and nothing else.
func TestSeedsAreRefused(t *testing.T) {
	b := newBench(t)
	name := "pack-" + strings.Repeat("a", 40)
	for _, bad := range []string{"../x", "config", name + ".rev", "/etc/passwd", "x/" + name + ".pack",
		name + ".pack/../../x"} {
		requireRefusal(t, b.Seed(t.Context(), []toolproto.SeedFile{bytesOf(bad, []byte("x"))}), toolproto.KindArgument,
			"is no pack")
	}
	good := []toolproto.SeedFile{bytesOf(name+".pack", []byte("x"))}
	if err := b.Seed(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	if err := b.Seed(t.Context(), good); err == nil {
		t.Error("a pack was written twice")
	}
	origin, base := newOrigin(t)
	for _, refs := range []map[string]string{{"refs/heads/x": "short"},
		{"refs/heads/x\n" + base + " refs/heads/y": base}} {
		_, err := newBench(t).Prepare(
			t.Context(),
			toolproto.PrepareRequest{CloneURL: origin, BaseOID: base, Branch: branch, AuthorName: "a", AuthorEmail: "b",
				Seeded: &toolproto.Seeded{Refs: refs}})
		requireRefusal(t, err, toolproto.KindArgument, "is no reference")
	}
}

// The toolbox names the history that the image has, whichever way git wrote it down.
func TestBakedIsNamed(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	ask := func(path string) string {
		t.Helper()
		return must[toolproto.BakedResult](t)(b.Baked(t.Context(), path)).Commit
	}
	if got := ask(origin); got != base {
		t.Errorf("packed: %q", got)
	}
	gitexectest.Git(t, origin, "--git-dir=.", "update-ref", "-d", "refs/heads/main")
	gitexectest.Git(t, origin, "--git-dir=.", "update-ref", "refs/heads/main", base)
	if got := ask(origin); got != base {
		t.Errorf("loose: %q", got)
	}
	if got := ask(filepath.Join(t.TempDir(), "absent")); got != "" {
		t.Errorf("absent: %q", got)
	}
}
