package image

import (
	"archive/tar"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/lib/shellquote"
)

// A step is announced by the last one of its kind on this machine, whichever process made it, and
// by a range where none is known.
func TestEstimateStep(t *testing.T) {
	dir := t.TempDir()
	for _, x := range []struct {
		took time.Duration
		want string
	}{
		{2*time.Minute + 20*time.Second, " (about 2 minutes: the last one took 2m20s)"},
		{94 * time.Second, " (about 2 minutes: the last one took 1m34s)"},
		{46*time.Second + 700*time.Millisecond, " (about 50 seconds: the last one took 47s)"},
		{3 * time.Second, " (a while)"}, // it came from a cache
	} {
		b := openCache(t, dir)
		b.noteTook(t.Context(), "golang", x.took)
		if got := openCache(t, dir).estimateStep("golang", " (a while)"); got != x.want {
			t.Errorf("after %s: %q", x.took, got)
		}
		if got := b.estimateStep("node", " (a while)"); got != " (a while)" {
			t.Errorf("another step: %q", got)
		}
	}
	for _, damaged := range []string{"", "\x00", "-5m", "soon"} {
		if err := os.WriteFile(filepath.Join(dir, tookFolder, "golang"), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := openCache(t, dir).estimateStep("golang", " (a while)"); got != " (a while)" {
			t.Errorf("of %q: %q", damaged, got)
		}
	}
}

// The build of a root file system is announced with the time of the last one, and leaves its own.
func TestRootfsIsAnnounced(t *testing.T) {
	bin, rootfs := t.TempDir(), filepath.Join(t.TempDir(), "made.tar")
	writeTinyRootfs(t, rootfs)
	script := "#!/bin/sh\nfor a; do case $a in *raw.tar) cp " + shellquote.Quote(rootfs) + " \"$a\";; esac; done\n"
	if err := os.WriteFile(filepath.Join(bin, "mmdebstrap"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	b := openCache(t, t.TempDir())
	var lines []string
	b.progress = func(line string) { lines = append(lines, line) }
	build := func() {
		t.Helper()
		if err := b.buildRootfs(t.Context(), b.baseStep(newBuiltBase()), debianPackages, t.TempDir(),
			filepath.Join(t.TempDir(), "x.tar")); err != nil {
			t.Fatal(err)
		}
	}
	build()
	b.noteTook(t.Context(), rootfsStep, 140*time.Second)
	build()
	want := []string{"building a bookworm base from Debian packages (half a minute to two minutes)",
		"building a bookworm base from Debian packages (about 2 minutes: the last one took 2m20s)"}
	if fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("announced:\n%s", strings.Join(lines, "\n"))
	}
	if now, err := os.ReadFile(filepath.Join(b.dir, tookFolder, rootfsStep)); err != nil || string(now) == "2m20s" {
		t.Errorf("recorded of the newest: %q, %v", now, err)
	}
}

// writeTinyRootfs writes a tar that passes for a root file system.
func writeTinyRootfs(t *testing.T, file string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(f)
	for _, x := range [][2]string{{"etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"}, {"etc/group", "root:x:0:\n"},
		{"usr/bin/sh", "sh"}, {"usr/bin/git", "git"}} {
		if err := w.WriteHeader(
			&tar.Header{Name: x[0], Mode: 0o755, Size: int64(len(x[1])), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(x[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
