package cli

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/config"
	"company/internal/gitops"
	"company/internal/gitops/remotetest"
	"company/internal/health"
	"company/internal/office"
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
		a := &app{in: strings.NewReader(""), out: &o, err: &e, env: func(k string) (string, bool) { return dir, k == "HOME" }}
		code = a.main(t.Context(), append([]string{"--office", dir, "git", "trust-host"}, args...))
		return code, o.String(), e.String()
	}
	server := remotetest.NewSSHD(t)
	keys, err := gitops.ScanHost(t.Context(), server.Host)
	if err != nil {
		t.Fatal(err)
	}
	print := keys[0].Fingerprint()
	if code, _, errs := company(server.Host); code != exitError || !strings.Contains(errs, "E_HOST_KEY") || !strings.Contains(errs, print) {
		t.Errorf("nobody compared: %d %s", code, errs)
	}
	if code, _, errs := company(server.Host, "--fingerprint", "SHA256:somethingelse"); code != exitError || !strings.Contains(errs, "E_HOST_KEY") {
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
	if err := json.Unmarshal([]byte(out), &got); code != exitComplete || err != nil || got.Host != server.Host || len(got.Keys) != 1 || got.Keys[0].Fingerprint != print || known() != 1 {
		t.Fatalf("%d %s %s (%v), known %d", code, out, errs, err, known())
	}
	if code, _, errs := company(server.Host); code != exitComplete {
		t.Errorf("the same again: %d %s", code, errs)
	}
	server.NewHostKey(t)
	keys, err = gitops.ScanHost(t.Context(), server.Host)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, errs := company(server.Host, "--fingerprint", keys[0].Fingerprint()); code != exitError || !strings.Contains(errs, "another key") || !strings.Contains(errs, "--replace") {
		t.Errorf("a changed key: %d %s", code, errs)
	}
	if code, _, errs := company(server.Host, "--fingerprint", keys[0].Fingerprint(), "--replace"); code != exitComplete || known() != 1 {
		t.Errorf("replaced: %d %s", code, errs)
	}
	if code, _, errs := company("-oProxyCommand=id"); code != exitUsage {
		t.Errorf("%d %s", code, errs)
	}
	if code, _, errs := company("not a host"); code != exitUsage {
		t.Errorf("%d %s", code, errs)
	}
	server.Stop()
	if code, _, errs := company(server.Host); code != exitError || !strings.Contains(errs, "no ssh server answers") {
		t.Errorf("%d %s", code, errs)
	}
}

// DOC-2: doctor says how the remote is reached, and never shows a value.
func TestDoctorRemote(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-C", dir}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "x")
	const canary = "canary-token"
	server := remotetest.NewHTTPS(t, "", canary)
	_, url := server.Repository(t, "a/b.git", dir)
	env := map[string]string{"HOME": dir, "SSL_CERT_FILE": server.CA}
	a := &app{env: func(k string) (string, bool) { v, ok := env[k]; return v, ok }}
	cfg := config.Default()
	cfg.Forge.TokenEnv = "MY_TOKEN"
	look := func(online bool) map[string]health.Result {
		t.Helper()
		out := map[string]health.Result{}
		for _, v := range a.checkRemote(t.Context(), office.Paths{Git: filepath.Join(dir, "state"), Repo: dir}, cfg, online) {
			out[v.Name] = v.Result
			if strings.Contains(v.Found+v.Fix, canary) {
				t.Errorf("%+v", v)
			}
		}
		return out
	}
	if got := look(true); !got["remote"].OK || !strings.Contains(got["remote"].Found, "no remote") || !got["git credential"].OK {
		t.Errorf("%+v", got)
	}
	git("remote", "add", "origin", strings.Replace(url, "https://", "https://me:canary-token@", 1))
	if got := look(true); !got["git credential"].OK || !got["remote answers"].OK || !strings.Contains(got["remote answers"].Found, `"main"`) {
		t.Errorf("%+v", got)
	}
	git("remote", "set-url", "origin", url)
	if got := look(true); got["git credential"].OK || !got["git credential"].Warn || !strings.Contains(got["git credential"].Found, "NOT SET") || got["remote answers"].OK || !strings.Contains(got["remote answers"].Fix, "MY_TOKEN") {
		t.Errorf("%+v", got)
	}
	env["MY_TOKEN"] = canary
	before := len(server.Seen())
	if got := look(false); !got["git credential"].OK || !strings.Contains(got["git credential"].Found, "SET") {
		t.Errorf("%+v", got)
	}
	if len(server.Seen()) != before {
		t.Error("it asked the server without --online")
	}
	if got := look(true); !got["remote answers"].OK {
		t.Errorf("%+v", got)
	}
	git("remote", "set-url", "origin", "git@unknown.example.com:a/b.git")
	cfg.Git.Credential, env["SSH_AUTH_SOCK"] = "ssh_agent", "/nowhere"
	if got := look(false); got["git credential"].OK || !got["git credential"].Warn || !got["ssh host"].OK || !got["remote"].OK {
		t.Errorf("%+v", got) // without an agent it is not reached at all
	}
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Git.Credential, cfg.Git.DeployKeyFile = "deploy_key", key
	if got := look(false); !got["git credential"].OK || got["ssh host"].OK || got["ssh host"].Warn || got["ssh host"].Fix != "company git trust-host unknown.example.com" {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "state")); err == nil {
		t.Error("doctor made something")
	}
}
