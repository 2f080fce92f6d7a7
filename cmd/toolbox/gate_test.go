//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
	"company/internal/toolbox/toolserver"
)

// archive makes a tar whose files say their names.
func archive(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		content := []byte("content of " + h.Name)
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(content))
		}
		if h.Mode == 0 && h.Typeflag != tar.TypeXGlobalHeader {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			_, _ = w.Write(content)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gate(t *testing.T, dir string, stdin []byte, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self(t), append([]string{"gate", "--"}, args...)...)
	cmd.Env = environ(dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestGateRunsTheCommandOnTheTree(t *testing.T) {
	tree := archive(t,
		tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "x"}},
		tar.Header{Typeflag: tar.TypeDir, Name: "d/", Mode: 0o755},
		tar.Header{Typeflag: tar.TypeReg, Name: "d/f"},
		tar.Header{Typeflag: tar.TypeReg, Name: "deep/er/run.sh", Mode: 0o755},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "deep/link", Linkname: "../d/f"},
		// A project may have such links; they are data.
		tar.Header{Typeflag: tar.TypeSymlink, Name: "deep/absolute", Linkname: "/nowhere"},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "deep/out", Linkname: "../../../x"},
	)
	tree = append(tree, make([]byte, 1<<20)...) // read to the end, whatever pads it
	for want := range 4 {
		dir := t.TempDir()
		code, out, errs := gate(t, dir, tree, "sh", "-c",
			fmt.Sprintf(
				`pwd; cat deep/link; test "$(readlink deep/absolute deep/out | tr '\n' ' ')" = "/nowhere ../../../x " && test -x deep/er/run.sh && echo; cat; echo $GOPROXY $CI; exit %d`, want))
		if code != want || out != filepath.Join(dir, "repo")+"\ncontent of d/f\noff 1\n" {
			t.Fatalf("exit code %d, %q, %q", code, out, errs)
		}
		if errs != toolproto.CommandBegins {
			t.Fatalf("it does not say that the command begins: %q", errs)
		}
	}
	if code, _, errs := gate(t, t.TempDir(), tree, "sh", "-c", "echo mine >&2; exit 125"); code != 125 ||
		errs != toolproto.CommandBegins+"mine\n" {
		t.Fatalf("exit code %d, %q", code, errs)
	}
	if code, _, errs := gate(t, t.TempDir(), tree, "no-such-command"); code != toolserver.ExitNotFound ||
		!strings.HasPrefix(errs, toolproto.CommandBegins) {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	if code, _, errs := gate(t, t.TempDir(), tree, "/etc/passwd"); code != toolserver.ExitNoExec {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	if code, _, _ := gate(t, t.TempDir(), tree); code != toolserver.ExitUsage {
		t.Fatalf("exit code %d", code)
	}
}

// T17: an archive writes below the workspace or not at all, and the command
// does not run on a tree that is not whole.
func TestGateRefusesBadArchives(t *testing.T) {
	good := tar.Header{Typeflag: tar.TypeReg, Name: "ok"}
	for name, bad := range map[string][]byte{
		"dots":        archive(t, good, tar.Header{Typeflag: tar.TypeReg, Name: "../canary"}),
		"hidden dots": archive(t, good, tar.Header{Typeflag: tar.TypeReg, Name: "a/../../canary"}),
		"absolute":    archive(t, good, tar.Header{Typeflag: tar.TypeReg, Name: "/tmp/canary"}),
		"through symlink out": archive(t, good, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: ".."},
			tar.Header{Typeflag: tar.TypeReg, Name: "l/canary"}),
		"through symlink absolute": archive(t, good, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/tmp"},
			tar.Header{Typeflag: tar.TypeReg, Name: "l/canary"}),
		"folder through symlink": archive(t, good, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/tmp"},
			tar.Header{Typeflag: tar.TypeDir, Name: "l/canary/"}),
		"through symlink": archive(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "ok"}, good,
			tar.Header{Typeflag: tar.TypeReg, Name: "l"}),
		"hard link": archive(t, good, tar.Header{Typeflag: tar.TypeLink, Name: "h", Linkname: "ok"}),
		"device":    archive(t, good, tar.Header{Typeflag: tar.TypeChar, Name: "c", Devmajor: 1, Devminor: 3}),
		"fifo":      archive(t, good, tar.Header{Typeflag: tar.TypeFifo, Name: "p"}),
		"twice":     archive(t, good, good),
		"torn":      archive(t, good, tar.Header{Typeflag: tar.TypeReg, Name: "more"})[:1024],
		"no tar":    []byte(strings.Repeat("hello", 500)),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			code, out, errs := gate(t, dir, bad, "sh", "-c", "echo ran")
			if code != toolserver.ExitTree || out != "" || errs == "" || strings.Contains(errs, toolproto.CommandBegins) {
				t.Fatalf("exit code %d, %q, %q", code, out, errs)
			}
			for _, canary := range []string{filepath.Join(dir, "canary"), "/tmp/canary"} {
				if _, err := os.Lstat(canary); err == nil {
					t.Fatal("written outside: " + canary)
				}
			}
		})
	}
}

// The image's script runs in the laid out tree before the command; when it
// fails the command does not run, and what it started is gone.
func TestGateMakesTheTreeReady(t *testing.T) {
	tree := archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "d/f"})
	for name, c := range map[string]struct {
		script, out string
		code        int
	}{
		"links":  {"ln -s d/f linked; echo noise; exit 0", "content of d/f", 0},
		"fails":  {"echo why >&2; exit 3", "", toolserver.ExitTree},
		"absent": {"", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := filepath.Join(dir, "ready")
			if c.script != "" {
				if err := os.WriteFile(script, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), self(t), "gate", "--", "cat", "linked")
			cmd.Env = environ(dir, "TOOLBOX_READY="+script)
			var out, errs bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(tree), &out, &errs
			_ = cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != c.code || out.String() != c.out {
				t.Errorf("exit code %d, %q, %q", code, out.String(), errs.String())
			}
			if name == "fails" && !strings.Contains(errs.String(), "why") {
				t.Errorf("it does not say why: %q", errs.String())
			}
			if begun := strings.Contains(errs.String(), toolproto.CommandBegins); begun == (name == "fails") {
				t.Errorf("the command began: %v", begun)
			}
		})
	}
}
