package github

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/forge/forgetest"
)

// An issue that moved to another repository is named where it is; a repository without
// issues has none.
func TestMovedIssue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n := b.Server.AddIssue(b.Repo,
		forgetest.Issue{Title: "moved", User: "ann", Page: b.Server.URL + "/acme/other/issues/3"})
	_, err := b.Forge.Issue(t.Context(), n)
	if e := forgetest.RequireCode(t, err, company.EConflict, true); !strings.Contains(e.Error(), "/acme/other/issues/3") {
		t.Error(e)
	}
	b.Server.AddFault(
		forgetest.Fault{Path: "/issues/7", Code: 410, Header: map[string]string{"Content-Type": "application/json"},
			Body: `{"message":"Issues are disabled for this repo"}`})
	_, err = b.Forge.Issue(t.Context(), 7)
	forgetest.RequireCode(t, err, company.ENotFound, true)
}

// A token that may not read issues is refused in words that name what it lacks.
func TestIssueNeedsPermission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n := b.Server.AddIssue(b.Repo, forgetest.Issue{Title: "private", User: "ann"})
	b.Server.AddLogin("owner-token", forgetest.Token{Login: "ann", MissingPermissions: []string{"issues"}})
	_, err := b.Forge.Issue(t.Context(), n)
	if e := forgetest.RequireCode(t, err, company.EAuth, true); !strings.Contains(e.Error(), `lacks "issues: read"`) ||
		!strings.HasSuffix(e.Hint, "then: submit it again") {
		t.Errorf("%v\n%s", e, e.Hint)
	}
}
