package company

import "strings"

// Values of gates.red_green.
const (
	RedGreenOff     = "off"     // the tests of a change are not run without it
	RedGreenReport  = "report"  // they are run, but do not block
	RedGreenRequire = "require" // a ticket that changes tested code needs a test that fails without the change
)

// maxUnshown limits how often a ticket goes back to its worker because no test shows its change. After that the
// president is asked.
const maxUnshown = 1

// RedGreenKey returns the key of the question whether a ticket's head may pass without a test that shows its change.
func RedGreenKey(sub SubtaskID, head OID) string {
	return "red_green " + string(sub) + " " + string(head)
}

// ShowsChange reports whether a test failed without the change, or a whole package did not compile or crashed. Tests of
// a new interface cannot compile without the change.
func (r *RedGreen) ShowsChange() bool {
	return r.Shown > 0 || len(r.Unbuilt) > 0 || len(r.Died) > 0
}

// ExplainUnshown returns why the tests of a change do not show it. The reason is empty if they do, or if the change
// touches no code that the test command covers. unknown means that the result could not be determined, which no worker
// can fix.
func (r *RedGreen) ExplainUnshown() (reason string, unknown bool) {
	switch {
	case !r.Source || r.ShowsChange():
		return "", false
	case r.Reason != "":
		return "which of its tests fail without the change is not known: " + r.Reason, true
	case r.Files == 0:
		return "no test was added or changed", false
	case len(r.Idle) > 0:
		return "its new tests pass without the change too: " + nameSome(r.Idle), false
	}
	return "none of its tests fails without the change", false
}

// explainUnshown returns why a green verdict on a ticket does not suffice: gates.red_green is require, and no test
// shows the change. A branch that does not merge is checked again once the conflict is resolved.
func (t *Task) explainUnshown(sub *Subtask, gateFinished *GateFinished) (reason string, unknown bool) {
	if !t.requiresRedGreen(gateFinished) || sub.Unshown == leaveUnshown || gateFinished.Result.RedGreen == nil {
		return "", false
	}
	return gateFinished.Result.RedGreen.ExplainUnshown()
}

// requiresRedGreen reports whether a verdict on a ticket must include a red-green result.
func (t *Task) requiresRedGreen(d *GateFinished) bool {
	return t.Settings.RedGreen == RedGreenRequire && d.Result.Passed && !d.Conflict
}

// leaveUnshown is the value of Subtask.Unshown after the president let the ticket pass without such a test.
const leaveUnshown = -1

// awaitsRedGreen reports whether a ticket waits for the president's permission to pass without a test that shows its
// change.
func (t *Task) awaitsRedGreen(sub *Subtask) bool {
	gateFinished := sub.headGateResult()
	if gateFinished == nil || sub.Status != SubtaskInGate {
		return false
	}
	reason, _ := t.explainUnshown(sub, gateFinished)
	return reason != ""
}

// holdUnshown holds a ticket back if its green verdict does not suffice. The ticket first goes back to its worker with
// the reason, and then waits for the president. It reports whether it held the ticket.
func (sub *Subtask) holdUnshown(task *Task, d *GateFinished) bool {
	reason, unknown := task.explainUnshown(sub, d)
	if reason == "" {
		return false
	}
	if unknown || sub.Unshown >= maxUnshown {
		return true // requiredApprovals asks
	}
	sub.Unshown++
	sub.failQuality(task)
	sub.requeue("No test shows your change: " + reason +
		". gates.red_green is require: a ticket that changes what the tests cover needs at least one test that fails " +
		"without the change and passes with it." +
		" The tests of your branch were run on the base without the rest of your change. Add such a test, or change the " +
		"ones that you wrote, and commit." +
		" Where none can show it, since behaviour stays as it was, add one that pins the behaviour and say why in the " +
		"summary of finish: the president decides then.")
	return true
}

// redGreenQuestion returns the question to the president about a ticket without such a test, or nil.
func (t *Task) redGreenQuestion(sub *Subtask) *PendingQuestion {
	if !t.awaitsRedGreen(sub) {
		return nil
	}
	reason, _ := t.explainUnshown(sub, sub.Gate)
	q := string(sub.ID) + " (" + sub.Planned.Title + ") changes what the tests cover, and no test shows it: " +
		reason + ". "
	if r := t.Runs[NewRunID(t.ID, sub.ID, Worker, sub.Started)]; r != nil && r.Summary != "" {
		q += "Its worker says: " + endSentence(cutText(strings.TrimSpace(r.Summary), 1000)) + " "
	}
	return &PendingQuestion{Key: RedGreenKey(sub.ID, sub.Head), Kind: AskRedGreen, Task: t.ID, Subtask: sub.ID,
		Question: q + "gates.red_green is require. Let it pass without such a test?"}
}

// answerRedGreen lets a ticket pass without such a test, or sends it back with the answer's text.
func (sub *Subtask) answerRedGreen(task *Task, option, words string) {
	if !task.awaitsRedGreen(sub) {
		return
	}
	switch {
	case option == OptApprove:
		sub.Unshown = leaveUnshown
		sub.applyGateResult(task, sub.Gate)
	case option == OptReject && strings.TrimSpace(words) != "":
		reason, _ := task.explainUnshown(sub, sub.Gate)
		sub.requeue("No test shows your change: " + reason + ". The president says: " + words)
	}
}
