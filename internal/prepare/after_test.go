package prepare

import (
	"errors"
	"path/filepath"
	"testing"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/gates"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/gitopstest"
)

// TestBaseOfTaskAfterOthers: what was merged at the remote is in the base of a task that was submitted
// after others, and so is what is in the checkout alone. Where a branch of each would be lost, a
// person is asked.
func TestBaseOfTaskAfterOthers(t *testing.T) {
	for _, c := range []struct {
		name   string
		remote bool // it has a commit that the checkout lacks
		local  bool // the checkout has one that the remote lacks
		branch bool // the checkout is on a branch that the remote never had
		none   bool // there is no remote
		want   string
	}{
		{"as before", false, false, false, false, "first"},
		{"merged at the remote", true, false, false, false, "merged"},
		{"ahead of the remote", false, true, false, false, "mine"},
		{"both", true, true, false, false, ""},
		{"no remote", false, true, false, true, "mine"},
		{"on a branch of its own", true, false, true, false, "merged"},
		{"on a branch with commits of its own", true, true, true, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := gitopstest.New(t, map[string]string{"a": "x\n"})
			commit := func(dir, title string) {
				gitexectest.Git(t, dir, "commit", "-q", "--allow-empty", "-m", title)
			}
			if !c.none {
				bare, other := filepath.Join(t.TempDir(), "origin.git"), filepath.Join(t.TempDir(), "other")
				p.Git("clone", "-q", "--bare", p.Dir, bare)
				p.Git("remote", "add", "origin", bare)
				p.Git("fetch", "-q", "origin")
				p.Git("remote", "set-head", "origin", "main")
				if c.remote {
					p.Git("clone", "-q", bare, other)
					commit(other, "merged")
					gitexectest.Git(t, other, "push", "-q", "origin", "main")
				}
			}
			if c.branch {
				p.Git("switch", "-q", "-c", "topic")
			}
			if c.local {
				commit(p.Dir, "mine")
			}
			d := decidertest.New(t)
			project := company.Project{ID: "project", Path: p.Dir}
			d.Must(company.Submit{Instruction: "do it", Project: project})
			evs := d.Must(company.Submit{Instruction: "and then this", Project: project, After: []company.TaskID{"t1"}})
			in := newIntake(t, d, p, "develop", Project{Lint: gates.Auto, Test: gates.Auto})
			cmd, err := in.FindBase(t.Context(), company.Effect{Task: evs[0].Task})
			if c.want == "" {
				var e *company.Error
				if cmd != nil || !errors.As(err, &e) || e.Code != company.EConflict || e.Class != company.HumanRequired ||
					e.Hint == "" {
					t.Errorf("%v, %v", cmd, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			base := cmd.(company.RecordBase).Base
			if title := gitexectest.Git(t, p.Mirror.Dir(), "log", "-1", "--format=%s", string(base.OID)); title != c.want {
				t.Errorf("the base is %q, not %q", title, c.want)
			}
			first, err := in.FindBase(t.Context(), company.Effect{Task: "t1"})
			if err != nil || first.(company.RecordBase).Base.OID != company.OID(p.Git("rev-parse", "HEAD")) {
				t.Errorf("a task after none does not start from the checkout: %v, %v", first, err)
			}
		})
	}
}
