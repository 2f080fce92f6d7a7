package cli

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/gitops"
	"company/internal/gitops/remotetest"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
)

// GIT-5: a server is known when the president has compared its fingerprint,
// and another key is not taken for it afterwards.
func TestTrustHost(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "company.yaml"), []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	company := func(args ...string) (code int, out, errs string) {
		t.Helper()
		var o, e bytes.Buffer
		env := command.NewEnvironment(
			terminalio.Console{In: strings.NewReader(""), Out: &o, Err: &e,
				LookupEnv: func(k string) (string, bool) { return dir, k == "HOME" }})
		code = execute(t.Context(), env, append([]string{"--office", dir, "git", "trust-host"}, args...))
		return code, o.String(), e.String()
	}
	server := remotetest.NewSSHD(t)
	keys, err := gitops.ScanHost(t.Context(), server.Host)
	if err != nil {
		t.Fatal(err)
	}
	print := keys[0].Fingerprint()
	if code, _, errs := company(server.Host); code != command.ExitError || !strings.Contains(errs, "E_HOST_KEY") ||
		!strings.Contains(errs, print) {
		t.Errorf("nobody compared: %d %s", code, errs)
	}
	if code, _, errs := company(server.Host, "--fingerprint", "SHA256:somethingelse"); code != command.ExitError ||
		!strings.Contains(errs, "E_HOST_KEY") {
		t.Errorf("another fingerprint: %d %s", code, errs)
	}
	known := func() int {
		t.Helper()
		n := 0
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "known_hosts" {
				text, err := os.ReadFile(p)
				n = strings.Count(string(text), "\n")
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if known() != 0 {
		t.Error("accepted by itself")
	}
	code, out, errs := company(server.Host, "--fingerprint", print, "-o", "json")
	var got struct {
		Host string
		Keys []struct{ Type, Fingerprint string }
	}
	if err := json.Unmarshal([]byte(out), &got); code != command.ExitComplete || err != nil || got.Host != server.Host ||
		len(got.Keys) != 1 || got.Keys[0].Fingerprint != print || known() != 1 {
		t.Fatalf("%d %s %s (%v), known %d", code, out, errs, err, known())
	}
	if code, _, errs := company(server.Host); code != command.ExitComplete {
		t.Errorf("the same again: %d %s", code, errs)
	}
	server.NewHostKey(t)
	keys, err = gitops.ScanHost(t.Context(), server.Host)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, errs := company(server.Host, "--fingerprint", keys[0].Fingerprint()); code != command.ExitError ||
		!strings.Contains(errs, "differs from the accepted one") || !strings.Contains(errs, "--replace") {
		t.Errorf("a changed key: %d %s", code, errs)
	}
	if code, _, errs := company(server.Host, "--fingerprint", keys[0].Fingerprint(),
		"--replace"); code != command.ExitComplete || known() != 1 {
		t.Errorf("replaced: %d %s", code, errs)
	}
	if code, _, errs := company("-oProxyCommand=id"); code != command.ExitUsage {
		t.Errorf("%d %s", code, errs)
	}
	if code, _, errs := company("not a host"); code != command.ExitUsage {
		t.Errorf("%d %s", code, errs)
	}
	server.Stop()
	if code, _, errs := company(server.Host); code != command.ExitError ||
		!strings.Contains(errs, "no ssh server answers") {
		t.Errorf("%d %s", code, errs)
	}
}
