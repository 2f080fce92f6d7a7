package forge_test

import (
	"os"
	"path/filepath"
	"testing"

	"company/internal/forge"
	"company/internal/forge/gitea"
	"company/internal/forge/github"
)

// GIT-12, FRG-2: the operator's gh and tea logins are used; each for its host.
func TestLoginsOfOtherTools(t *testing.T) {
	home := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		p := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(".config/gh/hosts.yml",
		"github.com:\n    oauth_token: gho_file\n    user: ann\nghe.example.com:\n    user: bob\n    users:\n        "+
			"bob:\n            oauth_token: gho_bob\n", 0o600)
	write(".config/tea/config.yml", "logins:\n- name: x\n  url: https://git.example.com\n  token: teatoken\n", 0o600)
	ask := func(s forge.Settings, host string, env map[string]string) (string, string) {
		t.Helper()
		env["HOME"] = home
		user, secret, err := (&forge.Selector{Settings: s, Drivers: []forge.Driver{github.Driver, gitea.Driver},
			Env: func(name string) string { return env[name] }}).Credential(t.Context(), host, "")
		if err != nil {
			t.Fatal(err)
		}
		return user, secret
	}
	if u, s := ask(forge.Settings{Kind: "auto"}, "github.com", map[string]string{}); u != "x-access-token" || s != "gho_file" {
		t.Errorf("%s %s", u, s)
	}
	if _, s := ask(forge.Settings{Kind: "auto", URL: "https://ghe.example.com"}, "GHE.example.com",
		map[string]string{}); s != "gho_bob" {
		t.Errorf("%s", s)
	}
	if _, s := ask(forge.Settings{Kind: "gitea", URL: "https://git.example.com"}, "git.example.com",
		map[string]string{}); s != "teatoken" {
		t.Errorf("%s", s)
	}
	if u, s := ask(forge.Settings{Kind: "auto"}, "evil.example.com", map[string]string{"GITHUB_TOKEN": "x"}); u != "" ||
		s != "" {
		t.Errorf("a token for %s %s", u, s)
	}
	if u, s := ask(forge.Settings{Kind: "auto"}, "github.com:8443", map[string]string{"GITHUB_TOKEN": "x"}); u != "" || s != "" {
		t.Errorf("a token for another port: %s %s", u, s)
	}
	// gh keeps the token in a key store: it is asked, with nothing of ours in
	// its environment.
	write("bin/gh", "#!/bin/sh\n[ \"$1 $2 $3 $4\" = 'auth token --hostname github.com' ] && [ -z \"$SECRET\" ] && echo "+
		"gho_asked\n", 0o700)
	write(".config/gh/hosts.yml", "github.com:\n    user: ann\n", 0o600)
	t.Setenv("SECRET", "canary")
	if _, s := ask(forge.Settings{Kind: "auto"}, "github.com",
		map[string]string{"PATH": filepath.Join(home, "bin")}); s != "gho_asked" {
		t.Errorf("%q", s)
	}
	// One that hangs is given up.
	write("bin/gh", "#!/bin/sh\nexec sleep 3600\n", 0o700)
	if _, s := ask(forge.Settings{Kind: "auto"}, "github.com",
		map[string]string{"PATH": filepath.Join(home, "bin") + ":/bin:/usr/bin"}); s != "" {
		t.Errorf("%q", s)
	}
	// Garbage is not a login.
	write(".config/gh/hosts.yml", ":\n\t- [", 0o600)
	if _, s := ask(forge.Settings{Kind: "auto"}, "github.com", map[string]string{}); s != "" {
		t.Errorf("%q", s)
	}
}
