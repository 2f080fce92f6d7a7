package view

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/present/feed"
	"company/internal/present/termtext"
	"company/internal/present/view/viewtest"
)

// timeOfDay is the time of an item as its reader's clock shows it.
var timeOfDay = regexp.MustCompile(`^\d\d:\d\d:\d\d`)

// mostFeedLines bounds the feed in a golden file.
const mostFeedLines = 60

// TestScreensStay: what people see of the golden ledgers on terminals of two widths,
// in colour and without, is what is stored; and no line is wider than the terminal
// but commands and paths, which are never cut.
func TestScreensStay(t *testing.T) {
	useUTC(t)
	for ledger, styles := range map[string][]Style{
		"ledger-1": {{Width: 80}, {Width: 120}, {Width: 80, Color: true}, {Width: 120, Color: true},
			{Width: 120, Verbose: true}},
		"ledger-3": {{Width: 80}, {Width: 120, Color: true}}, // the ways to show it are shown by the other
	} {
		events := readLedger(t, filepath.Join("..", "..", "company", "testdata", ledger+".ndjson"))
		for moment, n := range moments(t, events) {
			for _, s := range styles {
				holdScreens(t, fmt.Sprintf("%s-%s", ledger, moment), events[:n], s)
			}
		}
	}
}

// holdScreens compares the screens after some events with the stored ones.
func holdScreens(t *testing.T, name string, events []company.Event, s Style) {
	t.Helper()
	name += fmt.Sprintf("-%d", s.Width)
	if s.Color {
		name += "-colour"
	}
	if s.Verbose {
		name += "-verbose"
	}
	t.Run(name, func(t *testing.T) {
		text := screensAt(t, events, len(events), s)
		holdOutput(t, filepath.Join("testdata", "screens", name+".txt"), text)
		for line := range bytes.Lines(text) {
			if cells := termtext.Cells(string(line)); cells > s.Width && !bytes.Contains(line, []byte("company ")) &&
				!bytes.HasPrefix(line, []byte("== ")) {
				t.Errorf("%d cells: %s", cells, line)
			}
		}
	})
}

// TestUntestedIsTheSameWordEverywhere: where a linter is all that looked at a complete
// task, each command that says how it ended has the word that the pull request and the
// pages have. list shows the status itself, by which it filters.
func TestUntestedIsTheSameWordEverywhere(t *testing.T) {
	state, task := viewtest.TaskOf(func(_ *company.State, task *company.Task) {
		task.Gate.Result.Checks = task.Gate.Result.Checks[:1]
	})
	src := Source{State: state, Now: viewtest.Time.Add(time.Hour), Models: defaultModels{}}
	for command, text := range map[string]string{
		"status": overviewOf(src, false).Render(Style{Width: 80}),
		"show":   src.TaskDetail(task).Render(Style{Width: 80}),
		"submit": src.Summary(task).Render(Style{Width: 80}),
	} {
		if !strings.Contains(text, "done, UNTESTED") && !strings.Contains(text, "is done, UNTESTED,") ||
			strings.Contains(text, "untested") {
			t.Errorf("%s does not say UNTESTED of the task:\n%s", command, text)
		}
	}
}

// screensAt is what the commands show after the first n events: of tasks, of
// subtasks and of runs one for each way that they stand.
func screensAt(t *testing.T, events []company.Event, n int, s Style) []byte {
	t.Helper()
	b, state := &sheet{t: t}, company.NewState()
	var shown bytes.Buffer
	display := &feed.Display{Out: &shown, Style: func() Style { return s }}
	held := &storedArchives{state: state, by: map[company.TaskID]*company.Archive{}, read: map[company.TaskID]int{}}
	for _, e := range events[:n] {
		if e.Kind == "task.archived" {
			held.keep(t, e.Task)
		}
		if err := company.Apply(state, e); err != nil {
			t.Fatal(err)
		}
		if _, err := display.Show(feed.Describe(e, state.Tasks[e.Task])); err != nil {
			t.Fatal(err)
		}
	}
	src := Source{State: state, Now: events[n-1].Time.Add(90 * time.Second), AtWork: true,
		Folders: Folders{Root: "/office", Runs: "/office/runs"}, Models: defaultModels{}, Archives: held}
	b.putText("status", overviewOf(src, false).Render(s))
	src.AtWork = false
	b.putText("status, with nobody at work", overviewOf(src, false).Render(s))
	src.AtWork = true
	list, err := src.TaskList(TaskFilter{Limit: 12})
	if err != nil {
		t.Fatal(err)
	}
	b.putText("list", list.Render(s))
	b.putText("agents", src.Agents().Render(s))
	b.putText("pr list", PullRequestsText(src.PullRequests(), s))
	seen := map[string]bool{}
	for _, task := range state.SortedTasks() {
		ids := map[string]string{"task " + string(state.Shown(task)): string(task.ID)}
		for _, sub := range task.Subtasks {
			ids["subtask "+string(sub.Status)] = string(sub.ID)
		}
		for _, q := range state.OpenApprovals(task.ID) {
			ids["question "+string(q.Kind)] = string(q.ID)
		}
		for _, how := range slices.Sorted(maps.Keys(ids)) {
			if seen[how] {
				continue
			}
			seen[how] = true
			v, err := src.Show(ids[how])
			if err != nil {
				t.Fatal(err)
			}
			b.putText("show "+ids[how], v.Render(s))
			if v.Question != nil {
				b.putText("the prompt of "+ids[how], v.Question.RenderPrompt(s))
			}
			if v.Task != nil && (task.Status != company.StatusCompleted || task.PR != nil || task.DryRun) {
				b.putText("the end of submit "+ids[how], src.Summary(task).Render(s))
			}
		}
	}
	lines := strings.SplitAfter(shown.String(), "\n")
	var recent []string
	for _, line := range lines[max(0, len(lines)-mostFeedLines):] {
		recent = append(recent, timeOfDay.ReplaceAllString(line, "hh:mm:ss"))
	}
	b.putText("feed", strings.Join(recent, ""))
	return b.Bytes()
}
