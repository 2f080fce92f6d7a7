package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// TestGitClean: git clean -fdx in the checkout, as people run it, removes what git does
// not track. The office stays: its task goes on where it was. A company.yaml that git does
// not track is gone, and nothing happens with other settings until the office's copy is put back.
func TestGitClean(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	for _, living := range []bool{false, true} {
		name := "interrupted"
		if living {
			name = "living"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			held := stopAt("t1-01.1", 2)
			h := openFarewells(t, held)
			h.Write(".git/info/exclude", "/company.yaml\n")
			h.Write("company.yaml", "plan: {max_subtasks: 9}\n")
			p := h.Start("submit", "--no-input", "add a farewell")
			held.wait(t, p)
			id, state := h.OfficeID(), h.State()
			if !living {
				p.Kill()
				held.release()
				p.Wait(patience)
			}
			h.Write("left/over.txt", "x\n")
			h.Git(h.Repo, "clean", "-fdxq")
			for _, gone := range []string{"company.yaml", "left"} {
				if _, err := os.Lstat(filepath.Join(h.Repo, gone)); err == nil {
					t.Errorf("git clean left %s", gone)
				}
			}
			if living {
				held.release()
				if it := p.Event(patience, "effect.failed", ""); !strings.Contains(it.Text, "git clean may have removed it") {
					t.Errorf("the feed does not tell of the file: %s", it.Text)
				}
			}
			said := runRefused(t, h, 1, "E_CONFIG", "submit", "--no-input", "more")
			checkHolds(t, "the refusal", said, "company.yaml is missing",
				"restore it: cp "+filepath.Join(state, "company.yaml.kept"))
			if !living {
				runRefused(t, h, 1, "E_CONFIG", "resume")
				checkHolds(t, "the status", h.MustRun(patience, "status").Stderr, "the config does not load")
			}
			if out, err := exec.Command("cp", filepath.Join(state, "company.yaml.kept"),
				filepath.Join(h.Repo, "company.yaml")).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !living {
				p = h.Start("resume")
			}
			waitForSummary(t, p, 0)
			if h.OfficeID() != id {
				t.Errorf("the office became %s", h.OfficeID())
			}
			checkDelivered(t, h, 1, 1, 1)
			h.Git(h.Repo, "add", "-A")
			if got := h.Git(h.Repo, "status", "--porcelain"); got != "" {
				t.Errorf("git takes files of the office: %q", got)
			}
		})
	}
}
