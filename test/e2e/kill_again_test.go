package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// TestKillEverywhere kills one and the same task again and again, each time a
// little further on its way. The end is the one of a company that nobody
// killed, and each kill costs at most one model call.
func TestKillEverywhere(t *testing.T) {
	hosttest.Long(t, "TestKill shows each of its moments by itself")
	t.Parallel()
	staffed := func(stops ...*stop) *staff {
		return &staff{
			manager: submitPlan(farewellTicket(), []m{ticket("Tell of it", "Tell of it in the README.", "README.md")}),
			worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
				"t1-01": saysGoodbye(),
				"t1-02": writeFilesAndFinish("Tell of it", "README.md", "# Greetings\n\nScripts that greet and say goodbye.\n"),
			}),
			stops: stops,
		}
	}
	control := openTinyProject(t, staffed())
	control.LetManagerPlan()
	want := walkUndisturbed(t, control, "say goodbye")

	stops := []*stop{stopAt("t1-plan.1", 0), stopAt("t1-01.1", 0), stopAt("t1-01.1", 1), stopAt("t1-01.1", 2),
		stopAt("t1-01.1", 3), stopAt("t1-01-review.1", 0), stopAt("t1-review.1", 0)}
	for _, s := range stops {
		t.Cleanup(s.release)
	}
	h := openTinyProject(t, staffed(stops...))
	h.LetManagerPlan()
	p := h.Start("submit", "say goodbye")
	for i, s := range stops {
		s.wait(t, p)
		p.Kill()
		s.release()
		if i+1 < len(stops) {
			p = h.Start("resume")
		}
	}
	// Two people say resume at once: one of the two processes works, the other
	// follows it.
	one, two := h.Start("resume"), h.Start("resume")
	for _, p := range []*testenv.Process{one, two} {
		if r := p.Wait(patience); r.Code != 0 {
			t.Errorf("exit %d:\n%s", r.Code, p.Tell())
		}
	}
	checkDelivered(t, h, 1, 1, 2)
	got := outcomeOf(h)
	if got.tree != want.tree {
		t.Errorf("tree %s, without a kill %s", got.tree, want.tree)
	}
	checkCallsRepeated(t, want.calls, got.calls, len(stops))
	changesNothing(t, h)
}

// TestQueueBeginsAgain kills the company while a worker holds a run and deletes
// the queue: it is made from the ledger again, and counts from the beginning.
func TestQueueBeginsAgain(t *testing.T) {
	t.Parallel()
	h, p, hold := submitFarewell(t, "t1-01.1", 1)
	p.Kill()
	hold.release()
	var queues []string
	err := filepath.WalkDir(h.State(), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.EqualFold(d.Name(), "queue") && filepath.Base(filepath.Dir(path)) == "streams" {
			queues = append(queues, path)
			return filepath.SkipDir
		}
		return err
	})
	if err != nil || len(queues) != 1 {
		t.Fatalf("the queue's stream: %v %v", queues, err)
	}
	if err := os.RemoveAll(queues[0]); err != nil {
		t.Fatal(err)
	}
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
}

// TestKillAfterGit kills the company when git has done what it was told and
// the record is missing: the next company finds it done.
func TestKillAfterGit(t *testing.T) {
	t.Parallel()
	control := openTinyProject(t, farewells())
	want := walkUndisturbed(t, control, "say goodbye")
	for name, c := range map[string]struct {
		command string // a shell pattern for git's arguments
		met     func(h *testenv.House) bool
		not     string
	}{
		"result taken": {"*update-ref*refs/company/runs/t1-01.1*", func(h *testenv.House) bool {
			return h.Git(mirror(t, h), "for-each-ref", "refs/company/runs/t1-01.1") != ""
		}, "gate.finished"},
		"branch moved": {"*update-ref*refs/heads/develop-*",
			func(h *testenv.House) bool {
				return h.Git(mirror(t, h), "for-each-ref", "refs/heads/develop-*") != ""
			}, "merge.done"},
		"branch pushed": {"*push?--porcelain*refs/heads/develop-*",
			func(h *testenv.House) bool { return h.Git(h.Origin, "for-each-ref", "refs/heads/develop-*") != "" }, "pr.opened"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "branch moved" {
				hosttest.Long(t, "one more of git's commands")
			}
			t.Parallel()
			h := openTinyProject(t, farewells())
			p := killedAfterGit(t, h, c.command)
			if !c.met(h) || count(p, c.not) > 0 {
				t.Fatalf("not the moment after %s:\n%s", name, p.Tell())
			}
			// What is done again is the same commit in another second too.
			time.Sleep(1100 * time.Millisecond)
			waitForSummary(t, h.Start("resume"), 0)
			checkDelivered(t, h, 1, 1, 1)
			got := outcomeOf(h)
			if got.tree != want.tree {
				t.Errorf("tree %s, without a kill %s", got.tree, want.tree)
			}
			checkCallsRepeated(t, want.calls, got.calls, 0)
			changesNothing(t, h)
		})
	}
}

// killedAfterGit is a company that was killed when git had done a command that
// matches a shell pattern.
func killedAfterGit(t *testing.T, h *testenv.House, pattern string) *testenv.Process {
	t.Helper()
	held, free := slowGit(t, h, pattern)
	p := h.Start("submit", "say goodbye")
	t.Cleanup(free)
	hosttest.Eventually(t, "git is told "+pattern, func() (any, bool) { return p.Tell(), held() })
	p.Kill()
	free()
	return p
}

// slowGit gives the company, in a mount namespace of its own, a git that once
// does what it is told and then does not return: held says that it stands
// there, free lets it go.
func slowGit(t *testing.T, h *testenv.House, pattern string) (held func() bool, free func()) {
	t.Helper()
	const git = "/usr/bin/git"
	bin := filepath.Join(h.Dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, "cp", git, filepath.Join(bin, "git"))
	script := fmt.Sprintf(`#!/bin/sh
%[1]s/git "$@"
code=$?
case "$*" in %[2]s)
	if [ ! -e %[1]s/held ]; then
		: >%[1]s/held
		n=0
		while [ ! -e %[1]s/free ] && [ $n -lt 1200 ]; do sleep 0.1; n=$((n+1)); done
	fi
esac
exit $code
`, bin, pattern)
	slow := filepath.Join(bin, "slow")
	if err := os.WriteFile(slow, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	own := []string{"unshare", "--mount"}
	if os.Geteuid() != 0 {
		own = append(own, "--map-root-user") // mounting in it needs no more
	}
	h.Under = append(own, "/bin/sh", "-c", `mount --bind "$0" `+git+` && exec "$@"`, slow)
	return func() bool {
			_, err := os.Stat(filepath.Join(bin, "held"))
			return err == nil
		}, func() {
			if err := os.WriteFile(filepath.Join(bin, "free"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
}
