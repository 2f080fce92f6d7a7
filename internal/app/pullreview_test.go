package app

import (
	"errors"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/office/config"
)

// What opens a pull request by hand is a command that a shell takes as it is.
func TestOpenCommand(t *testing.T) {
	pr := forge.ByHand{Title: "it's $(here)", Branch: "develop-t1-abcd", Base: "main", BodyFile: "/x y/7.md"}
	got := openCommand("git@github.com:acme/app.git", pr)
	for _, want := range []string{"gh pr create --repo acme/app --base main --head develop-t1-abcd",
		`--body-file '/x y/7.md'`, "https://github.com/acme/app/compare/main...develop-t1-abcd?expand=1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Contains(got, "title it's") || openCommand("/srv/app.git", pr) != "" ||
		openCommand("git@example.com:a/b", pr) != "" {
		t.Error(got)
	}
}

// What a person is told to do for a login is what is read for that forge,
// and GitHub's token goes to no other.
func TestGiteaLoginHint(t *testing.T) {
	c := config.Default()
	c.Forge.Kind, c.Forge.URL = "gitea", "https://git.example.com/tools"
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"GITHUB_TOKEN": "hub", "HOME": t.TempDir()}[name]
		return v, ok
	}
	forges := OpenForges(nil, c, nil, env)
	const remote = "https://git.example.com/tools/acme/app.git"
	fix := TokenHint(forges, c, remote)
	for _, want := range []string{"export GITEA_TOKEN=", "read:user", "write:repository", "write:issue"} {
		if !strings.Contains(fix, want) {
			t.Errorf("no %s in %s", want, fix)
		}
	}
	if strings.Contains(fix, "GITHUB_TOKEN") {
		t.Error(fix)
	}
	_, secret, err := ForgeLogin(forges, c, TokenCredential(c, env))(
		gitops.WithRemote(t.Context(), remote), "git.example.com")
	var e *company.Error
	if secret != "" || !errors.As(err, &e) || !strings.Contains(e.Hint, "GITEA_TOKEN") {
		t.Errorf("%q %v", secret, err)
	}
}
