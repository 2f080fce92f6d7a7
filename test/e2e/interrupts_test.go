package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// The long form of TestInterrupts is make interrupts.
var (
	moments = flag.Int("moments", usualMoments, "how many times TestInterrupts ends a company")
	seed    = flag.Uint64("seed", 1, "which moments they are")
)

const (
	perHouse     = 5  // moments in the life of one task
	usualMoments = 20 // of which make test tries the first half
)

// neverLooks is what a worker does that never looks again: much of it does
// other things when it is done twice, or not at all.
var neverLooks = [][]scripted.Call{
	{{Tool: "list_files", Args: m{}}, {Tool: "read_file", Args: m{"path": "test.sh"}}},
	{{Tool: "write_file", Args: m{"path": "farewell.sh", "content": "echo goodbye\n"}},
		{Tool: "run_command", Args: m{"command": "echo one >> log.txt"}}},
	{{Tool: "run_command", Args: m{"command": "mkdir -p checks deep/empty; git add -A; echo two >> log.txt"}}},
	{{Tool: "run_command", Args: m{"command": "git commit -qm '[t1-01] by hand'"}}},
	{{Tool: "run_command", Args: m{"command": "cp log.txt deep/empty/copy; sleep 0.3; echo three >> log.txt"}},
		{Tool: "git_commit", Args: m{"message": "middle"}}},
	{{Tool: "edit_file", Args: m{"path": "farewell.sh", "old": "goodbye", "new": "good bye"}},
		{Tool: "edit_file", Args: m{"path": "farewell.sh", "old": "good bye", "new": "goodbye"}}},
	{{Tool: "run_command",
		Args: m{"command": "git stash -qu; git checkout -q -b side HEAD~1; echo s > side.txt; git add side.txt; git commit " +
			"-qm '[t1-01] side'; git checkout -q -"}}},
	{{Tool: "run_command", Args: m{"command": "git stash pop -q; echo four >> log.txt"}},
		{Tool: "run_command", Args: m{"command": "cat log.txt"}}},
	{{Tool: "git_commit", Args: m{"message": "before the merge"}},
		{Tool: "run_command", Args: m{"command": "git merge -q --no-ff --no-commit side"}}},
	{{Tool: "write_file", Args: m{"path": "checks/farewell.sh", "content": "test \"$(sh farewell.sh)\" = goodbye\n"}}},
	{{Tool: "git_commit", Args: m{"message": "merge side"}}},
	{{Tool: "run_command", Args: m{"command": "git bisect start; echo five >> log.txt"}}}, // no checkpoint holds this
	{{Tool: "run_command", Args: m{"command": "cp log.txt copy.txt; sleep 0.3; echo six >> log.txt"}},
		{Tool: "run_command", Args: m{"command": "git bisect reset"}}},
	{{Tool: "run_command", Args: m{"command": "wc -l < log.txt > lines.txt; sh ./test.sh"}}},
	{{Tool: "git_commit", Args: m{"message": "all"}}},
	{{Tool: "finish", Args: m{"summary": "done"}}},
}

// blind is a staff whose worker never looks, and what that worker was shown.
type blind struct {
	staff
	mu   sync.Mutex
	said []adapters.Message
}

func newBlind() *blind {
	b := &blind{staff: staff{manager: submitPlan(farewellTicket())}}
	b.worker = func(x scripted.Exchange) scripted.Reply {
		if x.Turn >= len(neverLooks) {
			return scripted.Reply{Err: "the worker should have finished"}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.said = x.Messages
		return scripted.Reply{Calls: neverLooks[x.Turn]}
	}
	return b
}

// unsteady differs between two runs of the same commands.
var unsteady = regexp.MustCompile(`\b[0-9a-f]{7,40}\b|after [0-9.]+m?s`)

// undisturbed is the outcome of the task: tree and commits of the branch, and
// what the worker was shown, without what tells of interruptions.
func (b *blind) undisturbed(h *testenv.House) (tree, said string) {
	branch := integrationBranch(h, 1)
	tree = h.Git(h.Origin, "rev-parse", branch+"^{tree}") + "\n" +
		h.Git(h.Origin, "log", "--format=%p %s", "--topo-order", branch)
	tree = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`).ReplaceAllString(strings.Replace(tree, h.OfficeID(), "", -1), "#") +
		h.Git(h.Origin, "ls-tree", "-r", branch)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, msg := range b.said {
		text, _, _ := strings.Cut(msg.Content, "\n\n[system]")
		if i < 2 || msg.Role == adapters.User && strings.HasPrefix(text, "[system]") {
			continue // system and brief: the same text, with ids of the office
		}
		said += unsteady.ReplaceAllString(fmt.Sprintf("%s %s %v\n", msg.Role, text, msg.ToolCalls), "#")
	}
	return tree, said
}

// endings are the ways in which a company ends before its work does.
var endings = []string{"kill -9", "SIGINT", "SIGTERM", "SIGHUP", "stop", "pause", "disk full"}

// end ends a company in one way. One that comes to its end by itself may have
// come to further stops: they let go.
func end(t *testing.T, h *testenv.House, p *testenv.Process, how string, further []*stop) {
	t.Helper()
	if how == "pause" || how == "disk full" {
		for _, s := range further {
			s.release()
		}
	}
	signals := map[string]syscall.Signal{"kill -9": syscall.SIGKILL, "SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM,
		"SIGHUP": syscall.SIGHUP}
	switch how {
	case "stop":
		takenUp(p)
		h.Run(patience, "stop")
	case "pause":
		takenUp(p)
		h.Run(patience, "pause", "t1")
	case "disk full":
		filler := filepath.Join(h.State(), "filler")
		_ = exec.Command("dd", "if=/dev/zero", "of="+filler, "bs=64k").Run() // it ends when the disk is full
		p.Wait(patience)
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	default:
		p.Signal(signals[how])
	}
	p.Wait(patience)
}

// takenUp waits until a company has taken the work up. A resume that is still
// beginning lifts the stop or pause that came before it, as it should.
func takenUp(p *testenv.Process) { p.Event(patience, "run.claimed", "t1-01") }

// smallDisk puts the state of the office on a disk that can be filled.
func smallDisk(t *testing.T, h *testenv.House) {
	t.Helper()
	disk := filepath.Join(h.Dir, "state")
	if err := os.MkdirAll(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64m,mode=0700"); err != nil {
		t.Fatalf("mount a small disk, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
}

// TestInterrupts ends the company at seeded moments of a worker's run, in every
// way there is, and lets it go on: the tree that is delivered is the one of a
// company that nobody disturbed, with a worker that never looks again.
func TestInterrupts(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	control := newBlind()
	ctl := openTinyProject(t, control)
	waitForSummary(t, ctl.Start("submit", "say goodbye"), 0)
	wantTree, wantSaid := control.undisturbed(ctl)
	for n := range (*moments + perHouse - 1) / perHouse {
		t.Run(fmt.Sprintf("task %d of seed %d", n+1, *seed), func(t *testing.T) {
			if *moments == usualMoments && n*perHouse >= usualMoments/2 {
				hosttest.Long(t, "more moments of the same ways")
			}
			t.Parallel()
			rng := rand.New(rand.NewPCG(*seed, uint64(n)))
			b := newBlind()
			// A turn each, and a moment within what follows.
			turns := rng.Perm(len(neverLooks) - 1)[:perHouse]
			for i := range len(neverLooks) {
				for _, turn := range turns {
					if i == turn+1 {
						b.stops = append(b.stops, stopAt("t1-01.1", i))
					}
				}
			}
			for _, s := range b.stops {
				t.Cleanup(s.release)
			}
			h := openTinyProject(t, b)
			full := n%4 == 0
			if full {
				smallDisk(t, h)
			}
			p := h.Start("submit", "say goodbye")
			t.Cleanup(func() { p.Signal(syscall.SIGKILL) }) // before the disk is taken away
			t.Cleanup(func() {
				if t.Failed() { // the process alone knows what happened since it began
					t.Log(h.Run(patience, "feed", "t1").Stdout, h.Run(patience, "logs", "--full", "t1-01.1").Stdout)
				}
			})
			told := ""
			for i, s := range b.stops {
				s.wait(t, p)
				how := endings[(n*perHouse+i)%(len(endings)-1)]
				if full && i == 2 {
					how = "disk full"
				}
				after := time.Duration(rng.IntN(400)) * time.Millisecond
				told += fmt.Sprintf("%s %s after reply %d\n", how, after, s.turn)
				s.release()
				time.Sleep(after) // the moment itself: whatever the company is at then
				end(t, h, p, how, b.stops[i+1:])
				p = h.Start("resume")
			}
			waitForSummary(t, p, 0)
			checkDelivered(t, h, 1, 1, 1)
			tree, said := b.undisturbed(h)
			if tree != wantTree {
				t.Errorf("after\n%sthe branch is\n%s\nundisturbed\n%s", told, tree, wantTree)
			}
			if said != wantSaid {
				t.Errorf("after\n%sthe worker was shown\n%s\nundisturbed\n%s", told, said, wantSaid)
			}
			for run := range h.Model.Calls().ByRun {
				if _, sub, role, n, _ := run.Split(); sub != "" && role == company.Worker && n > 1 {
					t.Errorf("after\n%s%s is a run that there is not without interruptions", told, run)
				}
			}
			if t.Failed() {
				t.Log(p.Tell())
			}
		})
	}
}
