// Package perf measures what the company promises to cost while it serves:
// memory and processor when nothing is to be done, and how soon work begins on
// a repository that it knows. It owns the measures and their targets; it sees
// the program from outside. The benches of single packages are tools/bench.
package perf

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/present/feed"
	"company/test/testenv"
)

const patience = testenv.Patience

type m = map[string]any

func call(tool string, args any) scripted.Reply {
	return scripted.Reply{Calls: []scripted.Call{{Tool: tool, Args: args}}}
}

// crew does one small ticket per task: a file of the task's name.
func crew(x scripted.Exchange) scripted.Reply {
	file := string(x.Header.Task) + ".txt"
	var each []scripted.Reply
	switch x.Header.Role {
	case company.Manager:
		each = []scripted.Reply{call("submit_plan", m{"why": "one file", "waves": []m{{"subtasks": []m{{
			"title": "Add " + file, "description": "Add the file " + file + " with one line.",
			"acceptance_criteria": []string{"it is there"},
			"write_set":           []string{file}, "effort": "small",
		}}}}})}
	case company.Worker:
		each = []scripted.Reply{
			call("write_file", m{"path": file, "content": "done\n"}), call("git_commit", m{"message": "Add " + file}),
			call("finish", m{"summary": "added"}),
		}
	default:
		each = []scripted.Reply{call("submit_review",
			m{"verdict": "approve", "findings": []m{}, "evidence": []string{"the diff", "the diff is one line"}})}
	}
	if x.Turn >= len(each) {
		return scripted.Reply{Err: "the script of " + string(x.Header.Run) + " has ended"}
	}
	return each[x.Turn]
}

func open(t *testing.T) *testenv.House {
	t.Helper()
	h := testenv.New(t, scripted.BrainFunc(crew), map[string]string{"test.sh": "exit 0\n", "README.md": "# Small\n"})
	h.LetManagerPlan() // the numbers of docs/performance.md are those of planned tasks
	h.Config("gates: {lint: none, test: \"sh ./test.sh\"}\n")
	h.Env = append(h.Env, "COMPANY_WORKERS_WARM=1") // as people have it
	return h
}

func serve(t *testing.T, h *testenv.House) *testenv.Process {
	t.Helper()
	p := h.Start("serve")
	p.Until(patience, "its office", func(it feed.Item) bool {
		return it.Kind == "note" && strings.Contains(it.Text, "serves the office")
	})
	return p
}

// usage is what a process has used and holds.
type usage struct {
	cpu time.Duration
	rss int // KiB, without the program's own text
}

func used(t *testing.T, pid int) usage {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may hold blanks
	f := strings.Fields(rest)
	user, _ := strconv.Atoi(f[11])
	system, err := strconv.Atoi(f[12])
	if err != nil {
		t.Fatal(err)
	}
	u := usage{cpu: time.Duration(user+system) * 10 * time.Millisecond} // USER_HZ is 100 on every Linux
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(status)) {
		// The program's own text is left out: it is of the file, shared, and the
		// kernel drops it when it needs the memory.
		for _, own := range []string{"RssAnon:", "RssShmem:"} {
			if n, ok := strings.CutPrefix(l, own); ok {
				var kib int
				if _, err := fmt.Sscanf(n, "%d kB", &kib); err != nil {
					t.Fatal(err)
				}
				u.rss += kib
			}
		}
	}
	return u
}

// TestIdle: serve costs next to nothing when a task is done. The full measure,
// a minute after a minute, is taken with COMPANY_NUMBERS=full.
func TestIdle(t *testing.T) {
	t.Parallel() // it sleeps
	after, over := 15*time.Second, 15*time.Second
	if os.Getenv("COMPANY_NUMBERS") == "full" {
		after, over = time.Minute, time.Minute
	}
	h := open(t)
	p := serve(t, h)
	fresh := used(t, p.PID())
	h.MustRun(patience, "submit", "add a file")
	busy := used(t, p.PID())
	time.Sleep(after) // the measure is of idleness: there is nothing to wait for
	var idle usage
	var share float64
	for range 4 { // what else the machine does only adds to it
		before, began := used(t, p.PID()), time.Now()
		time.Sleep(over)
		idle = used(t, p.PID())
		share = 100 * float64(idle.cpu-before.cpu) / float64(time.Since(began))
		t.Logf("fresh %.1f MB, after a task %.1f MB, later %.1f MB; %.2f %% of a core over %s",
			mb(fresh), mb(busy), mb(idle), share, over)
		if mb(idle) <= 60 && share <= 0.5 {
			break
		}
	}
	if mb(idle) > 60 {
		t.Errorf("%.1f MB, and the target is 60", mb(idle))
	}
	if share > 0.5 {
		t.Errorf("%.2f %% of a core, and the target is 0.5", share)
	}
	end(t, p)
}

// end ends a company as a supervisor does.
func end(t *testing.T, p *testenv.Process) {
	t.Helper()
	p.Signal(syscall.SIGTERM)
	if r := p.Wait(patience); r.Code != 0 {
		t.Errorf("serve ended with %d\n%s", r.Code, p.Tell())
	}
}

func mb(u usage) float64 { return float64(u.rss) / 1000 * 1.024 }

// TestSecondTaskStartsSoon: on a repository that the company knows, with its
// image made, a worker has claimed the first run within a second of the plan and
// the baseline.
func TestSecondTaskStartsSoon(t *testing.T) {
	t.Parallel()
	h := open(t)
	p := serve(t, h)
	h.MustRun(patience, "submit", "add a file")
	var prepared, planned []time.Duration
	for n := 2; n <= 6; n++ {
		task := company.NewTaskID(n)
		h.MustRun(patience, "submit", "add another file")
		at := map[string]time.Time{}
		for _, it := range p.Items() {
			if it.Task == task && it.Seq > 0 && at[it.Kind].IsZero() {
				at[it.Kind] = it.Time
			}
			if it.Run == company.NewRunID(task, company.NewSubtaskID(task, 1), company.Worker, 1) && it.Kind == "turn_started" &&
				at["turn"].IsZero() {
				at["turn"] = it.Time
			}
		}
		var claim time.Time
		for _, it := range p.Items() {
			if it.Task == task && it.Kind == "run.claimed" && it.Subtask != "" && claim.IsZero() {
				claim = it.Time
			}
		}
		ready := at["plan.accepted"] // the image is made and the base judged beside the planning
		if at["task.baseline"].After(ready) {
			ready = at["task.baseline"]
		}
		prepared = append(prepared, at["task.prepared"].Sub(at["task.submitted"]))
		planned = append(planned, claim.Sub(ready))
		t.Logf("%s: submitted to base %s, base to image %s, base to baseline %s, base to plan %s, all to claim %s, claim "+
			"to first turn %s, submitted to completed %s", task,
			at["task.based"].Sub(at["task.submitted"]), at["task.prepared"].Sub(at["task.based"]),
			at["task.baseline"].Sub(at["task.based"]), at["plan.accepted"].Sub(at["task.based"]), claim.Sub(ready),
			at["turn"].Sub(claim),
			at["task.completed"].Sub(at["task.submitted"]))
	}
	end(t, p)
	t.Logf("medians: %s from the submission until its base, image and gates are known, %s from plan and baseline to the "+
		"claim", median(prepared), median(planned))
	if d := median(planned); d > time.Second {
		t.Errorf("median from plan and baseline to claim: %s, and the target is 1s", d)
	}
}

func median(all []time.Duration) time.Duration {
	s := append([]time.Duration(nil), all...)
	for i := range s {
		for j := i + 1; j < len(s); j++ {
			if s[j] < s[i] {
				s[i], s[j] = s[j], s[i]
			}
		}
	}
	return s[len(s)/2]
}
