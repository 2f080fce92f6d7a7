package reviewer

import (
	"testing"

	"company/internal/company"
)

// A ticket that merged what the integration branch merged too is reviewed against its base; what
// changed since an approval is left out, since work of others stands among it (REV-3).
func TestReviewWithSeveralMergeBases(t *testing.T) {
	b := setup(t, map[string]string{"a.go": "package a\n\nvar x = 1\n"})
	base := b.p.Commit("integration", map[string]string{"b.go": "package a\n\nvar y = 1\n"})
	b.p.Git("branch", "-q", "ticket", string(base))
	approved := b.p.Commit("ticket", map[string]string{"a.go": "package a\n\nvar x = 2\n"})
	b.p.Commit("target", map[string]string{"c.go": "package a\n"})
	for _, branch := range []string{"ticket", "integration"} {
		b.p.Git("switch", "-q", branch)
		b.p.Git("merge", "-q", "--no-edit", "--no-ff", "target")
	}
	task, sub := *b.task, *b.sub
	task.Head, sub.Base, sub.Head = b.p.Fetch("integration"), base, b.p.Fetch("ticket")
	sub.Review.Last = &company.ReviewRecorded{Head: approved, Verdict: company.Approve}
	x, err := loadSubject(t.Context(), b.p.Mirror, &task, &sub, task.Head)
	if err != nil {
		t.Fatal(err)
	}
	if x.From != base || x.Round != nil || len(x.diff.Changes) != 2 || x.patch == "" {
		t.Errorf("from %s, %+v, %+v", x.From, x.Round, x.diff.Changes)
	}
}
