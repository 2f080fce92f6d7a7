//go:build linux

package main

import (
	"archive/tar"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"company/internal/toolbox/toolproto"
)

// listService writes a list of one service, which environ names. Outside of a
// container it lives on after the gate; it ends with the test.
func listService(t *testing.T, dir, start, ready string) {
	t.Helper()
	text, err := json.Marshal(toolproto.Services{TimeoutS: 20, Services: []toolproto.Service{{
		Name: "db", Dir: filepath.Join(dir, "db"), Start: []string{"sh", "-c", "echo $$ >pid; " + start},
		Ready: []string{"sh", "-c", ready}, Env: map[string]string{"DB": "here"},
	}}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "services.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pid, err := os.ReadFile(filepath.Join(dir, "db", "pid"))
		n, _ := strconv.Atoi(strings.TrimSpace(string(pid)))
		if err != nil || n < 2 {
			t.Fatal(err, n)
		}
		_ = syscall.Kill(n, syscall.SIGKILL) // it may have ended by itself
	})
}

// A gate's command finds its services; the exit code stays the command's; and the end
// of their logs is shown where it fails, and only there.
func TestGateHasServices(t *testing.T) {
	tree := archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "f"})
	dir := t.TempDir()
	listService(t, dir, `for i in $(seq 30); do echo "line $i"; done; touch ready; exec sleep 1000`, "test -e ready")
	code, out, errs := gate(t, dir, tree, "sh", "-c", `test -e ../db/ready && echo "$DB" && exit 0`)
	if code != 0 || out != "here\n" || errs != toolproto.CommandBegins {
		t.Fatalf("exit code %d, %q, %q", code, out, errs)
	}
	dir = t.TempDir()
	listService(t, dir, `for i in $(seq 30); do echo "line $i"; done; touch ready; exec sleep 1000`, "test -e ready")
	code, out, errs = gate(t, dir, tree, "sh", "-c", `echo "$1 $2"; exit 7`, "sh", "two words", "$HOME")
	if code != 7 || out != "two words $HOME\n" || !strings.Contains(errs, "db/log]\nline 11\n") ||
		!strings.HasSuffix(errs, "line 30\n") || strings.Contains(errs, "line 10\n") {
		t.Fatalf("exit code %d, %q, %q", code, out, errs)
	}
	// A command that is killed ends as before.
	dir = t.TempDir()
	listService(t, dir, `touch ready; exec sleep 1000`, "test -e ready")
	if code, _, errs = gate(t, dir, tree, "sh", "-c", `kill -9 $$`); code != 137 {
		t.Fatalf("exit code %d, %q", code, errs)
	}
}

// A service that does not start keeps the command from running, and says why.
func TestGateWithoutItsService(t *testing.T) {
	dir := t.TempDir()
	listService(t, dir, `echo 'could not map memory'; exit 1`, "false")
	code, out, errs := gate(t, dir, archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "f"}), "sh", "-c", "echo ran")
	if code != toolproto.ExitService || out != "" ||
		!strings.HasPrefix(errs, toolproto.ServiceFailed+"db did not start: exit status 1\n") ||
		!strings.Contains(errs, "could not map memory") {
		t.Fatalf("exit code %d, %q, %q", code, out, errs)
	}
}
