package app

import (
	"testing"

	"company/internal/company"
	"company/internal/office/config"
)

// A token goes to the host that it is for, and nowhere else.
func TestTokenCredentialHost(t *testing.T) {
	env := func(k string) (string, bool) {
		v, ok := map[string]string{"GITHUB_TOKEN": "hub", "MY_TOKEN": "mine"}[k]
		return v, ok
	}
	for _, c := range []struct{ url, name, host, want string }{
		{"", "GITHUB_TOKEN", "github.com", "hub"},
		{"", "GITHUB_TOKEN", "acme.ghe.com", "hub"},
		{"", "GITHUB_TOKEN", "gitlab.com", ""},
		{"", "GITHUB_TOKEN", "github.com.evil.example", ""},
		{"", "GITHUB_TOKEN", "evilghe.com", ""},
		{"", "MY_TOKEN", "git.example.com", "mine"},
		{"", "NO_TOKEN", "git.example.com", ""},
		{"https://git.example.com:8443/x", "MY_TOKEN", "git.example.com:8443", "mine"},
		{"https://git.example.com", "MY_TOKEN", "github.com", ""},
		{"https://git.example.com", "GITHUB_TOKEN", "git.example.com", "hub"},
	} {
		cfg := config.Default()
		cfg.Forge.URL, cfg.Forge.TokenEnv = c.url, c.name
		_, got, err := TokenCredential(cfg, env)(t.Context(), c.host)
		if got != c.want || (err == nil) != (c.want != "") || err != nil && company.CodeOf(err) != company.EAuth {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}
