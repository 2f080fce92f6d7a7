package company_test

import (
	"testing"

	. "company/internal/company"
)

// Each form of a run id is taken apart as it was made, with the smallest and the largest numbers.
func TestRunIDsRoundTrip(t *testing.T) {
	t.Parallel()
	valid := 0
	for _, task := range []TaskID{NewTaskID(1), NewTaskID(999_999_999)} {
		for _, sub := range []SubtaskID{"", NewSubtaskID(task, 1), NewSubtaskID(task, 999)} {
			for _, role := range Roles() {
				for _, n := range []int{1, 999_999} {
					id := NewRunID(task, sub, role, n)
					if !id.Valid() {
						continue
					}
					valid++
					gotTask, gotSub, gotRole, gotN, err := id.Split()
					if err != nil || gotTask != task || gotSub != sub || gotRole != role || gotN != n || id.Task() != task {
						t.Errorf("%s: %s %s %s %d, %v", id, gotTask, gotSub, gotRole, gotN, err)
					}
				}
			}
		}
	}
	if want := 2 * 2 * (3*2 + 2); valid != want { // three roles of each ticket, two of the task
		t.Errorf("%d ids are valid, want %d", valid, want)
	}
}

// A run of an unknown role is not a worker's.
func TestUnknownRoleIsNoWorker(t *testing.T) {
	t.Parallel()
	for _, id := range []RunID{
		NewRunID("t1", "t1-01", "node", 1), NewRunID("t1", "", "", 1),
		"t1-01-node.1", "t1-n04.1", "t1-01-plan.1", "t1-merge.1", "t1.1", "t1-01-.1", "t1-01-review-merge.1", "t1-01.0",
		"t1-01-REVIEW.1",
	} {
		if _, _, role, _, err := id.Split(); CodeOf(err) != EInvalid || role != "" || id.Valid() || id.Task() != "" {
			t.Errorf("%s: %q, %v", id, role, err)
		}
	}
}
