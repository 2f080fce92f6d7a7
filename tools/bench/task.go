package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
)

// taskScript is a model that answers at once: one subtask, which writes a file.
const taskScript = `rules:
  - role: manager
    steps:
      - tool: submit_plan
        args: {why: one file, waves: [{subtasks: [{title: Write a file, description: Write one file., acceptance_criteria: [it is there], write_set: ["*.txt"], effort: small}]}]}
  - role: worker
    steps:
      - {tool: write_file, args: {path: "<<task>>.txt", content: "one\n"}}
      - {tool: git_commit, args: {message: Write a file}}
      - {tool: finish, args: {summary: It is written.}}
  - role: reviewer
    steps:
      - {tool: submit_review, args: {verdict: approve, evidence: [the diff has the file, the diff has the file], findings: []}}
`

// taskPhases are the parts of a task's time: each ends with the last of its events, of
// the task or of the run t-01.1 of it; the last ends with the program.
var taskPhases = []struct {
	what   string
	events []string
}{
	{"to the submission", []string{"task.submitted"}},
	{"base and plan", []string{"plan.accepted t-plan.1", "task.prepared", "task.baseline"}},
	{"to the worker", []string{"run.claimed t-01.1"}},
	{"the worker", []string{"run.ended t-01.1"}},
	{"its gate", []string{"run.claimed t-01-review.1"}},
	{"the review", []string{"review.finished t-01-review.1"}},
	{"the merge", []string{"merge.done"}},
	{"the pull request", []string{"task.completed"}},
	{"the end of the program", nil},
}

// benchTask measures one small task from the start of company submit to its end, with a
// model that answers at once, checks that take no time, and an image that is there. Where
// its time goes is read from the feed. Of a large repository it measures the waits before
// the first question to the model and before the first worker.
func benchTask(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	if err := w.openDocker(ctx); err != nil {
		return nil, err
	}
	small, err := w.runTasks(ctx, "task", w.sampleCount(9, 1), func(string) error { return nil })
	if err != nil {
		return nil, err
	}
	var whole []time.Duration
	phases := make([][]time.Duration, len(taskPhases))
	for _, s := range small {
		whole = append(whole, s.ended.Sub(s.began))
		at := s.began
		for i, p := range taskPhases {
			end := s.ended
			if p.events != nil {
				end = s.timeOfLast(p.events...)
			}
			if end.After(at) {
				phases[i] = append(phases[i], end.Sub(at))
				at = end
			}
		}
	}
	all := timeLine("submit of one small task, to its end", whole)
	lines = append(lines, all.withTarget("≤ 2 s", all.Ours <= 2000))
	for i, p := range taskPhases {
		lines = append(lines, timeLine("of it, "+p.what, phases[i]))
	}

	const thousands = 120
	large, err := w.runTasks(ctx, "large", w.sampleCount(5, 1),
		func(repo string) error { return writeLines(repo, thousands) })
	if err != nil {
		return nil, err
	}
	var asked, claimed []time.Duration
	for _, s := range large {
		asked = append(asked, s.timeOfLast("budget.reserved t-plan.1").Sub(s.began))
		claimed = append(claimed, s.timeOfLast("run.claimed t-01.1").Sub(s.timeOfLast("plan.accepted t-plan.1")))
	}
	request := timeLine(fmt.Sprintf("%d,000 lines, submit to the first model request", thousands), asked)
	worker := timeLine(fmt.Sprintf("%d,000 lines, plan to the first worker", thousands), claimed)
	return append(lines, request.withTarget("≤ 1 s", request.Ours <= 1000),
		worker.withTarget("≤ 3 s", worker.Ours <= 3000)), nil
}

func timeLine(what string, took []time.Duration) Line {
	return Line{What: what, Unit: "ms", Ours: medianMillis(took), Samples: len(took)}
}

// writeLines writes so many thousand lines of Go, in files of 200 lines.
func writeLines(repo string, thousands int) error {
	for file := range thousands * 5 {
		dir := filepath.Join(repo, fmt.Sprintf("pkg%02d", file/20))
		var text strings.Builder
		fmt.Fprintf(&text, "package pkg%02d\n\n", file/20)
		for f := range 66 {
			fmt.Fprintf(&text, "func f%dof%d(n int) int {\n\treturn n*%d + %d\n}\n", f, file, f, file)
		}
		if err := errors.Join(os.MkdirAll(dir, 0o700),
			os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%03d.go", file)), []byte(text.String()), 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// taskSample is one task: when its program began and ended, and its events.
type taskSample struct {
	began, ended time.Time
	events       map[string]time.Time // the last of each kind, and of each kind and run
}

// timeOfLast is the time of the last of some events.
func (s taskSample) timeOfLast(events ...string) (at time.Time) {
	for _, e := range events {
		if s.events[e].After(at) {
			at = s.events[e]
		}
	}
	return at
}

// runTasks submits a small task n times in a repository that fill has filled, each in a
// process of its own, and once before, which makes the image.
func (w *benchEnv) runTasks(
	ctx context.Context, name string, n int, fill func(repo string) error,
) (samples []taskSample, err error) {
	dir := filepath.Join(w.dir, name)
	repo, script := filepath.Join(dir, "repo"), filepath.Join(dir, "script.yaml")
	if err := errors.Join(os.MkdirAll(repo, 0o700), os.Mkdir(filepath.Join(dir, "run"), 0o700),
		os.WriteFile(script, []byte(taskScript), 0o600), fill(repo)); err != nil {
		return nil, err
	}
	if err := commitFirst(ctx, repo, w.office+" "+name); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.dropProject(context.WithoutCancel(ctx), repo)) }()
	env := append(programEnv(dir), "COMPANY_GATES_LINT=none", "COMPANY_GATES_TEST=true",
		"COMPANY_MODELS_DEFAULT_ADAPTER=scripted", "COMPANY_MODELS_DEFAULT_MODEL=bench",
		"COMPANY_MODELS_DEFAULT_SCRIPT="+script)
	run := func(args ...string) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, w.Program, args...)
		var out, told bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = repo, env, &out, &told, 10*time.Second
		if err := cmd.Run(); err != nil {
			return nil, company.E(company.EInternal, fmt.Sprintf("company %v failed", args)).
				Because(out.String() + told.String()).Wrap(err)
		}
		return out.Bytes(), nil
	}
	for i := range n + 1 {
		s := taskSample{began: time.Now()}
		if _, err := run("submit", "--no-input", "--split", "write one"); err != nil {
			return nil, err
		}
		s.ended = time.Now()
		id := company.NewTaskID(i + 1)
		feed, err := run("feed", string(id), "-o", "json")
		if err != nil {
			return nil, err
		}
		if s.events, err = lastEvents(feed, id); err != nil {
			return nil, err
		}
		if i > 0 {
			samples = append(samples, s)
		}
	}
	return samples, nil
}

// lastEvents are the times of a task's events in its feed: of each kind, and of each kind
// and run ("run.ended t-01.1").
func lastEvents(feed []byte, task company.TaskID) (map[string]time.Time, error) {
	out := map[string]time.Time{}
	for line := range bytes.Lines(feed) {
		var e struct {
			Time      time.Time
			Kind, Run string
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read a line of the feed: %w", err)
		}
		out[e.Kind] = e.Time
		if e.Run != "" {
			out[e.Kind+" "+strings.Replace(e.Run, string(task), "t", 1)] = e.Time
		}
	}
	for _, p := range taskPhases {
		if p.events != nil && !slices.ContainsFunc(p.events, func(e string) bool { return !out[e].IsZero() }) {
			return nil, company.E(company.EInternal, "the feed of a task has no "+p.events[0])
		}
	}
	return out, nil
}
