package historytest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

func (c *Checker) observeVerdict(t *observedTask, data company.Data, event company.Event) error {
	judge := func(gateResult company.GateResult) error {
		good := c.isProven(t, event.Task, gateResult)
		if gateResult.AllowsMerge() && !good {
			return errors.New("a verdict that lets pass and proves nothing")
		}
		if good && len(gateResult.FirstSteps()) == 0 {
			t.green[gateResult.Tree] = true
		}
		return nil
	}
	judgeWhole := func(gateResult company.GateResult) error {
		if len(gateResult.FirstSteps()) > 0 {
			return errors.New("a part of a suite is taken for all of it")
		}
		return judge(gateResult)
	}
	switch d := data.(type) {
	case *company.GateFinished:
		asked := judgeWhole
		if event.Subtask != "" {
			asked = judge
		}
		if err := asked(d.Result); err != nil {
			return err
		}
		if event.Subtask == "" && d.Result.AllowsMerge() {
			t.whole[d.Head] = d.Result.Tree
		}
		if event.Subtask != "" {
			t.unshown[event.Subtask] = t.isUnshown(d)
		}
	case *company.MergeGated:
		return judgeWhole(d.Result)
	case *company.StackRed:
		return judgeWhole(d.Result)
	case *company.StackIntended:
		return judgeWhole(d.Result)
	case *company.ReviewRecorded:
		if r := t.runs[event.Run]; r == nil || !r.ended {
			return errors.New("a verdict of a run that did not end")
		}
		if t.unshown[event.Subtask] && !c.hasLeave("red_green "+string(event.Subtask)+" ") {
			return fmt.Errorf("%s is reviewed, and no test shows its change", event.Subtask)
		}
		if d.Verdict == company.Approve &&
			slices.ContainsFunc(d.Findings, func(f company.Finding) bool { return f.Severity == company.Blocking }) {
			return errors.New("approved in spite of a blocking finding")
		}
		if err := t.observeSecondReview(d, event.Subtask); err != nil {
			return err
		}
		t.approved[string(event.Subtask)+" "+string(d.Head)] = d.Verdict == company.Approve && !t.wantsSecondReview(d)
		t.judged[string(event.Subtask)+" "+string(d.Head)] = d
	case *company.ConflictSummarized:
		if r := t.runs[event.Run]; r == nil || !r.ended || roleOf(event.Run) != company.Reviewer ||
			t.heads[event.Subtask] != d.Head {
			return fmt.Errorf("%s summarises a conflict of another head, or is not an ended review", event.Run)
		}
	case *company.ReviewCarried:
		if d.Head == "" || d.Head != t.carried || !t.approved[string(event.Subtask)+" "+string(d.From)] ||
			t.merged[event.Subtask] != d.Head {
			return fmt.Errorf("an approval of %s is taken for one of the whole", event.Subtask)
		}
		t.approved[" "+string(d.Head)], t.carried = true, ""
	case *company.ReviewVoided:
		for key := range t.approved {
			if strings.HasPrefix(key, string(event.Subtask)+" ") {
				delete(t.approved, key)
				delete(t.judged, key)
			}
		}
	}
	return nil
}

// wantsSecondReview reports whether a second reviewer must judge the findings of a review before it takes effect.
func (t *observedTask) wantsSecondReview(recorded *company.ReviewRecorded) bool {
	switch {
	case recorded == nil || recorded.Confirms:
		return false
	case recorded.Verdict == company.RequestChanges:
		return t.settings.ConfirmReview == company.ConfirmBlocking || t.settings.ConfirmReview == company.ConfirmAll
	}
	return t.settings.ConfirmReview == company.ConfirmAll && len(recorded.Findings) > 0
}

// observeEndOfReviewer records the approval of the present head if the second reviewer's run ended without a verdict.
// It ignores runs that are settled after the end of their task.
func (t *observedTask) observeEndOfReviewer(d *company.RunEnded, event company.Event) {
	if _, _, role, _, err := event.Run.Split(); err != nil || role != company.Reviewer || t.ended || !d.EndsSecondLook() {
		return
	}
	head := t.head
	if event.Subtask != "" {
		head = t.heads[event.Subtask]
	}
	key := string(event.Subtask) + " " + string(head)
	if first := t.judged[key]; first != nil && first.Verdict == company.Approve && t.wantsSecondReview(first) {
		t.approved[key] = true
	}
}

// observeSecondReview checks that a second review is of the same head as a first one that requires it. It must judge
// the first review's blocking findings, or all, and include the ones that it does not reject (REV-4).
func (t *observedTask) observeSecondReview(recorded *company.ReviewRecorded, sub company.SubtaskID) error {
	if !recorded.Confirms {
		return nil
	}
	before := t.judged[string(sub)+" "+string(recorded.Head)]
	if !t.wantsSecondReview(before) {
		return errors.New("a second review, and no first one that asks for it")
	}
	for i, finding := range before.Findings {
		index := slices.IndexFunc(recorded.Judged, func(j company.Judgement) bool { return j.Number == i+1 })
		switch {
		case finding.Severity != company.Blocking && t.settings.ConfirmReview != company.ConfirmAll:
		case index < 0:
			return fmt.Errorf("a second review does not judge finding %d", i+1)
		case recorded.Judged[index].Status != company.FindingRejected && !slices.Contains(recorded.Findings, finding):
			return fmt.Errorf("a second review confirms finding %d, and lets it pass", i+1)
		}
	}
	return nil
}

// isUnshown reports whether a green verdict on a ticket lacks a test that shows the change although gates.red_green
// requires one (GAT-7).
func (t *observedTask) isUnshown(gateFinished *company.GateFinished) bool {
	redGreen := gateFinished.Result.RedGreen
	if t.settings.RedGreen != company.RedGreenRequire || !gateFinished.Result.Passed || gateFinished.Conflict {
		return false
	}
	return redGreen == nil || redGreen.Source && !redGreen.ShowsChange()
}

// hasLeave reports whether the president approved a question whose key begins with the text.
func (c *Checker) hasLeave(key string) bool {
	for k, yes := range c.yes {
		if yes && strings.HasPrefix(k, key) {
			return true
		}
	}
	return false
}

// isProven reports whether a verdict includes its own proof (GAT-1, GAT-3). It must have every pinned gate, each green
// or red only as the base is. Without gates, it needs permission to work without checks.
func (c *Checker) isProven(t *observedTask, id company.TaskID, gateResult company.GateResult) bool {
	if t.prepared == nil || gateResult.GateHash != t.prepared.GateHash {
		return false
	}
	if gateResult.Untested {
		return !t.hasGates() && c.untestedAllowed(t, id)
	}
	if !gateResult.Passed || !t.hasGates() || len(gateResult.Checks) != len(t.prepared.Gates) {
		return false
	}
	for i, check := range gateResult.Checks {
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
		if check.Excused == company.ComparedAsBefore && !c.yes[company.UnreadKey(id, check)] {
			return false
		}
	}
	return true
}

// redAsBefore reports whether the base is red in this check too and no named failure is new.
func redAsBefore(base, gateCheck company.GateCheck) bool {
	if gateCheck.Absent || base.Absent {
		return gateCheck.Absent && base.Absent && gateCheck.LeftOut == base.LeftOut &&
			gateCheck.Excused == company.ComparedAbsent
	}
	if base.ExitCode == 0 || gateCheck.ExitCode == 0 || gateCheck.Passed ||
		gateCheck.ExitCode >= 124 && gateCheck.ExitCode != base.ExitCode {
		return false
	}
	if base.Counts == nil || base.Counts.Failed == 0 || base.Counts.Failed != len(base.Tests) {
		return gateCheck.Excused == company.ComparedAsBefore
	}
	blind := false
	if gateCheck.Counts == nil || gateCheck.Counts.Failed == 0 || gateCheck.Counts.Failed != len(gateCheck.Tests) {
		return false
	}
	for _, testResult := range gateCheck.Tests {
		if !slices.ContainsFunc(base.Tests, func(b company.TestResult) bool { return b.Name == testResult.Name }) {
			return false
		}
		blind = blind || testResult.Unrun
	}
	if blind {
		return gateCheck.Excused == company.ComparedAsBefore
	}
	return gateCheck.Excused == company.ComparedKnown
}
