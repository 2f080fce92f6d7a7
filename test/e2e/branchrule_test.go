package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// TestRuleForBranchNames delivers to a remote that takes branches in a folder alone. The refusal names the key, and
// after it is set and the question answered, the finished work is pushed under the new name.
func TestRuleForBranchNames(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h, p, held := submitFarewell(t, "t1-01.1", 2)
	if err := os.WriteFile(filepath.Join(h.Origin, "hooks", "update"), []byte("#!/bin/sh\n"+
		"case $1 in refs/heads/feature/*) exit 0;; esac\necho 'only feature/* is taken here' >&2\nexit 1\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	held.release()
	s := waitForSummary(t, p, 2)
	var v struct {
		Task struct {
			NeedsYou json.RawMessage `json:"needs_you"`
		}
	}
	h.JSON(&v, "show", "t1")
	if asked := string(v.Task.NeedsYou); !strings.Contains(asked, "git.integration_branch") ||
		!strings.Contains(asked, "only feature/* is taken here") {
		t.Fatalf("%+v: %s", s, asked)
	}
	var asked []struct{ ID string }
	if err := json.Unmarshal(v.Task.NeedsYou, &asked); err != nil || len(asked) != 1 {
		t.Fatalf("%s, %v", v.Task.NeedsYou, err)
	}
	h.MustRun(patience, "config", "set", "--user", "git.integration_branch", "feature/company")
	h.MustRun(patience, "approve", asked[0].ID)
	if s := waitForSummary(t, h.Start("resume"), 0); s.Result != "COMPLETE" {
		t.Fatalf("%+v", s)
	}
	var record struct{ Branch, Head string }
	readJSON(t, fmt.Sprintf("%s/pulls/1.json", h.State()), &record)
	if !strings.HasPrefix(record.Branch, "feature/company-t1-") ||
		record.Head != h.Git(h.Origin, "rev-parse", record.Branch) {
		t.Errorf("%+v", record)
	}
	if got := h.Git(h.Origin, "for-each-ref", "--format=%(refname:short)"); got != record.Branch+"\nmain" {
		t.Errorf("the origin has %s", got)
	}
}
