package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// TestRenamedBase renames the base at the remote while a task is under way. The delivery asks, and after a yes
// the pull request is for the branch that took its place.
func TestRenamedBase(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h, p, held := submitFarewell(t, "t1-01.1", 2)
	h.Git(h.Origin, "branch", "-m", "main", "trunk")
	held.release()
	s := waitForSummary(t, p, 2)
	var asked []struct {
		ID, Kind, Question string
	}
	var v struct {
		Task struct {
			NeedsYou json.RawMessage `json:"needs_you"`
		}
	}
	h.JSON(&v, "show", "t1")
	if err := json.Unmarshal(v.Task.NeedsYou, &asked); err != nil || len(asked) != 1 || asked[0].Kind != "other_base" ||
		!strings.Contains(asked[0].Question, "Open the pull request into trunk?") {
		t.Fatalf("%+v: %s, %v", s, v.Task.NeedsYou, err)
	}
	branch := integrationBranch(h, 1)
	if got := h.Git(h.Origin, "for-each-ref", "--format=%(refname:short)"); got != "trunk" {
		t.Fatalf("before the answer the remote has %q", got)
	}
	h.MustRun(patience, "approve", asked[0].ID)
	if s := waitForSummary(t, h.Start("resume"), 0); s.Result != "COMPLETE" {
		t.Fatalf("%+v", s)
	}
	var record struct{ Base, Branch, Head string }
	readJSON(t, fmt.Sprintf("%s/pulls/1.json", h.State()), &record)
	if record.Base != "trunk" || record.Branch != branch || record.Head != h.Git(h.Origin, "rev-parse", branch) {
		t.Errorf("%+v", record)
	}
	runAndExpect(t, h, []string{"pull request into trunk"}, "show", "t1")
}
