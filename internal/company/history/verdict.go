package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

func (c *Checker) observeVerdict(t *observedTask, d company.Data, e company.Event) error {
	judge := func(r company.GateResult) error {
		good := c.isProven(t, e.Task, r)
		if r.AllowsMerge() && !good {
			return errors.New("a verdict that lets pass and proves nothing")
		}
		if good && len(r.FirstSteps()) == 0 {
			t.green[r.Tree] = true
		}
		return nil
	}
	judgeWhole := func(r company.GateResult) error {
		if len(r.FirstSteps()) > 0 {
			return errors.New("a part of a suite is taken for all of it")
		}
		return judge(r)
	}
	switch d := d.(type) {
	case *company.GateFinished:
		if t.early && t.base == nil {
			return errors.New("a verdict before the base is judged")
		}
		asked := judgeWhole
		if e.Subtask != "" {
			asked = judge
		}
		if err := asked(d.Result); err != nil {
			return err
		}
		if e.Subtask == "" && d.Result.AllowsMerge() {
			t.whole[d.Head] = d.Result.Tree
		}
		if e.Subtask != "" {
			t.unshown[e.Subtask] = t.isUnshown(d)
		}
	case *company.MergeGated:
		return judgeWhole(d.Result)
	case *company.StackRed:
		return judgeWhole(d.Result)
	case *company.StackIntended:
		return judgeWhole(d.Result)
	case *company.ReviewRecorded:
		if r := t.runs[e.Run]; r == nil || !r.ended {
			return errors.New("a verdict of a run that did not end")
		}
		if t.unshown[e.Subtask] && !c.hasLeave("red_green "+string(e.Subtask)+" ") {
			return fmt.Errorf("%s is reviewed, and no test shows its change", e.Subtask)
		}
		if d.Verdict == company.Approve && slices.ContainsFunc(d.Findings, func(f company.Finding) bool { return f.Severity == company.Blocking }) {
			return errors.New("approved in spite of a blocking finding")
		}
		if err := t.observeSecondReview(d, e.Subtask); err != nil {
			return err
		}
		t.approved[string(e.Subtask)+" "+string(d.Head)] = d.Verdict == company.Approve && !t.wantsSecondReview(d)
		t.judged[string(e.Subtask)+" "+string(d.Head)] = d
	case *company.ReviewCarried:
		if d.Head == "" || d.Head != t.carried || !t.approved[string(e.Subtask)+" "+string(d.From)] || t.merged[e.Subtask] != d.Head {
			return fmt.Errorf("an approval of %s is taken for one of the whole", e.Subtask)
		}
		t.approved[" "+string(d.Head)], t.carried = true, ""
	case *company.ReviewVoided:
		for key := range t.approved {
			if strings.HasPrefix(key, string(e.Subtask)+" ") {
				delete(t.approved, key)
				delete(t.judged, key)
			}
		}
	}
	return nil
}

// wantsSecondReview says whether a second reviewer has to judge the findings of a review before anything follows from it.
func (t *observedTask) wantsSecondReview(d *company.ReviewRecorded) bool {
	switch {
	case d == nil || d.Confirms:
		return false
	case d.Verdict == company.RequestChanges:
		return t.settings.ConfirmReview == company.ConfirmBlocking || t.settings.ConfirmReview == company.ConfirmAll
	}
	return t.settings.ConfirmReview == company.ConfirmAll && len(d.Findings) > 0
}

// observeEndOfReviewer: the approval of the present head stands where the second reviewer's run ended without a verdict. What a
// task has left behind is settled after its end, and changes none.
func (t *observedTask) observeEndOfReviewer(d *company.RunEnded, e company.Event) {
	if _, _, role, _, err := e.Run.Split(); err != nil || role != company.Reviewer || t.ended || !d.EndsSecondLook(t.settings) {
		return
	}
	head := t.head
	if e.Subtask != "" {
		head = t.heads[e.Subtask]
	}
	key := string(e.Subtask) + " " + string(head)
	if first := t.judged[key]; first != nil && first.Verdict == company.Approve && t.wantsSecondReview(first) {
		t.approved[key] = true
	}
}

// observeSecondReview: a second review is of the head of the one before, whose findings it was to judge. It judges each finding
// of that one that blocks, or each one at all, and has those that it does not reject among its own (REV-4).
func (t *observedTask) observeSecondReview(d *company.ReviewRecorded, sub company.SubtaskID) error {
	if !d.Confirms {
		return nil
	}
	before := t.judged[string(sub)+" "+string(d.Head)]
	if !t.wantsSecondReview(before) {
		return errors.New("a second review, and no first one that asks for it")
	}
	for i, f := range before.Findings {
		at := slices.IndexFunc(d.Judged, func(j company.Judgement) bool { return j.Number == i+1 })
		switch {
		case f.Severity != company.Blocking && t.settings.ConfirmReview != company.ConfirmAll:
		case at < 0:
			return fmt.Errorf("a second review does not judge finding %d", i+1)
		case d.Judged[at].Status != company.FindingRejected && !slices.Contains(d.Findings, f):
			return fmt.Errorf("a second review confirms finding %d, and lets it pass", i+1)
		}
	}
	return nil
}

// isUnshown says whether a green verdict on a ticket has no test that shows the change,
// where gates.red_green requires one (GAT-7). The whole needs none.
func (t *observedTask) isUnshown(d *company.GateFinished) bool {
	r := d.Result.RedGreen
	if t.settings.RedGreen != company.RedGreenRequire || !d.Result.Passed || d.Conflict {
		return false
	}
	return r == nil || r.Source && !r.ShowsChange()
}

// hasLeave says whether the president approved a question whose key begins so.
func (c *Checker) hasLeave(key string) bool {
	for k, yes := range c.yes {
		if yes && strings.HasPrefix(k, key) {
			return true
		}
	}
	return false
}

// isProven says whether a verdict carries its own proof (GAT-1, GAT-3): every
// pinned gate, each of them green or red only as the base is; or nothing that
// looks at the work, and leave for that.
func (c *Checker) isProven(t *observedTask, id company.TaskID, r company.GateResult) bool {
	if t.prepared == nil || r.GateHash != t.prepared.GateHash {
		return false
	}
	if r.Untested {
		return !t.hasGates() && c.untestedAllowed(t, id)
	}
	if !r.Passed || !t.hasGates() || len(r.Checks) != len(t.prepared.Gates) {
		return false
	}
	for i, check := range r.Checks {
		g := t.prepared.Gates[i]
		if check.Name != g.Name || check.Command != g.Command || check.Skipped {
			return false
		}
		if check.Canary != nil && len(check.Canary.Hollow) > 0 {
			return false
		}
		green := check.Passed && check.ExitCode == 0 && !check.Absent && (len(check.Flaky) == 0 || len(check.Attempts) > 0)
		if !green && (t.base == nil || !redAsBefore(t.base.Checks[i], check)) {
			return false
		}
		if check.Excused == company.ComparedAsBefore && t.settings.Rules >= 1 && !c.yes[company.UnreadKey(id, check)] {
			return false
		}
	}
	return true
}

// redAsBefore: the base is red in this check too, and nothing that has a name
// fails here and not there.
func redAsBefore(base, c company.GateCheck) bool {
	if c.Absent || base.Absent {
		return c.Absent && base.Absent && c.LeftOut == base.LeftOut && c.Excused == company.ComparedAbsent
	}
	if base.ExitCode == 0 || c.ExitCode == 0 || c.Passed || c.ExitCode >= 124 && c.ExitCode != base.ExitCode {
		return false
	}
	if base.Counts == nil || base.Counts.Failed == 0 || base.Counts.Failed != len(base.Tests) {
		return c.Excused == company.ComparedAsBefore
	}
	blind := false
	if c.Counts == nil || c.Counts.Failed == 0 || c.Counts.Failed != len(c.Tests) {
		return false
	}
	for _, f := range c.Tests {
		if !slices.ContainsFunc(base.Tests, func(b company.TestResult) bool { return b.Name == f.Name }) {
			return false
		}
		blind = blind || f.Unrun
	}
	if blind {
		return c.Excused == company.ComparedAsBefore
	}
	return c.Excused == company.ComparedKnown
}
