package diagnose

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/gitops/remotetest"
	"company/internal/lib/healthcheck"
	"company/internal/office"
	"company/internal/office/config"
)

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
	a := &Checker{Env: func(k string) (string, bool) { v, ok := env[k]; return v, ok },
		Logger: slog.New(slog.DiscardHandler)}
	cfg := config.Default()
	cfg.Forge.TokenEnv = "MY_TOKEN"
	look := func(online bool) map[string]healthcheck.Result {
		t.Helper()
		out := map[string]healthcheck.Result{}
		for _, v := range a.checkRemote(t.Context(), office.Paths{Git: filepath.Join(dir, "state"), Repo: dir}, cfg, online) {
			out[v.Name] = v.Result
			if strings.Contains(v.Found+v.Fix, canary) {
				t.Errorf("%+v", v)
			}
		}
		return out
	}
	if got := look(true); !got["remote"].OK || !strings.Contains(got["remote"].Found, "no remote") ||
		!got["git credential"].OK {
		t.Errorf("%+v", got)
	}
	git("remote", "add", "origin", strings.Replace(url, "https://", "https://me:canary-token@", 1))
	if got := look(true); !got["git credential"].OK || !got["remote answers"].OK ||
		!strings.Contains(got["remote answers"].Found, `"main"`) {
		t.Errorf("%+v", got)
	}
	git("remote", "set-url", "origin", url)
	if got := look(true); got["git credential"].OK || !got["git credential"].Warn ||
		!strings.Contains(got["git credential"].Found, "NOT SET") || got["remote answers"].OK ||
		!strings.Contains(got["remote answers"].Fix, "MY_TOKEN") {
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
	if got := look(false); got["git credential"].OK || !got["git credential"].Warn || !got["ssh host"].OK ||
		!got["remote"].OK {
		t.Errorf("%+v", got) // without an agent it is not reached at all
	}
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Git.Credential, cfg.Git.DeployKeyFile = "deploy_key", key
	if got := look(false); !got["git credential"].OK || got["ssh host"].OK || got["ssh host"].Warn ||
		got["ssh host"].Fix != "company git trust-host unknown.example.com" {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "state")); err == nil {
		t.Error("doctor made something")
	}
}
