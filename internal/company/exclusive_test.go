package company_test

import (
	"errors"
	"testing"

	. "company/internal/company"
)

// STA-13: of an exclusive project a base has one unfinished task. A second submission, and a
// retry while another is unfinished, are refused and told which it is and how far.
func TestOneTaskOnAnExclusiveBase(t *testing.T) {
	t.Parallel()
	l := newStory(t, Settings{Exclusive: true, Cap: Amount{NoCap, NoCap}})
	project := l.task().Project
	submit := func(base string, exclusive bool, of Project) ([]Event, error) {
		return l.do(
			President,
			Submit{Instruction: "more", Project: of, Base: base,
				Settings: Settings{Exclusive: exclusive, Cap: Amount{NoCap, NoCap}}})
	}
	base := l.task().Base
	if l.task().Prepared != nil {
		base = l.task().Prepared.Base.Branch
	}
	refused := func(name string, err error, current TaskID) {
		t.Helper()
		var e *Error
		if !errors.As(err, &e) || e.Code != EConflict || e.CurrentTask != current ||
			e.CurrentState != l.s.Tasks[current].Status || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := submit(base, true, project)
	refused("the same base", err, "t1")
	_, err = submit(base, false, project) // the first one asked to be alone
	refused("one that is not exclusive", err, "t1")
	_, err = submit("", false, project)
	refused("a base that is not known", err, "t1")
	if _, err := submit("another", true, project); err != nil {
		t.Errorf("another base: %v", err)
	}
	if _, err := submit(base, true, Project{ID: "other", Path: "/other"}); err != nil {
		t.Errorf("another project: %v", err)
	}
	l.must(President, Cancel{Task: "t1"})
	evs, err := submit(base, true, project)
	if err != nil {
		t.Fatalf("the first one has ended: %v", err)
	}
	_, err = l.do(President, Retry{Task: "t1"})
	refused("a retry", err, evs[0].Task)
}
