package company_test

import (
	"cmp"
	"strings"
	"testing"

	. "company/internal/company"
	"company/internal/company/historytest"
)

func TestPartsOfAnInstruction(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":            "",
		"add a limit": "",
		"Add a limit. Test it, e.g. with 0. Document v1.2 too!": "",
		"Add X. It is slow.\n\nThen\ntest it":                   "Add X. It is slow.|Then test it",
		"# Title\n\nDo a\nand b.\n\n1. one\n   more of it\n\n   and this\n2) two\n* [ ] three\n\nAt last. Done": "Do a and b.|" +
			"one more of it and this|two|three|At last. Done",
		"- Parser:\n  - keep commas\n\n  and tabs\n- Store:\n  - keep blanks": "Parser: - keep commas and tabs|Store: - keep blanks",
		"Like this:\n\n```\nA. B.\n\n- c\n```\nand so on":                     "",
		"Like this:\n````md\n```go\n````\n\nand so on":                        "Like this: ````md ```go ````|and so on",
		"```\ncode\n```\n\nDo a.\n\nDo b.":                                    "Do a.|Do b.",
		"- do a\n```\n- do c":                                                 "",
		"Do a,\nthe last of these:\n- b\nThen:\n- c":                          "Do a, the last of these:|b|Then:|c",
		"A B. \r\n\r\nC": "A B.|C",
		"- a\r\n- b":     "a|b",
		strings.Repeat("Do it.\n\n", 20): strings.TrimSuffix(
			strings.Repeat("Do it.|", 20), "|"),
		strings.Repeat("Do it.\n\n", 21): "",
	} {
		var got []string
		for _, p := range PartsOf(text) {
			got = append(got, p.Text)
			if !strings.HasPrefix(text[p.At:], strings.Fields(p.Text)[0]) {
				t.Errorf("%q: %+v begins at %q", text, p, text[p.At:])
			}
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%q:\n got %q\nwant %q", text, s, want)
		}
	}
	if PartsOf(strings.Repeat("a ", 20<<10)+"\n\nB.") != nil {
		t.Error("a text of 40 KiB is split")
	}
}

// The criteria of an instruction are those that it lists as such. Sentences, headings and steps are none.
func TestCriteriaOfAnInstruction(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The cache is slow. It forgets what it had!\n\n## Steps to reproduce\n1. start it\n2. wait": "",
		"Mend it.\n\n## Acceptance criteria\n\nAll of:\n- a is\n  so\n- [x] b\n\n## Notes\n- c":     "a is so|b",
		"Acceptance criteria:\n- a\n\nMore words.\n- b":                                             "a",
		"**Definition of done**\n\n1. a\n2. b":                                                      "a|b",
		"To do:\n- [ ] a\n- [x] was there\n- c":                                                     "a",
		"Like\n```\n## Acceptance criteria\n- [ ] a\n```\n":                                         "",
		"# Acceptance criteria\n" + strings.Repeat("- a\n", 21):                                     "",
		"Acceptance criteria:\n1. a\n2. b\nSteps to reproduce:\n1. run\n2. see":                     "a|b",
		"Acceptance criteria:\n- a\n**Notes:**\n- b":                                                "a",
		"Fix the cache.\nAcceptance criteria:\n- a\n- b":                                            "a|b",
		"## Acceptance criteria\n### API\n- a\n### CLI\n- b\n## Notes\n- c":                         "a|b",
		"Acceptance criteria:\n# Notes\n- a":                                                        "",
		"- Do this:\n  - [ ] a\n  - [x] was there\n    - [ ] b\n- c":                                "a|b",
		"1. Mend it.\n   Acceptance criteria:\n   - a\n2. Acceptance criteria:\n   - b\n3. c":       "a|b",
		"Acceptance criteria\n===================\n- a\n\nNotes\n-----\n- b":                        "a",
		"Definition of Done (all)\n\n- a":                                                           "a",
		"The acceptance criteria are old. Do:\n- a":                                                 "",
		"Like\n```\nAcceptance criteria:\n```\n- a":                                                 "",
	} {
		task := &Task{Instruction: text}
		if got := strings.Join(task.Criteria(), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		task.Issue = &IssueRef{Number: 12}
		if got := task.Criteria(); got != nil {
			t.Errorf("criteria of a stranger: %q", got)
		}
	}
}

const ofTwo = "Two repairs; each has a test.\n\n## Parser\n1. Mend the parser:\n```go\nx := 1\n```\n## Printer\n2. " +
	"Mend the printer."

// byParts is a task of two tickets whose plan says which parts of the instruction they do.
func byParts(t *testing.T, instruction string, change func(p *Plan)) *story {
	t.Helper()
	s := &story{bench: newBench(t)}
	s.must(President,
		Submit{Instruction: instruction, Project: Project{ID: "p", Path: "/p"},
			Settings: Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}, Way: WaySplit}})
	s.id = NewTaskID(s.s.LastTask)
	s.must(Company, s.preparation())
	s.must(Company, RecordBaseline{Task: s.id, Result: s.verdict(s.oid(), true)})
	p := waves(2)
	p.Waves[0].Subtasks[0].Does, p.Waves[0].Subtasks[1].Does = []int{1, 2}, []int{1, 3}
	if change != nil {
		change(&p)
	}
	s.end(NewRunID(s.id, "", Manager, 1), EndRun{Plan: &p})
	return s
}

// A plan reads numbers, and a ticket its own parts as they stand, with their headings and code.
func TestTicketsOwnPart(t *testing.T) {
	t.Parallel()
	s := byParts(t, ofTwo, nil)
	if text, n := s.task().NumberParts(); n != 3 || !strings.HasPrefix(text, "[1] Two repairs; each") ||
		!strings.Contains(text, "1. [2] Mend the parser") {
		t.Errorf("%d parts:\n%s", n, text)
	}
	if own := s.task().OwnPart(s.sub(2)); own != "Two repairs; each has a test.\n## Printer\n2. Mend the printer.\n" {
		t.Errorf("the second ticket's part: %q", own)
	}
	if own := s.task().OwnPart(s.sub(1)); !strings.Contains(own, "## Parser\n1. Mend the parser:\n```go\nx := 1\n```\n") ||
		strings.Contains(own, "rinter") {
		t.Errorf("the first ticket's part: %q", own)
	}
}

// Numbers that no part has are refused, and parts that no ticket does are looked at once more.
func TestPartsOfAPlan(t *testing.T) {
	t.Parallel()
	p := waves(2)
	p.Waves[0].Subtasks[0].Does = []int{1, 4}
	if got := p.Check(PlanRules{Parts: 3}); len(got) != 1 ||
		!strings.Contains(got[0].String(), "does part 4, and the instruction has parts 1 to 3") {
		t.Errorf("a part too many: %v", got)
	}
	parts := PartsOf(ofTwo)
	told := func() (n int) {
		for _, w := range p.Warnings(parts) {
			if strings.Contains(w.What, "of the instruction to no subtask") {
				n++
			}
		}
		return n
	}
	if n := told(); n != len(parts)-1 {
		t.Errorf("%d of %d parts are named as left", n, len(parts))
	}
	p.Waves[0].Subtasks[0].Does = nil
	if told() != 0 {
		t.Error("a plan that names no parts is warned of them")
	}
}

// Where the tickets have all parts of the instruction between them and do not touch, their reviews are the
// whole's; in every other case it is reviewed.
func TestReviewInParts(t *testing.T) {
	t.Parallel()
	first := func(p *Plan) *PlannedSubtask { return &p.Waves[0].Subtasks[0] }
	for name, c := range map[string]struct {
		instruction string
		change      func(p *Plan)
		paths       [2]string
		action      [2]string // empty: modified
		again       bool
	}{
		"apart":                   {paths: [2]string{"w0/p0/a.go", "w0/p1/b.go"}},
		"in one folder":           {paths: [2]string{"w0/a.go", "w0/b.go"}, again: true},
		"new files in one folder": {paths: [2]string{"w0/de.json", "w0/fr.json"}, action: [2]string{"created", "created"}},
		"new files of one package": {paths: [2]string{"w0/a.go", "w0/b.go"}, action: [2]string{"created", "created"},
			again: true},
		"a new file beside a change": {paths: [2]string{"w0/a.py", "w0/b.py"}, action: [2]string{"created"}, again: true},
		"a change beside a new file": {paths: [2]string{"w0/a.py", "w0/b.py"}, action: [2]string{"", "created"}, again: true},
		"a new file of both": {paths: [2]string{"w0/a.json", "w0/a.json"}, action: [2]string{"created", "created"},
			again: true},
		"at the root": {paths: [2]string{"a.go", "b.go"}, again: true},
		"a part is left": {paths: [2]string{"w0/p0/a.go", "w0/p1/b.go"},
			change: func(p *Plan) { first(p).Does = []int{1} }, again: true},
		"a ticket without a part": {paths: [2]string{"w0/p0/a.go", "w0/p1/b.go"},
			change: func(p *Plan) { p.Waves[0].Subtasks[1].Does = []int{1, 2, 3}; first(p).Does = nil }, again: true},
		"one needs the other": {paths: [2]string{"w0/p0/a.go", "w0/p1/b.go"},
			change: func(p *Plan) { p.Waves[0].Subtasks[1].After = []string{"1"} }, again: true},
		"an instruction of one part": {instruction: "add a limit", paths: [2]string{"w0/p0/a.go", "w0/p1/b.go"}, again: true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.instruction == "" {
				c.instruction = "Mend both:\n- the parser\n- the printer"
			}
			s := byParts(t, c.instruction, c.change)
			for i, path := range c.paths {
				s.changes(i+1, Change{Path: path, Action: cmp.Or(c.action[i], "modified")})
				s.merged(i + 1)
			}
			s.must(Company, s.wholeGated(true))
			if s.isDue(EffectReview) != c.again || s.task().IsReviewedInParts() == c.again {
				t.Fatalf("reviewed again: %v", !c.again)
			}
			if c.again {
				s.reviewed(0, Approve)
			}
			s.must(Company, IntendDelivery{s.id})
			s.must(Company, s.delivered())
			s.checkStatus(StatusCompleted)
			s.settle()
		})
	}
}

// The history checker finds a whole that no review covers by its own books.
func TestCheckerOfReviewsInParts(t *testing.T) {
	t.Parallel()
	s := byParts(t, "Mend both:\n- the parser\n- the printer", nil)
	for i, path := range []string{"w0/p0/a.go", "w0/p1/b.go"} {
		s.queued(i+1, path)
		s.merged(i + 1)
	}
	s.must(Company, s.wholeGated(true))
	s.must(Company, IntendDelivery{s.id})
	s.must(Company, s.delivered())
	if _, err := historytest.Replay(s.log); err != nil {
		t.Fatal(err)
	}
	for name, log := range map[string][]Event{
		"one folder": rewritten(t, s.log, func(d *RunEnded) {
			for i := range d.Changes {
				d.Changes[i].Path = "w0/" + strings.TrimPrefix(strings.TrimPrefix(d.Changes[i].Path, "w0/p0/"), "w0/p1/")
			}
		}),
		"a part of nobody's": rewritten(t, s.log, func(d *PlanAccepted) { d.Plan.Waves[0].Subtasks[0].Does = []int{1} }),
		"one after another": rewritten(
			t, s.log, func(d *PlanAccepted) { d.Plan.Waves[0].Subtasks[1].After = []string{string(s.subID(1))} }),
		"of an issue": rewritten(t, s.log, func(d *TaskSubmitted) { d.Issue = &IssueRef{Number: 12} }),
	} {
		if _, err := historytest.Replay(log); err == nil || !strings.Contains(err.Error(), "review") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A ticket's part of the instruction has the headings above it, and no other text.
func TestOwnPartKeepsWhatIsAbove(t *testing.T) {
	t.Parallel()
	for instruction, want := range map[string]string{
		"## API\n- add x\n- add y":                              "## API\n- add y\n",
		"- Parser:\n  - keep commas\n- Store:\n  - keep blanks": "- Store:\n  - keep blanks\n",
		"# All\n## API\n- add x\n## CLI\n- add z":               "# All\n## CLI\n- add z\n",
		"- do a\n- like\n````md\n```go\n````\n- do c":           "- do c\n",
		"# Log\n```\nx\n```\nDo a.\n\nDo b.":                    "# Log\n```\nx\n```\nDo b.\n",
	} {
		s := byParts(t, instruction, func(p *Plan) {
			p.Waves[0].Subtasks[0].Does, p.Waves[0].Subtasks[1].Does = []int{1}, []int{len(PartsOf(instruction))}
		})
		if got := s.task().OwnPart(s.sub(2)); got != want {
			t.Errorf("%q:\n%q\nwant %q", instruction, got, want)
		}
	}
}
