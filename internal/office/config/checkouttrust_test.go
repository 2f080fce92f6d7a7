package config

import (
	"path/filepath"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitindex"
	"company/internal/office/config/configtest"
)

// The texts that describe an image count for the checkout and the texts that the
// president let, and for no others.
func TestTrustInADockerfile(t *testing.T) {
	home := t.TempDir()
	trust := OpenTrust(configtest.Env(map[string]string{"HOME": home}))
	one, two := filepath.Join(home, "one"), filepath.Join(home, "two")
	for _, repo := range []string{one, two} {
		if _, err := gitindex.Ask(t.Context(), home, "init", "-q", repo); err != nil {
			t.Fatal(err)
		}
	}
	texts := company.Hash("1234")
	if (CheckoutTrust{}).CoversDockerfile(t.Context(), texts) ||
		trust.ForCheckout(one).CoversDockerfile(t.Context(), texts) {
		t.Fatal("nothing was let")
	}
	if err := trust.ForCheckout(one).AddDockerfile(t.Context(), texts); err != nil {
		t.Fatal(err)
	}
	if !trust.ForCheckout(one).CoversDockerfile(t.Context(), texts) {
		t.Error("it was let")
	}
	if trust.ForCheckout(one).CoversDockerfile(t.Context(), "5678") ||
		trust.ForCheckout(two).CoversDockerfile(t.Context(), texts) || trust.MayUseLogins(t.Context(), one) {
		t.Error("another text, another checkout or another leave counts")
	}
	if _, err := gitindex.Ask(t.Context(), one, "config", "remote.origin.url", "https://example.com/x"); err != nil {
		t.Fatal(err)
	}
	if trust.ForCheckout(one).CoversDockerfile(t.Context(), texts) {
		t.Error("it counts for another origin")
	}
}
