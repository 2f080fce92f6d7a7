package sandbox_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"company/internal/adapters"
	"company/internal/bus"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/lib/hosttest"
)

// every makes TestInterruptedWork try each way at each record.
var every = flag.Bool("every", false, "interrupt in every way at every record")

const (
	task  = company.TaskID("t1")
	sub   = company.SubtaskID("t1-01")
	runID = company.RunID("t1-01.1")
)

// script is what a model asks for that never looks again: much of it does other
// things when it is done twice, or not at all.
var script = [][]string{
	{`read_file {"path":"a.txt"}`, `read_file {"path":"sub/b.txt"}`},
	{`edit_file {"path":"a.txt","old":"two","new":"zwei"}`, `edit_file {"path":"a.txt","old":"one","new":"eins"}`,
		`write_file {"path":"new.txt","content":"new\n"}`, `run_command {"command":"echo one >> log.txt"}`},
	{`run_command {"command":"mkdir -p deep/empty; git add -A; echo two >> log.txt"}`},
	{`run_command {"command":"git commit -qm '[t1-01] by hand'; git log -1 --format=%h"}`},
	{`run_command {"command":"cp log.txt deep/empty/copy; echo three >> log.txt"}`, `git_commit {"message":"middle"}`},
	{`edit_file {"path":"a.txt","old":"zwei","new":"deux"}`, `edit_file {"path":"sub/b.txt","old":"b","new":"c"}`,
		`write_file {"path":"new.txt","content":"newer\n"}`},
	{`run_command {"command":"git stash -q; git checkout -q -b side HEAD~1; echo s > side.txt; git add side.txt; git commit -qm '[t1-01] side'; git checkout -q -"}`},
	{`run_command {"command":"git stash pop -q; git branch -a; echo four >> log.txt"}`,
		`run_command {"command":"git stash list; cat log.txt"}`},
	{`git_commit {"message":"before the merge"}`, `run_command {"command":"git merge -q --no-ff --no-commit side"}`},
	{`write_file {"path":"resolved.txt","content":"r\n"}`},
	{`git_commit {"message":"merge side"}`},
	{`run_command {"command":"git bisect start; echo five >> log.txt"}`}, // no checkpoint holds this
	{`run_command {"command":"cp log.txt copy.txt; echo six >> log.txt"}`,
		`run_command {"command":"git bisect reset; git rev-parse --short HEAD"}`},
	{`run_command {"command":"printf '%s' \"$(wc -l < log.txt)\" > lines.txt; git commit -qam '[t1-01] counted'"}`},
	{`git_commit {"message":"all"}`, `finish {"summary":"done"}`},
}

// scriptTools are the tools of the script that act in the container by one call
// each.
var scriptTools = []string{"read_file", "write_file", "edit_file", "run_command", "git_commit"}

// outcome is what must not depend on interruptions.
type outcome struct {
	tree, commits, said string
	asked               int
}

// unsteady differs between two runs of the same commands: ids of commits follow
// the clock, and what a command took.
var unsteady = regexp.MustCompile(`\b[0-9a-f]{7,40}\b|after \d+(\.\d+)?m?s`)

func (h *house) outcome() outcome {
	h.t.Helper()
	r := h.Task(task).Runs[runID]
	if r == nil || !r.Ended || r.Status != company.RunSuccess {
		h.t.Fatalf("the run has not ended well: %+v", r)
	}
	head := h.Task(task).Subtask(sub).Head
	log, err := h.p.Mirror.Log(h.t.Context(), h.p.Base, head, 50)
	if err != nil {
		h.t.Fatal(err)
	}
	var o outcome
	o.asked = h.model.asked
	o.tree = string(h.p.Tree(head))
	for _, c := range log {
		o.commits += fmt.Sprintf("%d %s\n", len(c.Parents), strings.TrimSpace(c.Message))
	}
	for _, m := range h.model.last {
		text, _, _ := strings.Cut(m.Content, "\n\n[system]")
		if m.Role == adapters.User && strings.HasPrefix(text, "[system]") {
			continue
		}
		if m.Role == adapters.System {
			text = ""
		}
		o.said += unsteady.ReplaceAllString(fmt.Sprintf("%s %s %v\n", m.Role, text, m.ToolCalls), "#")
	}
	return o
}

// Ways in which a process ends at one record of the journal.
var ways = []string{
	"killed before", "killed after", "interrupted before", "interrupted after", "stopped", "paused", "disk full",
}

var (
	errKilled    = errors.New("killed")
	errInterrupt = errors.New("interrupted")
)

// cutLog is the bus's log, on which one process comes to its end.
type cutLog struct {
	bus.Log
	mu     sync.Mutex
	n      int // records of the journal so far
	at     int // 0: nothing happens
	way    string
	strike func(way string)
}

func (l *cutLog) Append(ctx context.Context, subject string, data []byte, expect uint64, id string) (uint64, error) {
	if subject != "run."+string(runID) {
		return l.Log.Append(ctx, subject, data, expect, id)
	}
	l.mu.Lock()
	l.n++
	at, way, n := l.at, l.way, l.n
	l.mu.Unlock()
	if at == 0 || n < at {
		return l.Log.Append(ctx, subject, data, expect, id)
	}
	before := strings.HasSuffix(way, "before")
	switch {
	case way == "disk full":
		return 0, company.E(company.EBus, "no space left on device")
	case strings.HasPrefix(way, "killed") && (before || n > at):
		l.strike(way)
		return 0, errKilled
	case before:
		l.strike(way)
	}
	seq, err := l.Log.Append(ctx, subject, data, expect, id)
	if !before && n == at {
		l.strike(way)
	}
	return seq, err
}

type cutBus struct {
	bus.Bus
	log bus.Log
}

func (b cutBus) Log() bus.Log { return b.log }

// interrupted works on the run, with the process ending at a record in a way,
// and another process after it.
func interrupted(t *testing.T, at int, way string) outcome {
	h := newHouse(t)
	ctx, stop := context.WithCancelCause(t.Context())
	h.log.at, h.log.way = at, way
	h.log.strike = func(way string) {
		switch {
		case strings.HasPrefix(way, "killed"):
			h.dead = true
			h.cells.kill()
			stop(errKilled)
		case way == "stopped":
			h.cells.kill()
			stop(errInterrupt)
		case way == "paused":
			if !h.Task(task).Paused {
				h.Must(company.Pause{Task: task})
			}
		default:
			stop(errInterrupt)
		}
	}
	err := h.work(ctx)
	stop(nil)
	h.log.mu.Lock()
	h.log.at = 0
	h.log.mu.Unlock()
	h.dead = false
	if way == "paused" && !h.Task(task).Runs[runID].Ended {
		h.Must(company.Pause{Task: task, Off: true})
	}
	return h.goOn(err)
}

// interruptedInCall works on the run, interrupted in a call of a tool that has
// done its work and whose answer is lost, and another process after it.
func interruptedInCall(t *testing.T, at int) outcome {
	h := newHouse(t)
	ctx, stop := context.WithCancelCause(t.Context())
	var n atomic.Int64
	h.cells.lose = func(tool string) bool {
		if !slices.Contains(scriptTools, tool) || n.Add(1) != int64(at) {
			return false
		}
		stop(errInterrupt)
		return true
	}
	err := h.work(ctx)
	stop(nil)
	if n.Load() < int64(at) {
		t.Fatalf("%d calls, no interruption: %v", n.Load(), err)
	}
	return h.goOn(err)
}

// goOn is the process after one that err ended.
func (h *house) goOn(err error) outcome {
	h.t.Helper()
	if r := h.Task(task).Runs[runID]; r.Ended {
		if r.Status != company.RunSuccess {
			h.t.Fatalf("the run ended: %+v, %v", r, err)
		}
		return h.outcome()
	}
	h.Must(company.StartOffice{Office: decidertest.Office}) // voids the claim, if it is still there
	if err := h.work(h.t.Context()); err != nil {
		h.t.Fatalf("the next process: %v", err)
	}
	return h.outcome()
}

// TestInterruptedWork: a worker's process ends, in one of the ways there are, at
// every eighth record of the journal (as a variant at every fourth, with -every in all
// ways at all), or in a call whose answer is lost (with -every in each). The tree, the
// commits and what the model is shown are those of an undisturbed run.
func TestInterruptedWork(t *testing.T) {
	control := newHouse(t)
	if err := control.work(t.Context()); err != nil {
		t.Fatal(err)
	}
	want, total := control.outcome(), control.log.n
	if !strings.Contains(want.said, "committed") || strings.Contains(want.said, "not read yet") {
		t.Fatalf("undisturbed:\n%s", want.said)
	}
	const apart = 4
	for n := 1; n <= total; n++ {
		for w, way := range ways {
			if !*every && (n%apart != 0 || (n/apart+w)%len(ways) != 0) {
				continue
			}
			t.Run(fmt.Sprintf("%s record %d of %d", way, n, total), func(t *testing.T) {
				if !*every && n%(2*apart) != 0 {
					hosttest.Long(t, "each way once more, at another record")
				}
				t.Parallel()
				compareOutcome(t, interrupted(t, n, way), want)
			})
		}
	}
	n := 0
	for turn, calls := range script {
		for i, spec := range calls {
			tool, _, _ := strings.Cut(spec, " ")
			if !slices.Contains(scriptTools, tool) {
				continue
			}
			n++
			at := n
			// Changes that share a checkpoint with one before them, always.
			if brief := tool == "edit_file" || tool == "write_file"; !*every && (!brief || i == 0) {
				continue
			}
			t.Run(fmt.Sprintf("in call %d of reply %d, %s", i+1, turn+1, tool), func(t *testing.T) {
				if !*every && turn < 5 {
					hosttest.Long(t, "the same tools in another reply")
				}
				t.Parallel()
				compareOutcome(t, interruptedInCall(t, at), want)
			})
		}
	}
}

// compareOutcome reports what an interruption has changed.
func compareOutcome(t *testing.T, got, want outcome) {
	t.Helper()
	if got.tree != want.tree {
		t.Errorf("tree %s, undisturbed %s", got.tree, want.tree)
	}
	if got.commits != want.commits {
		t.Errorf("commits\n%sundisturbed\n%s", got.commits, want.commits)
	}
	if got.said != want.said {
		t.Errorf("the conversation is another: %s", firstDifference(got.said, want.said))
	}
	if more := got.asked - want.asked; more > 1 {
		t.Errorf("%d model calls more", more)
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n%.500s\nundisturbed\n%.500s", i, a[i], b[i])
		}
	}
	return "one is longer"
}
