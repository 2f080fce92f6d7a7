package company

import "strings"

// Values of gates.red_green.
const (
	RedGreenOff     = "off"     // the tests of a change are not run without it
	RedGreenReport  = "report"  // they are, and bar nothing
	RedGreenRequire = "require" // a ticket that changes what the tests cover needs one that fails without it
)

// maxUnshown is how often a ticket goes back to its worker for want of a test that
// shows it. After that the president is asked.
const maxUnshown = 1

// RedGreenKey names the question whether a ticket's head may pass without a test
// that shows its change.
func RedGreenKey(sub SubtaskID, head OID) string {
	return "red_green " + string(sub) + " " + string(head)
}

// ShowsChange says whether something was seen to fail without the change: a test, or a
// package as a whole, which does not compile or dies. Tests of an interface that is new
// cannot compile without it.
func (r *RedGreen) ShowsChange() bool {
	return r.Shown > 0 || len(r.Unbuilt) > 0 || len(r.Died) > 0
}

// ExplainUnshown is why the tests of a change do not show it; empty: they do, or the
// change touches nothing that the test command covers. Unknown says that it could
// not be found out, which no worker can mend.
func (r *RedGreen) ExplainUnshown() (why string, unknown bool) {
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

// explainUnshown is why a green verdict on a ticket does not suffice: gates.red_green is
// require, and no test shows the change. A branch that does not merge is judged
// again once the conflict is resolved.
func (t *Task) explainUnshown(sub *Subtask, d *GateFinished) (why string, unknown bool) {
	if !t.requiresRedGreen(d) || sub.Unshown == leaveUnshown || d.Result.RedGreen == nil {
		return "", false
	}
	return d.Result.RedGreen.ExplainUnshown()
}

// requiresRedGreen says whether a verdict on a ticket has to say what its tests show.
func (t *Task) requiresRedGreen(d *GateFinished) bool {
	return t.Settings.RedGreen == RedGreenRequire && d.Result.Passed && !d.Conflict
}

// leaveUnshown in Subtask.Unshown: the president let the ticket pass without such a test.
const leaveUnshown = -1

// awaitsRedGreen says whether a ticket waits for the president's leave to pass
// without a test that shows its change.
func (t *Task) awaitsRedGreen(sub *Subtask) bool {
	d := sub.headGateResult()
	if d == nil || sub.Status != SubtaskInGate {
		return false
	}
	why, _ := t.explainUnshown(sub, d)
	return why != ""
}

// holdUnshown keeps a ticket back whose green verdict does not suffice: it goes to
// its worker with the reason first, or waits for the president.
func (sub *Subtask) holdUnshown(t *Task, d *GateFinished) bool {
	why, unknown := t.explainUnshown(sub, d)
	if why == "" {
		return false
	}
	if unknown || sub.Unshown >= maxUnshown {
		return true // requiredApprovals asks
	}
	sub.Unshown++
	sub.failQuality(t)
	sub.requeue("No test shows your change: " + why + ". gates.red_green is require: a ticket that changes what the tests cover needs at least one test that fails without the change and passes with it." +
		" The tests of your branch were run on the base without the rest of your change. Add such a test, or change the ones that you wrote, and commit." +
		" Where none can show it, since behaviour stays as it was, add one that pins the behaviour and say why in the summary of finish: the president decides then.")
	return true
}

// redGreenQuestion asks the president about a ticket that waits for that, or is nil.
func (t *Task) redGreenQuestion(sub *Subtask) *PendingQuestion {
	if !t.awaitsRedGreen(sub) {
		return nil
	}
	why, _ := t.explainUnshown(sub, sub.Gate)
	q := string(sub.ID) + " (" + sub.Planned.Title + ") changes what the tests cover, and no test shows it: " + why + ". "
	if r := t.Runs[NewRunID(t.ID, sub.ID, Worker, sub.Started)]; r != nil && r.Summary != "" {
		q += "Its worker says: " + endSentence(cutText(strings.TrimSpace(r.Summary), 1000)) + " "
	}
	return &PendingQuestion{Key: RedGreenKey(sub.ID, sub.Head), Kind: AskRedGreen, Task: t.ID, Subtask: sub.ID,
		Question: q + "gates.red_green is require. Let it pass without such a test?"}
}

// answerRedGreen lets a ticket pass without a test that shows it, or sends it back with
// the answer's text.
func (sub *Subtask) answerRedGreen(t *Task, option, words string) {
	if !t.awaitsRedGreen(sub) {
		return
	}
	switch {
	case option == OptApprove:
		sub.Unshown = leaveUnshown
		sub.applyGateResult(t, sub.Gate)
	case option == OptReject && strings.TrimSpace(words) != "":
		why, _ := t.explainUnshown(sub, sub.Gate)
		sub.requeue("No test shows your change: " + why + ". The president says: " + words)
	}
}
