// Package bench measures what a user notices: a turn of an agent, a small task, the first request on a large
// repository, the memory of an idle office, a start with a long past, the page, and how many subtasks the engine
// carries. It sees the program from outside, with a model server that answers at once. docs/performance.md has the
// numbers and their bounds. A benchmark decides nothing.
package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/test/testenv"
)

type m = map[string]any

// millis returns the median of some durations, in milliseconds.
func millis(took []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(took))
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[len(sorted)/2]) / float64(time.Millisecond)
}

func call(tool string, args any) scripted.Reply {
	return scripted.Reply{Calls: []scripted.Call{{Tool: tool, Args: args}}}
}

// crew does one small ticket in each task: it adds a file.
func crew(x scripted.Exchange) scripted.Reply {
	file := string(x.Header.Task) + ".txt"
	steps := map[company.Role][]scripted.Reply{
		company.Manager: {call("submit_plan", m{"why": "one file", "waves": []m{{"subtasks": []m{{
			"title": "Add " + file, "description": "Add the file " + file + " with one line.",
			"acceptance_criteria": []string{"it is there"}, "write_set": []string{file}, "effort": "small",
		}}}}})},
		company.Worker: {call("write_file", m{"path": file, "content": "done\n"}),
			call("git_commit", m{"message": "Add " + file}), call("finish", m{"summary": "added"})},
		company.Reviewer: {call("submit_review", m{"verdict": "approve", "findings": []m{},
			"evidence": []string{"the diff", "the diff is one line"}})},
	}[x.Header.Role]
	if x.Turn >= len(steps) {
		return scripted.Reply{Err: "the script of " + string(x.Header.Run) + " has ended"}
	}
	return steps[x.Turn]
}

// openHouse opens an office with the crew, and does one task there, so that its image is made.
func openHouse(b *testing.B, fill func(*testenv.House)) *testenv.House {
	b.Helper()
	h := testenv.NewFilled(b, scripted.BrainFunc(crew), func(h *testenv.House) {
		h.Write("README.md", "# Small\n")
		fill(h)
	})
	h.WorkInBackground()
	h.LetManagerPlan()
	h.Config("gates: {lint: none, test: \"true\"}\n")
	h.MustRun(testenv.Patience, "submit", "add a file")
	return h
}

// BenchmarkTask is one small task, from the start of company submit to its end.
func BenchmarkTask(b *testing.B) {
	h := openHouse(b, func(*testenv.House) {})
	for b.Loop() {
		h.MustRun(testenv.Patience, "submit", "add a file")
	}
}

// BenchmarkFirstRequest is the time from the start of company submit to the first request to a model, in a repository
// of 120,000 lines.
func BenchmarkFirstRequest(b *testing.B) {
	h := openHouse(b, func(h *testenv.House) {
		for file := range 600 {
			var text strings.Builder
			fmt.Fprintf(&text, "package pkg%02d\n\n", file/20)
			for f := range 66 {
				fmt.Fprintf(&text, "func f%dof%d(n int) int {\n\treturn n*%d + %d\n}\n", f, file, f, file)
			}
			h.Write(fmt.Sprintf("pkg%02d/f%03d.go", file/20, file), text.String())
		}
	})
	var waited []time.Duration
	for b.Loop() {
		asked, began := h.Model.Calls().Total, time.Now()
		h.MustRun(testenv.Patience, "submit", "add a file")
		requests := h.Model.Requests()
		first := slices.IndexFunc(requests, func(r scripted.Logged) bool { return r.N > asked })
		waited = append(waited, requests[first].At.Sub(began))
	}
	b.ReportMetric(millis(waited), "ms/request")
}

// BenchmarkIdle is the memory that a company in the background holds by itself (without the program's text, which the
// kernel can drop) half a minute after a task, and its share of one core meanwhile.
func BenchmarkIdle(b *testing.B) {
	const rests = 25 * time.Second
	h := openHouse(b, func(*testenv.House) {})
	h.Env = append(h.Env, "COMPANY_WORKERS_WARM=1") // the default
	for b.Loop() {
		h.MustRun(testenv.Patience, "submit", "add a file")
		pid := h.Background()
		time.Sleep(5 * time.Second) // the pace: what follows the task
		before := readCPU(b, pid)
		time.Sleep(rests) // the pace: an idle office is measured
		b.ReportMetric(100*float64(readCPU(b, pid)-before)/float64(rests), "%core")
		b.ReportMetric(readMemory(b, pid), "MB")
	}
}

// readCPU returns the processor time that a process has used.
func readCPU(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest) // proc(5): user time is field 14 of the line, system time 15
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err := errors.Join(err1, err2); err != nil {
		b.Fatal(err)
	}
	const perSecond = 100 // clock ticks
	return time.Duration(user+system) * time.Second / perSecond
}

// BenchmarkCommand is company list beside a company in the background, and as the first command, which starts it.
func BenchmarkCommand(b *testing.B) {
	h := openHouse(b, func(*testenv.House) {})
	b.Run("beside", func(b *testing.B) {
		for b.Loop() {
			h.MustRun(testenv.Patience, "list")
		}
	})
	b.Run("first", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			h.EndBackground()
			began := time.Now()
			h.MustRun(testenv.Patience, "list")
			took = append(took, time.Since(began))
		}
		b.ReportMetric(millis(took), "ms/first")
	})
}

// readMemory returns the anonymous and shared memory of a process in MB.
func readMemory(b *testing.B, pid int) (sum float64) {
	b.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if name == "RssAnon" || name == "RssShmem" {
			kib, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			sum += kib * 1.024 / 1000
		}
	}
	return sum
}

// turnsEach is the number of turns of one measured conversation.
const turnsEach = 100

// BenchmarkTurn is what the company adds to a turn: the time from the end of a reply to the arrival of the next
// request. Meanwhile the reply and the tool's result are stored and synced, and the tool runs in its container.
func BenchmarkTurn(b *testing.B) {
	for _, turn := range []struct {
		name   string
		thinks time.Duration
		tool   func(n int) string
	}{
		{"command", 0, func(n int) string {
			return formatCall("run_command", fmt.Sprintf(`{"command":"echo %d"}`, n))
		}},
		{"change", 250 * time.Millisecond, func(n int) string {
			return formatCall("write_file", fmt.Sprintf(`{"path":"changed.txt","content":"change %d\n"}`, n))
		}},
	} {
		b.Run(turn.name, func(b *testing.B) {
			model := &timedModel{thinks: turn.thinks, tool: turn.tool}
			h := testenv.New(b, nil, map[string]string{"README.md": "# Small\n"})
			h.WorkInBackground()
			h.Profile = fmt.Sprintf("{adapter: openai, model: bench, base_url: %q}", model.serve(b))
			h.Config("gates: {lint: none, test: none, none: allow}\nagents: {worker: {max_turns: 1000}}\n" +
				"budget: {tokens: none}\n")
			for b.Loop() {
				model.n = 0
				h.MustRun(testenv.Patience, "submit", "add a file")
			}
			b.ReportMetric(millis(model.gaps), "ms/turn")
		})
	}
}

// timedModel has a worker call a tool turn by turn, and notes when requests arrive and when replies have left.
type timedModel struct {
	thinks time.Duration
	tool   func(n int) string // nth call, as events

	mu   sync.Mutex
	n    int // requests of the worker
	sent time.Time
	gaps []time.Duration
}

// serve serves the model until the benchmark ends, and returns its address.
func (t *timedModel) serve(b *testing.B) string {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: t, ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // it ends with Close
	b.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return "http://" + listener.Addr().String() + "/v1"
}

// ServeHTTP answers a request as a stream.
func (t *timedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now() // before the body is read
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	events, timed := t.next(body)
	if timed && t.n > 2 { // the first turns warm caches up
		t.gaps = append(t.gaps, arrived.Sub(t.sent))
	}
	if timed {
		time.Sleep(t.thinks)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, events)
	t.sent = time.Now() // before the last bytes leave
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// next returns the events of the next reply, and whether the turn before it is measured.
func (t *timedModel) next(body []byte) (events string, timed bool) {
	if bytes.Contains(body, []byte(`"submit_review"`)) {
		return formatCall("submit_review",
			`{"verdict":"approve","findings":[],"evidence":["the diff has the file","the diff has the file"]}`), false
	}
	t.n++
	switch last := t.n - turnsEach; last {
	case 1:
		return formatCall("write_file", `{"path":"end.txt","content":"`+strconv.FormatInt(time.Now().UnixNano(), 10)+
			`\n"}`), true
	case 2:
		return formatCall("git_commit", `{"message":"Add a file"}`), false
	case 3:
		return formatCall("finish", `{"summary":"added"}`), false
	}
	return t.tool(t.n), true
}

// formatCall returns the events of a reply with one call, without their end.
func formatCall(tool, args string) string {
	const chunk = `data: {"id":"reply","object":"chat.completion.chunk","created":0,"model":"bench","choices":[%s]%s}` +
		"\n\n"
	return fmt.Sprintf(chunk, fmt.Sprintf(`{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,`+
		`"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}]}}`, time.Now().UnixNano(), tool, args), "") +
		fmt.Sprintf(chunk, `{"index":0,"delta":{},"finish_reason":"tool_calls"}`, "") +
		fmt.Sprintf(chunk, "", `,"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}`)
}
