package manager

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitopstest"
)

// A ticket and the integration branch that merged the same other branch have several merge bases.
// The manager decides all the same: it reads what stands on the ticket's branch since its base
// (SUB-16).
func TestStuckDiffWithSeveralMergeBases(t *testing.T) {
	p := gitopstest.New(t, map[string]string{"a.txt": "one\n"})
	base := p.Commit("integration", map[string]string{"b.txt": "two\n"})
	p.Commit("target", map[string]string{"c.txt": "three\n"})
	p.Git("branch", "-q", "ticket", string(base))
	p.Commit("ticket", map[string]string{"a.txt": "four\n"})
	for _, branch := range []string{"ticket", "integration"} {
		p.Git("switch", "-q", branch)
		p.Git("merge", "-q", "--no-edit", "--no-ff", "target")
	}
	sub := &company.Subtask{ID: "t1-01", Base: base, Head: p.Fetch("ticket")}
	integration := p.Fetch("integration")
	if _, err := p.Mirror.MergeBase(t.Context(), integration, sub.Head); company.CodeOf(err) != company.EObjects {
		t.Fatalf("there is one merge base: %v", err)
	}
	diff, err := loadStuckDiff(t.Context(), p.Mirror, sub, integration)
	if err != nil {
		t.Fatal(err)
	}
	if got := prompts.Render("diff", shortenDiff(diff)); !strings.Contains(got, "+four\n") || strings.Contains(got, "b.txt") {
		t.Error(got)
	}
}
