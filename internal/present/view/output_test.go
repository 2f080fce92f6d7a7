package view

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/office/config"
	"company/internal/present/feed"
)

var writeOutput = flag.Bool("output", false, "write what the commands print of the golden ledgers")

const outputAdvice = `Programs read this output. If it should change, rewrite it and read the difference:
    go test ./internal/present/view -run TestOutputStays -output`

// outputLedgers are the golden ledgers whose output is held.
var outputLedgers = []int{1, 2, 3}

// TestOutputStays: what the commands print of the golden ledgers, for programs
// and for people, is what is stored. Shapes of the JSON are a promise.
func TestOutputStays(t *testing.T) {
	useUTC(t)
	for _, n := range outputLedgers {
		name := fmt.Sprintf("ledger-%d", n)
		t.Run(name, func(t *testing.T) {
			events := readLedger(t, filepath.Join("..", "..", "company", "testdata", name+".ndjson"))
			for moment, n := range moments(t, events) {
				holdOutput(t, filepath.Join("testdata", "output", name+"-"+moment+".txt"), printedAt(t, events, n))
			}
			holdOutput(t, filepath.Join("testdata", "output", name+"-feed.txt"), printedFeed(t, events))
		})
	}
}

func holdOutput(t *testing.T, file string, got []byte) {
	t.Helper()
	if *writeOutput {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, outputAdvice)
	}
	if bytes.Equal(got, want) {
		return
	}
	was, is := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			from := commonStart(was[i], is[i])
			t.Fatalf("%s:%d, from byte %d on\n was: %.200s\n is:  %.200s\n%s", file, i+1, from, was[i][from:], is[i][from:],
				outputAdvice)
		}
	}
	t.Fatalf("%s had %d lines and has %d\n%s", file, len(was), len(is), outputAdvice)
}

// commonStart is how many bytes two lines begin with alike, less a few to see
// where the difference is.
func commonStart(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return max(0, n-40)
}

func readLedger(t *testing.T, file string) []company.Event {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []company.Event
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var e company.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s:%d: %v", file, len(out)+1, err)
		}
		out = append(out, e)
	}
	return out
}

// moments are the numbers of events at which most is to be seen: the first
// moment with the most runs at work, the first with the most open questions,
// and the end.
func moments(t *testing.T, events []company.Event) map[string]int {
	t.Helper()
	out := map[string]int{"end": len(events)}
	s, runs, questions := company.NewState(), -1, -1
	for i, e := range events {
		if err := company.Apply(s, e); err != nil {
			t.Fatal(err)
		}
		if n := len(s.ActiveAgents()); n > runs {
			runs, out["busy"] = n, i+1
		}
		if n := len(s.OpenApprovals("")); n > questions {
			questions, out["asking"] = n, i+1
		}
	}
	return out
}

// sheet collects what commands print.
type sheet struct {
	t *testing.T
	bytes.Buffer
}

func (b *sheet) putJSON(command string, v any) {
	b.t.Helper()
	fmt.Fprintf(b, "== %s -o json\n", command)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		b.t.Fatal(err)
	}
}

func (b *sheet) put(command string, v any) {
	b.t.Helper()
	b.putJSON(command, v)
	switch people := v.(type) {
	case interface{ Render(Style) string }:
		b.putText(command, people.Render(Style{}))
	case interface{ RenderText() string }:
		b.putText(command, people.RenderText())
	}
}

// localTime is a time as people read it, where they are.
var localTime = regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b`)

func (b *sheet) putText(command, text string) {
	fmt.Fprintf(b, "== %s\n%s", command, localTime.ReplaceAllString(text, "(local time)"))
	if !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
}

// putShown adds the output of show for an id. The golden files hold it.
func (b *sheet) putShown(command string, v Shown) {
	text := v.Render(Style{})
	v = v.Printed()
	var one any
	switch {
	case v.Question != nil:
		one = v.Question
	case v.Run != nil:
		one = v.Run
	case v.Subtask != nil:
		one = v.Subtask
	default:
		one = v.Task
	}
	b.putJSON(command, one)
	b.putText(command, text)
}

// printedAt is what the commands print after the first n events. No file of
// the office is looked at.
func printedAt(t *testing.T, events []company.Event, n int) []byte {
	t.Helper()
	s := company.NewState()
	held := &storedArchives{state: s, by: map[company.TaskID]*company.Archive{}, read: map[company.TaskID]int{}}
	for _, e := range events[:n] {
		if e.Kind == "task.archived" {
			held.keep(t, e.Task)
		}
		if err := company.Apply(s, e); err != nil {
			t.Fatal(err)
		}
	}
	now := events[n-1].Time.Add(90 * time.Second)
	src := Source{
		State: s, Now: now, Folders: Folders{Root: "/office", Runs: "/office/runs", Backlog: "/office/backlog"},
		Models: defaultModels{}, Archives: held,
	}
	b := &sheet{t: t}
	for _, src.AtWork = range []bool{true, false} {
		if src.Runtime = ""; src.AtWork {
			src.Runtime = "dod"
		}
		b.put(fmt.Sprintf("status (at work: %v)", src.AtWork), overviewOf(src, true))
		b.put(fmt.Sprintf("agents (at work: %v)", src.AtWork), src.Agents())
	}
	src.AtWork = true
	b.putText("status, without -v", overviewOf(src, false).RenderText())
	src.AtWork = false
	list, err := src.TaskList(TaskFilter{})
	if err != nil {
		t.Fatal(err)
	}
	b.put("list", list)
	costs, err := src.Spending(time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	b.put("costs", costs)
	b.putJSON("budgets of the office", src.OfficeBudgets())
	b.putJSON("projects", src.Projects())
	b.putJSON("images", src.Images())
	for _, pull := range s.Pulls() {
		b.put(fmt.Sprintf("pr %d", pull.Number), NewPullRequest(pullTask(pull)))
	}
	for _, task := range s.SortedTasks() {
		ids := []string{string(task.ID)}
		for _, sub := range task.Subtasks {
			ids = append(ids, string(sub.ID))
		}
		for _, r := range src.runsOf(task, "") {
			ids = append(ids, string(r.ID))
		}
		for _, q := range s.Approvals {
			if q.Task == task.ID {
				ids = append(ids, string(q.ID))
			}
		}
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			v, err := src.Show(id)
			if err != nil {
				t.Fatal(err)
			}
			b.putShown("show "+id, v)
		}
		b.put("budget "+string(task.ID), NewBudget(task).Printed())
		if task.Status != company.StatusCompleted || task.PR != nil || task.DryRun {
			b.put("the end of submit "+string(task.ID), Source{State: s}.Summary(task))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Past)) {
		v, err := src.Show(string(id))
		if err != nil {
			t.Fatal(err)
		}
		b.putShown("show "+string(id), v)
	}
	return b.Bytes()
}

// useUTC has times and days printed in UTC, wherever the test runs.
func useUTC(t *testing.T) {
	t.Helper()
	was := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = was })
}

// printedFeed is the feed of a ledger: of each kind of event and each mark the
// first three.
func printedFeed(t *testing.T, events []company.Event) []byte {
	t.Helper()
	b, s := &sheet{t: t}, company.NewState()
	seen := map[string]int{}
	for _, e := range events {
		if err := company.Apply(s, e); err != nil {
			t.Fatal(err)
		}
		it := feed.Describe(e, s.Tasks[e.Task])
		if key := it.Kind + string(it.Mark); seen[key] < 3 {
			seen[key]++
			b.putJSON("feed", it)
			b.putText("feed", it.Render(Style{Verbose: true})[len("15:04:05 "):]) // the time is the reader's local one
		}
	}
	return b.Bytes()
}

// defaultModels are those of a config that says nothing.
type defaultModels struct{}

func (defaultModels) ModelOf(role company.Role) string { return config.Default().Agent(role).Model }
