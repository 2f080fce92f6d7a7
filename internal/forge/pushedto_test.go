package forge

import "testing"

// A branch that the president's git pushes elsewhere has its pull request where the project's forge knows that place as
// a fork. Everywhere else it is a page, and the branch goes to the address all the same.
func TestBranchesPushedElsewhere(t *testing.T) {
	t.Parallel()
	const remote = "https://github.com/acme/app.git"
	for pushed, want := range map[string]struct{ kind, owner string }{
		"https://github.com/me/app.git": {"github", "me"},
		"git@github.com:me/renamed.git": {"github", "me"},
		"git@github.com:acme/app.git":   {"github", ""}, // the repository itself, by ssh
		"https://github.com/acme/other": {LocalKind, ""},
		"https://gitlab.com/me/app.git": {LocalKind, ""},
		"/srv/mirror/app.git":           {LocalKind, ""},
	} {
		s := newSet(t, Settings{Kind: "github"}, map[string]string{"GITHUB_TOKEN": "x"})
		f, err := s.ForPullRequest(t.Context(), Ref{PushedTo: pushed}, remote)
		if err != nil {
			t.Fatal(err)
		}
		target, err := f.Target(t.Context())
		if err != nil || f.Kind() != want.kind || target != (Target{URL: pushed, Owner: want.owner}) {
			t.Errorf("%s: %s %+v, %v", pushed, f.Kind(), target, err)
		}
		// An open pull request stays on its forge, and its branch where it is pushed.
		open, err := s.ForPullRequest(t.Context(), Ref{PushedTo: pushed, URL: "https://github.com/acme/app/pull/1"}, remote)
		if err != nil {
			t.Fatal(err)
		}
		if target, err := open.Target(t.Context()); err != nil || open.Kind() != "github" || target.URL != pushed {
			t.Errorf("%s: %s %+v, %v", pushed, open.Kind(), target, err)
		}
	}
	s := newSet(t, Settings{Kind: "github"}, map[string]string{"GITHUB_TOKEN": "x"})
	if f, err := s.ForPullRequest(t.Context(), Ref{Unpushed: true}, remote); err != nil || f.Kind() != LocalKind {
		t.Errorf("what is not pushed: %v, %v", f, err)
	}
}
