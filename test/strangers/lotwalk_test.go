package strangers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/test/testenv"
)

// mostCase is how long the company may take for one case, with a warm cache.
const mostCase = 6 * time.Minute

// lotStaff plays the staff of an office for one submission after the other.
type lotStaff struct {
	mu    sync.Mutex
	reply func(scripted.Exchange) scripted.Reply
	first time.Time // of the first request since the submission
}

func (s *lotStaff) answer(x scripted.Exchange) scripted.Reply {
	s.mu.Lock()
	if s.first.IsZero() {
		s.first = time.Now()
	}
	reply := s.reply
	s.mu.Unlock()
	if reply == nil {
		return scripted.Reply{Err: "nothing was submitted"}
	}
	return reply(x)
}

func (s *lotStaff) play(reply func(scripted.Exchange) scripted.Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reply, s.first = reply, time.Time{}
}

func (s *lotStaff) firstRequest() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

// unplanned is what a worker says whose calls were refused by their tools.
const unplanned = "no further turn is planned"

// replyBreaking plays the staff for one edit of one line. A worker that is sent back
// cannot mend it, and says so.
func (m mutation) replyBreaking(x scripted.Exchange) scripted.Reply {
	type object = map[string]any
	call := func(tool string, args any) scripted.Reply {
		return scripted.Reply{Calls: []scripted.Call{{Tool: tool, Args: args}}}
	}
	_, _, _, n, err := x.Header.Run.Split()
	again := err == nil && n > 1
	switch x.Header.Role {
	case company.Manager:
		if again {
			return call("give_up", object{"reason": "the one change that there is does not pass"})
		}
		return call("submit_plan", object{"why": "one change", "waves": []object{{"subtasks": []object{{
			"title": "Change a line", "description": "Change the line as it is said.",
			"acceptance_criteria": []string{"the line is changed"}, "write_set": []string{m.File}, "effort": "small",
		}}}}})
	case company.Worker:
		switch {
		case again:
			return call("escalate", object{"reason": "the line is to be so, and the checks do not take it"})
		case x.Turn == 0:
			return call("read_file", object{"path": m.File})
		case x.Turn == 1:
			return call("edit_file", object{"path": m.File, "old": m.Old, "new": m.New})
		case x.Turn == 2:
			return call("git_commit", object{"message": "Change a line"})
		case x.Turn == 3 || x.Turn == 4: // it is asked for a test, once
			return call("finish", object{"summary": "changed"})
		}
	case company.Reviewer:
		return call(
			"submit_review",
			object{"verdict": "approve", "findings": []object{},
				"evidence": []string{"the diff; the checks ran", "the diff: one line"}})
	}
	return scripted.Reply{Calls: []scripted.Call{{Tool: "escalate", Args: object{"reason": unplanned}}}}
}

// walkCase has the company do both changes of a case and judges it.
func walkCase(t *testing.T, c lotCase, row *CaseRow) {
	staff := &lotStaff{}
	h := testenv.NewFilled(t, scripted.BrainFunc(staff.answer), func(h *testenv.House) {
		if err := copyTree(h.Repo, c.From.Dir); err != nil {
			t.Fatal(err)
		}
		h.Git(h.Repo, "add", "-A", "-f") // an archive has what its repository ignores
	})
	h.LetManagerPlan() // the base is judged before a worker begins, and its row says how
	h.Config("limits: {gate_retries: 1, run_retries: 1}\n")
	start := time.Now()
	end := start.Add(mostCase)
	doctor := h.Run(testenv.Patience, "doctor")
	row.Doctor = time.Since(start)
	good := Stranger{Change: c.Good, Check: "true"}.reply
	submitted := time.Now()
	first := submitLot(t, h, staff, "t1", good, end)
	if at := staff.firstRequest(); !at.IsZero() {
		row.First = at.Sub(submitted)
	}
	asked, told := "", first
	if v, _ := c.judgeGood(first); v != Right && v != Cut && time.Now().Before(end) {
		if line, ok := applyOffer(h, first); ok {
			asked = line
			first = submitLot(t, h, staff, "t2", good, end)
		}
	}
	row.Good = first.describe()
	if asked != "" {
		row.Good = "with " + asked + ": " + row.Good
	}
	if c.Away != "" || told.Away.seen() && told.Result != "COMPLETE" {
		row.Verdict, row.Why = c.judgeAway(told, asked)
		if row.Verdict == RegistryTold && asked != "" && first.Result != "COMPLETE" {
			row.Verdict, row.Why = RegistryMissed, "it does not go on with "+asked
		}
		row.Whole = time.Since(start)
		return
	}
	var broken outcome
	if v, _ := c.judgeGood(first); v == Right {
		broken = submitLot(t, h, staff, nextTask(asked), c.Mutation.replyBreaking, end)
		broken.Said += doctor.Stdout
		if strings.Contains(broken.Said, unplanned) {
			t.Errorf("the staff could not make the breaking change: %s\n%s", broken.Why, broken.Said)
		}
		row.Broken = broken.describe()
	}
	row.Whole = time.Since(start)
	row.Verdict, row.Why = c.judge(first, broken, asked)
}

func nextTask(asked string) string {
	if asked != "" {
		return "t3"
	}
	return "t2"
}

// applyOffer puts the first setting that the company offered into the user's config.
func applyOffer(h *testenv.House, o outcome) (line string, ok bool) {
	key, value, found := findOffer(o.Question + "\n" + o.Why)
	if !found {
		key, value, found = findOffer(o.Said)
	}
	if !found {
		return "", false
	}
	r := h.Run(testenv.Patience, "config", "set", "--user", key, value)
	return key + ": " + value, r.Code == 0
}

// submitLot submits one change and reads how it ended.
func submitLot(
	t *testing.T, h *testenv.House, staff *lotStaff, task string, reply func(scripted.Exchange) scripted.Reply,
	end time.Time,
) (o outcome) {
	staff.play(reply)
	p := h.Start("submit", "Make the one change that is planned.")
	r, over := p.WaitUpTo(max(time.Until(end), time.Second))
	o.Over = over
	var said strings.Builder
	for _, it := range p.Items() {
		said.WriteString(it.Kind + " " + it.Text + "\n" + strings.Join(it.Lines, "\n") + "\n")
		if o.Away.Told.IsZero() && awayRE.MatchString(it.Text+strings.Join(it.Lines, "\n")) {
			o.Away.Told = it.Time
			_, _, o.Away.Offer = findOffer(it.Text + "\n" + strings.Join(it.Lines, "\n"))
		}
	}
	o.Away.First = firstFailedRequest(h)
	var sum struct {
		Result, Why, Hint, Next string
		UntestedWhy             string `json:"untested_why"`
		Unverified              []string
		PR                      *int
	}
	if err := json.Unmarshal([]byte(r.Stdout), &sum); err != nil {
		o.Why = strings.TrimSpace(r.Stderr)
		return o
	}
	o.Result, o.Why, o.Untested, o.Unverified = sum.Result, sum.Why, sum.UntestedWhy, sum.Unverified
	said.WriteString(r.Stdout + "\n" + h.Run(testenv.Patience, "show", task).Stdout + "\n" +
		h.Run(testenv.Patience, "show", task+"-01").Stdout)
	if sum.PR != nil {
		said.WriteString(h.Run(testenv.Patience, "pr", "show", fmt.Sprint(*sum.PR)).Stdout)
	}
	o.Said = said.String()
	if sum.Result == "INCOMPLETE" && over {
		o.Question = sum.Why + " " + sum.Next
		if id := regexp.MustCompile(`company \w+ (q[\w.-]*\d)`).FindStringSubmatch(sum.Next); id != nil {
			o.Question += " " + h.Run(testenv.Patience, "show", id[1]).Stdout
		}
		h.Run(testenv.Patience, "cancel", task, "the case is over")
	}
	o.readChecks(h, task)
	return o
}

// awayRE finds words that tell of a registry that cannot be reached.
var awayRE = regexp.MustCompile(
	`(?i)registry \S+ cannot be reached|no such host|registry .{0,60}(is away|does not answer|not reached)`)

// failedRequestRE finds the time of a failed request in the office's log.
var failedRequestRE = regexp.MustCompile(`(?m)^.*?time"?[=:]"?([0-9T:.Z+-]+).*(?:no such host|connection refused)`)

// firstFailedRequest is when a registry first failed, by the office's log.
func firstFailedRequest(h *testenv.House) (first time.Time) {
	text, err := os.ReadFile(filepath.Join(h.State(), "logs", "company.log"))
	if err != nil {
		return first
	}
	if m := failedRequestRE.FindSubmatch(text); m != nil {
		if at, err := time.Parse(time.RFC3339Nano, string(m[1])); err == nil {
			return at
		}
	}
	return first
}

// readChecks reads the last verdict on the change: what was counted, what is red.
func (o *outcome) readChecks(h *testenv.House, task string) {
	var shown struct {
		Subtask struct {
			Gate struct {
				Checks []struct {
					Name, Verdict string
					ExitCode      int `json:"exit_code"`
					Counts        *company.TestCounts
				}
			}
		}
	}
	r := h.Run(testenv.Patience, "show", task+"-01", "-o", "json")
	if r.Code != 0 || json.Unmarshal([]byte(r.Stdout), &shown) != nil {
		return // it came to no verdict
	}
	for _, check := range shown.Subtask.Gate.Checks {
		if check.Counts != nil && strings.HasPrefix(check.Name, "test") {
			n := check.Counts.Passed + check.Counts.Failed
			o.Counts, o.Skipped = append(o.Counts, n), o.Skipped+check.Counts.Skipped
		}
		if check.ExitCode != 0 {
			o.Failed = append(o.Failed, check.Name)
		}
	}
}
