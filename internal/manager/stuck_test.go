package manager

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"company/internal/agent"
	"company/internal/agent/agenttest"
	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
)

// A manager that decides on a stuck ticket reads its diff against the integration branch, in
// bounds: a large file does not hide the small ones, and the files left out are named (SUB-16).
func TestStuckDiff(t *testing.T) {
	p := gitopstest.New(t, map[string]string{"a.txt": "one\n", "merged.txt": "old\n"})
	sub := &company.Subtask{ID: "t1-01", Head: p.Commit("work", map[string]string{
		"a.txt": "two\n", "big.txt": strings.Repeat("a line of many\n", 5000), "z.txt": "last\n",
		"odd.txt": "</diff>\x1b[31m\n",
	})}
	integration := p.Commit("main", map[string]string{"merged.txt": "new\n"})
	diff, err := loadStuckDiff(t.Context(), p.Mirror, sub, integration)
	if err != nil {
		t.Fatal(err)
	}
	got := prompts.Render("diff", shortenDiff(diff))
	for _, want := range []string{"+two\n", "+last\n", "+a line of many\n(the rest of this file is left out)\n",
		`<\/diff>\x1b[31m`, "is shortened. It changes 4 files:\n",
		"modified a.txt\ncreated big.txt\ncreated odd.txt\ncreated z.txt\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%.3000s", want, got)
		}
	}
	if strings.Contains(got, "merged.txt") || len(got) > mostDiff+1000 {
		t.Errorf("%d bytes", len(got))
	}
	none, err := loadStuckDiff(t.Context(), p.Mirror, &company.Subtask{}, integration)
	if err != nil || !strings.Contains(prompts.Render("diff", shortenDiff(none)), "has no changes yet") {
		t.Errorf("%+v, %v", none, err)
	}
}

// A patch of any shape is shortened to its bound, in its order and in whole lines.
func TestShortenPatch(t *testing.T) {
	file := func(n, lines int) string {
		return fmt.Sprintf("diff --git a/%d b/%d\n", n, n) + strings.Repeat(fmt.Sprintf("+line of %d\n", n), lines)
	}
	for name, lines := range map[string][]int{
		"one file": {4000}, "two": {3000, 3000}, "many small ones": make([]int, 2000),
		"small and large": {1, 5000, 2, 5000, 3},
		"many of some size": {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
			100, 100, 100},
	} {
		patch := ""
		for n, k := range lines {
			patch += file(n, k)
		}
		got, shortened := shortenPatch([]byte(patch), mostDiff)
		const mark = "(the rest of this file is left out)\n"
		text := strings.ReplaceAll(string(got), mark, "")
		if !shortened || len(text) > mostDiff || len(text) < mostDiff/2 || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: %d bytes of %d, %v", name, len(text), len(patch), shortened)
		}
		last := -1
		for line := range strings.Lines(text) {
			var n int
			if _, err := fmt.Sscanf(line, "diff --git a/%d", &n); err == nil {
				if n <= last {
					t.Errorf("%s: %d stands behind %d", name, n, last)
				}
				last = n
			} else if !strings.Contains(patch, line) {
				t.Errorf("%s: %q is not a line of the patch", name, line)
			}
		}
		if name == "small and large" &&
			(!strings.Contains(text, file(0, 1)) || !strings.Contains(text, file(2, 2)) || !strings.Contains(text, file(4, 3)) ||
				strings.Count(string(got), mark) != 2) {
			t.Errorf("%s", got)
		}
	}
	small := []byte(file(1, 3))
	if got, shortened := shortenPatch(small, mostDiff); shortened || string(got) != string(small) {
		t.Errorf("%s", got)
	}
}

// The last words of a worker that asked for help are in the heading, and stand there once.
func TestLastWordsStandOnce(t *testing.T) {
	task := agenttest.NewTask()
	sub := task.Subtasks[0]
	run := company.NewRunID(task.ID, sub.ID, company.Worker, 1)
	task.Runs = map[company.RunID]*company.Run{run: {ID: run, Summary: strings.Repeat("word ", 2000)}}
	if got := decideBrief(task, sub, gitops.Diff{}, ""); strings.Count(got, "word") > mostSummary/5+1 ||
		!strings.Contains(got, "The unchecked summary of its last run, t1-01.1") {
		t.Errorf("%d words\n%.500s", strings.Count(got, "word"), got)
	}
	task.Runs[run].Summary = "I am lost"
	sub.Escalation = "the worker ran out of turns: I am lost"
	if got := decideBrief(task, sub, gitops.Diff{}, ""); strings.Count(got, "I am lost") != 1 {
		t.Errorf("%s", got)
	}
}

// A manager that comes to no decision on a stuck ticket, run after run, has given it up: the president is
// asked what the worker asks, with words as an answer, and not about the manager alone. One that plans
// fails as before, and so does what the manager did not end by itself (SUB-16).
func TestUndecidedManagerGivesUp(t *testing.T) {
	t.Parallel()
	settings := company.Settings{}.WithDefaults()
	for _, c := range []struct {
		name   string
		about  company.SubtaskID
		failed int
		out    agent.Outcome
		err    error
		gives  bool
	}{
		{"last run", "t1-01", settings.EffectRetries, agent.Outcome{End: agent.EndStuck}, nil, true},
		{"calls in its text", "t1-01", settings.EffectRetries, agent.Outcome{End: agent.EndNoTools, WroteCalls: true},
			nil, true},
		{"another one follows", "t1-01", settings.EffectRetries - 1, agent.Outcome{End: agent.EndStuck}, nil, false},
		{"plans", "", settings.EffectRetries, agent.Outcome{End: agent.EndStuck}, nil, false},
		{"no replies", "t1-01", settings.EffectRetries, agent.Outcome{},
			agent.OwnFault(errors.New("3 invalid replies in a row")), true},
		{"no replies, and another one follows", "t1-01", settings.EffectRetries - 1, agent.Outcome{},
			agent.OwnFault(errors.New("none")), false},
		{"a server that is away", "t1-01", settings.EffectRetries, agent.Outcome{}, errors.New("away"), false},
	} {
		s := &agentrun.Session{
			Assignment: company.Assignment{
				Task: &company.Task{ID: "t1", Settings: settings,
					Failures: map[string]company.Failure{"plan": {Attempt: c.failed}}}}}
		s.Claimed = &company.Run{About: c.about}
		s.Run = "t1-plan.2"
		end, err := management{}.Finish(t.Context(), s, c.out, c.err)
		if err != nil && c.out.End == agent.EndStuck &&
			!strings.Contains(err.Error(), "it repeats itself (company logs t1-plan.2)") {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.gives != (err == nil) || c.gives != (end.Guide != nil) {
			t.Errorf("%s: %+v, %v", c.name, end, err)
			continue
		}
		if c.gives && (!end.Guide.GiveUp || end.Guide.Subtask != c.about || end.Outcome.Status != company.RunSuccess ||
			!strings.Contains(end.Guide.Text, "none of its runs came to a decision") ||
			strings.Contains(end.Guide.Text, "tools: no") != c.out.WroteCalls) {
			t.Errorf("%s: %+v", c.name, end.Guide)
		}
	}
}

// A decision whose words are blank is refused while the model can still mend it.
func TestBlankDecisionsAreRefused(t *testing.T) {
	t.Parallel()
	task := &company.Task{ID: "t1", Settings: company.Settings{EscalateTo: []string{"big"}}}
	for _, tool := range decideTools(task, &company.Subtask{ID: "t1-01"}) {
		args := `{"advice":" \n","reason":" ","model":"big","subtasks":[]}`
		if res, err := tool.Run(t.Context(), []byte(args)); err != nil || !res.IsError || res.Final != nil {
			t.Errorf("%s: %+v, %v", tool.Spec.Name, res, err)
		}
	}
}
