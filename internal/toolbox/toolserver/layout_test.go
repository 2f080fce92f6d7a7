package toolserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/toolbox/toolproto"
)

// bakedAndNext are a bare repository as an image has it, and an origin in which a commit
// follows that changes files in each way that git knows.
func bakedAndNext(t testing.TB) (baked, origin, base, next string) {
	t.Helper()
	origin, _ = newOrigin(t)
	work := filepath.Join(filepath.Dir(origin), "work")
	change := func(script string) string {
		t.Helper()
		gitexectest.Git(t, work, "-c", "alias.x=!set -e; "+script, "x")
		gitexectest.Git(t, work, "add", "-A")
		gitexectest.Git(t, work, "commit", "-q", "-m", "change")
		gitexectest.Git(t, work, "push", "-q", origin, "HEAD:refs/heads/main")
		return gitexectest.Git(t, work, "rev-parse", "HEAD")
	}
	base = change(
		`mkdir -p gone/deep was/dir only/here; echo 1 > gone/deep/file; echo 1 > was/dir/file; echo 1 > wasfile; echo 1 > run.sh; ln -s a.txt link; ln -s sub linkdir; echo 1 > only/here/x; printf '*.txt text eol=crlf\n' > .gitattributes; git update-index --add --cacheinfo 160000,` + strings.Repeat("a", 40) + `,module; mkdir module`)
	baked = filepath.Join(t.TempDir(), "baked.git")
	gitexectest.Git(t, filepath.Dir(baked), "clone", "-q", "--bare", origin, baked)
	next = change(
		`rm -r gone was wasfile link linkdir .gitattributes; mkdir wasfile linkdir; echo 2 > was; echo 2 > wasfile/x; echo 2 > link; echo 2 > linkdir/x; chmod +x run.sh; echo 2 > only/here/y; git rm -q --cached module; rmdir module; echo more >> a.txt; ln -s nowhere new`)
	return baked, origin, base, next
}

// A run finds the workspace that it would have made itself where the tree of the image's commit
// was laid out before: whether it asks for that commit, a later one, a part, or for the
// changes of a checkpoint on top. Files that no commit has changed are not read again.
func TestLaidOutTreeBecomesTheRuns(t *testing.T) {
	baked, origin, base, next := bakedAndNext(t)
	first := newBench(t)
	first.prepare(t, origin, base)
	first.file(t, "a.txt", "changed\n")
	first.file(t, "untracked", "u\n")
	if err := os.Remove(filepath.Join(first.dir, "run.sh")); err != nil {
		t.Fatal(err)
	}
	saved := must[toolproto.CheckpointResult](t)(first.Checkpoint(t.Context(), run)).OID
	for name, change := range map[string]func(*toolproto.PrepareRequest){
		"the same commit": func(*toolproto.PrepareRequest) {},
		"a later commit":  func(r *toolproto.PrepareRequest) { r.BaseOID = next },
		"a part":          func(r *toolproto.PrepareRequest) { r.Paths = []string{"only"} },
		"a part of a later commit": func(r *toolproto.PrepareRequest) {
			r.BaseOID, r.Paths = next, []string{"only", "linkdir"}
		},
		"a checkpoint":         func(r *toolproto.PrepareRequest) { r.Resume = saved },
		"exactly a checkpoint": func(r *toolproto.PrepareRequest) { r.Resume, r.Exact = saved, true },
		"a part of what was sent": func(r *toolproto.PrepareRequest) {
			r.Seeded, r.Paths = &toolproto.Seeded{Refs: map[string]string{"refs/heads/base": base}}, []string{"only"}
		},
		"what was sent": func(r *toolproto.PrepareRequest) {
			r.Seeded, r.BaseOID = &toolproto.Seeded{Refs: map[string]string{"refs/heads/base": next}}, next
		},
	} {
		fresh, ready := newBench(t), newBench(t)
		if got := must[toolproto.BakedResult](t)(ready.LayOut(t.Context(), baked)); got.Commit != base {
			t.Fatalf("%s: %q is laid out, want %q", name, got.Commit, base)
		}
		if ready.content(t, "gone/deep/file") != "1\n" {
			t.Fatalf("%s: the tree does not lie there", name)
		}
		laid := must[os.FileInfo](t)(os.Stat(filepath.Join(ready.dir, "sub/b.txt")))
		if index := must[os.FileInfo](t)(
			os.Stat(filepath.Join(ready.dir, ".git/index"))); index.ModTime().Unix() <= laid.ModTime().Unix() {
			t.Errorf("%s: the index is of %s, and git will read a file of %s again", name, index.ModTime(), laid.ModTime())
		}
		prepare := func(b *bench) toolproto.PrepareResult {
			return b.prepare(t, origin, base, func(r *toolproto.PrepareRequest) {
				r.Baked = baked
				if change(r); r.Seeded != nil {
					if err := b.Seed(t.Context(), seedOf(t, origin)); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
		want, got := prepare(fresh), prepare(ready)
		if got != want {
			t.Errorf("%s: prepared %+v, want %+v", name, got, want)
		}
		if now, err := os.Stat(filepath.Join(ready.dir, "sub/b.txt")); !strings.HasPrefix(name, "a part") &&
			(err != nil || !os.SameFile(laid, now) || !laid.ModTime().Equal(now.ModTime())) {
			t.Errorf("%s: a file that no commit has changed was written anew (%v)", name, err)
		}
		if got, want := ready.look(t), fresh.look(t); got != want {
			t.Errorf("%s: the workspace is\n%s\nwant\n%s", name, got, want)
		}
		for _, args := range [][]string{{"config", "--list", "--local"}, {"ls-files", "-v"}, {"fsck", "--strict"},
			{"log", "--format=%H"}} {
			if got, want := gitexectest.Git(t, ready.dir, args...), gitexectest.Git(t, fresh.dir, args...); got != want {
				t.Errorf("%s: git %s\n%s\nwant\n%s", name, args[0], got, want)
			}
		}
	}
}

// An image without a history has nothing to lay out, a workspace that a run has is let
// alone, and a tree that does not fit leaves an empty workspace.
func TestNothingIsLaidOut(t *testing.T) {
	baked, origin, base, _ := bakedAndNext(t)
	b := newBench(t)
	if got := must[toolproto.BakedResult](t)(b.LayOut(t.Context(), filepath.Join(t.TempDir(), "none"))); got.Commit != "" {
		t.Errorf("%q of an image without a history", got.Commit)
	}
	requireEmpty(t, b.dir)
	packs, err := filepath.Glob(filepath.Join(baked, "objects/pack/*.pack"))
	if err != nil || len(packs) == 0 {
		gitexectest.Git(t, baked, "--git-dir=.", "repack", "-adq")
	}
	blob := gitexectest.Git(t, baked, "--git-dir=.", "rev-parse", base+":only/here/x")
	loose := filepath.Join(baked, "objects", blob[:2], blob[2:])
	if _, err := os.Stat(loose); err != nil {
		gitexectest.Git(t, baked, "-c",
			"alias.x=!mv objects/pack/*.pack p && git unpack-objects -q < p && rm -f p objects/pack/*", "--git-dir=.", "x")
	}
	aside := filepath.Join(t.TempDir(), "aside")
	if err := os.Rename(loose, aside); err != nil {
		t.Fatal(err)
	}
	_, err = b.LayOut(t.Context(), baked)
	requireRefusal(t, err, toolproto.KindGit, "is not laid out")
	requireEmpty(t, b.dir)
	if err := os.Rename(aside, loose); err != nil {
		t.Fatal(err)
	}
	b.prepare(t, origin, base, func(r *toolproto.PrepareRequest) { r.Baked = baked })
	before := b.look(t)
	_, err = b.LayOut(t.Context(), baked)
	requireRefusal(t, err, toolproto.KindArgument, "prepared already")
	if got := b.look(t); got != before {
		t.Errorf("the workspace has become\n%s\nit was\n%s", got, before)
	}
}

func requireEmpty(t testing.TB, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("the workspace has %s (%v)", fmt.Sprint(left), err)
	}
}
