package company_test

import (
	"testing"

	. "company/internal/company"
)

// A delivery gets another name before it is pushed, and merges of its task go to that from then on; main it is never.
func TestRenameDelivery(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{})
	s.plan(1).queued(1)
	s.merged(1)
	s.checked()
	rename := RenameDelivery{Task: s.id, Head: s.task().Head, Branch: "feature/company-t1-k3fq"}
	s.mustRefuse(EConflict, rename)
	s.must(Company, IntendDelivery{s.id})
	for _, branch := range []string{"main", "refs/heads/Master", ""} {
		s.mustRefuse(EProtected, RenameDelivery{Task: s.id, Head: rename.Head, Branch: branch})
	}
	s.mustRefuse(EConflict, RenameDelivery{Task: s.id, Head: s.oid(), Branch: rename.Branch})
	s.must(Company, rename)
	if task := s.task(); task.Delivery.Branch != rename.Branch || task.IntegrationBranch() != rename.Branch ||
		task.Delivery.Head != rename.Head {
		t.Errorf("%+v, %s", task.Delivery, task.IntegrationBranch())
	}
	if again := s.must(Company, rename); len(again) != 0 {
		t.Errorf("%+v", again)
	}
	s.must(Company, RecordDelivery{Task: s.id, Head: rename.Head, Number: 1, Note: "nothing was pushed", Unpushed: true,
		Evidence: shownBy(s.task())})
	if pr := s.task().PR; pr.Branch != rename.Branch || !pr.Unpushed || pr.Note != "nothing was pushed" {
		t.Errorf("%+v", pr)
	}
	s.mustRefuse(EConflict, RenameDelivery{Task: s.id, Head: rename.Head, Branch: "x-t1-k3fq"})
}
