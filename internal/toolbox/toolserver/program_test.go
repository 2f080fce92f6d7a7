package toolserver

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/toolbox/toolproto"
)

// PRC-7: a program gets its input and the end of it, and what it prints comes whole, with its exit.
func TestProgramRuns(t *testing.T) {
	b := newBench(t)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	b.file(t, "agent.sh", "cat; pwd; echo $A; echo warned >&2; seq 100000; exit 3\n")
	var out, errs strings.Builder
	exit, err := b.RunProgram(t.Context(), toolproto.ProgramRequest{Argv: []string{sh, "agent.sh"},
		Env: map[string]string{"A": "b"}, Stdin: []byte("{}\n")}, func(o toolproto.ProgramOutput) {
		if o.Stderr {
			errs.Write(o.Data)
		} else {
			out.Write(o.Data)
		}
	})
	text := out.String()
	if err != nil || exit.ExitCode != 3 || errs.String() != "warned\n" || !strings.HasPrefix(text,
		"{}\n"+b.dir+"\nb\n1\n") ||
		!strings.HasSuffix(text, "\n99999\n100000\n") {
		t.Errorf("%+v, %v, %d bytes, %q", exit, err, len(text), errs.String())
	}
	for name, argv := range map[string][]string{"no path": {"sh"}, "nothing": nil, "missing": {filepath.Join(b.dir, "x")},
		"a folder": {b.dir}, "not executable": {filepath.Join(b.dir, "agent.sh")}, "a NUL": {sh, "a\x00b"}} {
		_, err := b.RunProgram(t.Context(), toolproto.ProgramRequest{Argv: argv}, nil)
		if refusal := (*toolproto.Refusal)(nil); !errors.As(err, &refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A program whose run ends is killed with all that it started, also while nobody reads what it prints.
func TestProgramIsKilled(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Grace = 10 * time.Millisecond })
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	b.file(t, "agent.sh",
		"trap '' TERM\nsh -c 'echo $$ >child; exec sleep 1000' &\necho $$ >pid\nwhile :; do seq 1000; done\n")
	ctx, cancel := context.WithCancel(t.Context())
	_, err = b.RunProgram(ctx, toolproto.ProgramRequest{Argv: []string{sh, filepath.Join(b.dir, "agent.sh")}},
		func(toolproto.ProgramOutput) {
			waitFor(t, "both to begin", func() bool {
				_, err := os.Stat(filepath.Join(b.dir, "child"))
				_, other := os.Stat(filepath.Join(b.dir, "pid"))
				return err == nil && other == nil
			})
			cancel()
		})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, file := range []string{"pid", "child"} {
		pid := b.pid(t, file)
		waitFor(t, file+" to die", func() bool { return gone(pid) })
	}
}

// Files of the home folder are read, and written before a program starts. Links are neither followed nor made, and more
// than the limit is refused.
func TestFilesOfTheHome(t *testing.T) {
	b := newBench(t)
	home := lookupVar(b.server.env, "HOME")
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	start := func(script string, files []byte) string {
		var out strings.Builder
		_, err := b.RunProgram(t.Context(), toolproto.ProgramRequest{Argv: []string{sh, "-c", script}, Home: files},
			func(o toolproto.ProgramOutput) { out.Write(o.Data) })
		if err != nil {
			out.WriteString(err.Error())
		}
		return out.String()
	}
	start("cd && mkdir -p .a/b .c && echo one >.a/b/one && ln -s /etc/passwd .a/link && mkfifo .a/pipe && "+
		"ln -s /etc .d && echo two >.c/two", nil)
	files, err := b.ReadHome(t.Context(), []string{".a", ".d", ".missing"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(home, ".a")); err != nil {
		t.Fatal(err)
	}
	if got := start("cd && find .a .c .d -type f | sort && cat .a/b/one", files); got != ".a/b/one\n.c/two\none\n" {
		t.Errorf("%q", got)
	}
	for name, bad := range map[string][]byte{"no archive": []byte("x"), "a link": packFiles(t, "l", tar.TypeSymlink),
		"outside": packFiles(t, "../x", tar.TypeReg), "through a link": packFiles(t, ".d/x", tar.TypeReg)} {
		if got := start("echo began", bad); !strings.Contains(got, "the files of a home folder: ") {
			t.Errorf("%s: %q", name, got)
		}
	}
	start("cd && head -c 11000000 /dev/zero >.c/zeros", nil)
	_, err = b.ReadHome(t.Context(), []string{".c"})
	if refusal := (*toolproto.Refusal)(nil); !errors.As(err, &refusal) || refusal.Kind != toolproto.KindTooLarge {
		t.Errorf("%v", err)
	}
}

// packFiles returns a compressed tar with one entry.
func packFiles(t *testing.T, name string, kind byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	err := archive.WriteHeader(&tar.Header{Name: name, Typeflag: kind, Linkname: "/etc/passwd"})
	if err = errors.Join(err, archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
