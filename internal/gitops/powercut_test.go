package gitops

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/lib/hosttest"
	"company/internal/lib/safedir/foldertest"
)

// mountDisk makes an ext4 in a file and mounts it.
func mountDisk(t *testing.T, file, at string, fresh bool) {
	t.Helper()
	if fresh {
		run(t, "truncate", "-s", "200M", file)
		run(t, "mkfs.ext4", "-q", "-F", file)
	}
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, "mount", "-o", "loop", file, at)
	t.Cleanup(func() { _ = exec.Command("umount", "-l", at).Run() })
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v %s", args, err, out)
	}
}

// What a mirror has when the ledger names it is there after a power cut. The disk is copied when a
// later file, as the ledger's, was synced, which brings names of files there and not what they hold.
func TestMirrorOutlastsAPowerCut(t *testing.T) {
	hosttest.Long(t, "it makes and mounts a disk, which needs root")
	dir := t.TempDir()
	disk, copied := filepath.Join(dir, "disk"), filepath.Join(dir, "copied")
	mountDisk(t, disk, filepath.Join(dir, "at"), true)
	p := newCheckout(t, map[string]string{"a": "a\n"})
	s, err := Open(Config{Root: filepath.Join(dir, "at", "git")})
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Mirror(t.Context(), "project", p)
	if err != nil {
		t.Fatal(err)
	}
	base, err := m.FetchBase(t.Context(), nil, Source{Path: p}, "")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := m.AddFiles(t.Context(), base.OID, map[string][]byte{"b": []byte("b\n")})
	if err != nil {
		t.Fatal(err)
	}
	head, err := m.CommitTree(t.Context(),
		CommitSpec{Tree: tree, Parents: []company.OID{base.OID}, Message: "x", When: time.Unix(1700000000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.UpdateRef(t.Context(), "refs/heads/develop-t1-k3fq", head, ""); err != nil {
		t.Fatal(err)
	}
	ledger, err := os.Create(filepath.Join(dir, "at", "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = ledger.WriteString("merged\n")
	if err := ledger.Sync(); err != nil {
		t.Fatal(err)
	}
	_ = ledger.Close()
	run(t, "cp", "--sparse=always", disk, copied)
	mountDisk(t, copied, filepath.Join(dir, "after"), false)
	after := filepath.Join(dir, "after", strings.TrimPrefix(m.Dir(), filepath.Join(dir, "at")))
	if got, err := gitexectest.TryGit(after, "", "--git-dir=.", "rev-parse", "refs/heads/develop-t1-k3fq"); err != nil ||
		strings.TrimSpace(got) != string(head) {
		t.Errorf("the branch is at %q, %v; want %s", got, err, head)
	}
	if got, err := gitexectest.TryGit(after, "", "--git-dir=.", "fsck", "--full"); err != nil {
		t.Errorf("%v: %s", err, got)
	}
}

// A clone has its files when it has its name, and when its branch has moved.
func TestCloneOutlastsAPowerCut(t *testing.T) {
	hosttest.Long(t, "it makes and mounts a disk, which needs root")
	dir := t.TempDir()
	disk := filepath.Join(dir, "disk")
	mountDisk(t, disk, filepath.Join(dir, "at"), true)
	origin := newCheckout(t, map[string]string{"a.txt": "a\n", "b/c.txt": "c\n"})
	in, cfg := foldertest.Open(t, filepath.Join(dir, "at")), Config{Root: filepath.Join(dir, "git")}
	path := ""
	check := func(name string, want map[string]string) {
		t.Helper()
		path = mustClone(t, cfg, in, "file://"+origin, "")
		later, err := os.Create(filepath.Join(dir, "at", "later"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(later.Sync(), later.Close()); err != nil {
			t.Fatal(err)
		}
		copied, after := filepath.Join(dir, name+".disk"), filepath.Join(dir, name)
		run(t, "cp", "--sparse=always", disk, copied)
		mountDisk(t, copied, after, false)
		there := filepath.Join(after, strings.TrimPrefix(path, filepath.Join(dir, "at")))
		for file, text := range want {
			if got, err := os.ReadFile(filepath.Join(there, file)); err != nil || string(got) != text {
				t.Errorf("%s: %s: %q, %v", name, file, got, err)
			}
		}
		if got, err := gitexectest.TryGit(there, "", "status", "--porcelain"); err != nil || got != "" {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	check("made", map[string]string{"a.txt": "a\n", "b/c.txt": "c\n"})
	commitFiles(t, origin, "main", map[string]string{"d.txt": "d\n"})
	check("moved", map[string]string{"a.txt": "a\n", "d.txt": "d\n"})
}

// Each git command of a store syncs what it writes.
func TestGitSyncsWhatItWrites(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	r, err := b.store.runOK(b.ctx, call{dir: b.mirror.Dir(), args: []string{"config", "--get", "core.fsync"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"committed", "loose-object", "reference"} {
		if !slices.Contains(strings.Split(r.outputText(), ","), part) {
			t.Errorf("%s is not synced: %q", part, r.outputText())
		}
	}
}
