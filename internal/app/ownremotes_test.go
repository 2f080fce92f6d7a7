package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
)

// With the president's own logins in use, a forge is found behind an address of
// theirs: insteadOf, and an alias of ssh. Without, it is the name of a server.
func TestForgeBehindAnAlias(t *testing.T) {
	home := t.TempDir()
	configtest.WriteFile(t, filepath.Join(home, "ssh_config"), "Host work\n  HostName github.com\n  User git\n")
	configtest.WriteFile(t, filepath.Join(home, ".gitconfig"),
		"[core]\n\tsshCommand = ssh -F "+home+"/ssh_config\n[url \"work:\"]\n\tinsteadOf = w:\n")
	env := configtest.Env(
		map[string]string{"HOME": home, "PATH": os.Getenv("PATH"), "GITHUB_TOKEN": "t", "GIT_CONFIG_NOSYSTEM": "1"})
	for _, on := range []bool{false, true} {
		c := config.Default()
		c.Git.UseMyLogins = on
		forges := OpenForges(nil, c, nil, env)
		for _, remote := range []string{"work:acme/app.git", "w:acme/app.git"} {
			_, choice, err := forges.ForRemote(t.Context(), remote)
			if err != nil || (choice.Kind == "github") != on || on && choice.Repo.String() != "acme/app" {
				t.Errorf("%s, on %v: %+v, %v", remote, on, choice, err)
			}
		}
	}
}

// The errors of a missing token name the key, until it is on; without a home it cannot be.
func TestOwnLoginsAreARemedy(t *testing.T) {
	env := configtest.Env(map[string]string{"HOME": t.TempDir()})
	for _, on := range []bool{false, true} {
		c := config.Default()
		c.Git.UseMyLogins = on
		cfg, err := GitConfig(office.Paths{}, c, env)
		if err != nil || (cfg.Logins != nil) != on {
			t.Fatalf("%+v, %v", cfg.Logins, err)
		}
		for _, host := range []string{"github.com", "git.example.com"} {
			_, _, err := cfg.Credential(t.Context(), host)
			var e *company.Error
			if !errors.As(err, &e) || e.Code != company.EAuth || strings.Contains(e.Hint, "git.use_my_logins true") == on {
				t.Errorf("%s, on %v: %v", host, on, err)
			}
		}
		if fix := cfg.TokenFix("https://github.com/acme/app"); strings.Contains(fix, "git.use_my_logins true") == on {
			t.Errorf("on %v: %s", on, fix)
		}
	}
	c := config.Default()
	c.Git.UseMyLogins = true
	if _, err := GitConfig(office.Paths{}, c, configtest.Env(nil)); company.CodeOf(err) != company.EConfig {
		t.Errorf("without a home: %v", err)
	}
}
