package company

import "strings"

// A red check that the base is red in too, and that does not say by name what
// fails in it, proves nothing in either direction. It neither bars by itself
// nor passes: the president sees what differs and decides. The answer counts
// for the task and for this difference, wherever else it shows up.

// UnreadKey names the question whether a check may pass that cannot be read.
func UnreadKey(t TaskID, c GateCheck) string {
	about := append([]string{c.Name, itoa(c.ExitCode)}, c.Unrun()...)
	if c.ExitCode < endedOddly { // a run that is cut short does not end at the same line twice
		about = append(about, c.Beside)
	}
	h, err := HashOf(about)
	if err != nil {
		panic("company: strings without canonical form: " + err.Error())
	}
	return "unread " + string(t) + " " + string(h)
}

// unreadChecks are the checks of a verdict that cannot be read; none when
// something else bars, since then there is nothing to decide.
func (t *Task) unreadChecks(d *GateFinished) []GateCheck {
	if d == nil || d.Result.AllowsMerge() {
		return nil
	}
	var out []GateCheck
	for i, c := range d.Result.Checks {
		switch stand := c.Against(baseCheck(t.Baseline, i)); {
		case stand == ComparedUnreadable:
			out = append(out, c)
		case stand != ComparedPassed && !stand.isExcused():
			return nil
		}
	}
	return out
}

// awaitsUnreadVerdict says whether a verdict waits for the president: it cannot
// be read, no answer was no, and not everything in it was accepted yet.
func (s *State) awaitsUnreadVerdict(t *Task, d *GateFinished) bool {
	waits := false
	for _, c := range t.unreadChecks(d) {
		a := s.Approvals[s.ByKey[UnreadKey(t.ID, c)]]
		if a != nil && !a.Open() && a.Option == OptReject {
			return false
		}
		waits = waits || a == nil || a.Open()
	}
	return waits
}

// gateDue says whether the whole is to be judged: it was not yet, or what
// could not be read of it may pass now.
func (s *State) gateDue(t *Task) bool {
	if !t.gateDone() {
		return true
	}
	checks := t.unreadChecks(t.Gate)
	for _, c := range checks {
		if !s.isApproved(UnreadKey(t.ID, c)) {
			return false
		}
	}
	return len(checks) > 0
}

// headGateResult is the gates' result on the subtask's head, or nil.
func (sub *Subtask) headGateResult() *GateFinished {
	if sub.Gate == nil || sub.Gate.Head != sub.Head {
		return nil
	}
	return sub.Gate
}

// unreadGateQuestions are the questions that a verdict calls for.
func (s *State) unreadGateQuestions(t *Task, sub SubtaskID, d *GateFinished) []PendingQuestion {
	var out []PendingQuestion
	for _, c := range t.unreadChecks(d) {
		of := string(sub)
		if of == "" {
			of = "the whole of " + string(t.ID)
		}
		q := "The check " + c.Name + " is red (exit " + itoa(c.ExitCode) + ") on " + of + ", and was red before any work. New failures in it cannot be recognised:  "
		if unrun := c.Unrun(); len(unrun) > 0 {
			q += "nothing was run behind " + nameSome(unrun) + ". "
		} else {
			q += "the base's failures have no names. "
		}
		if c.Beside == "" {
			q += "But for numbers it prints nothing that the base does not. "
		} else {
			q += "It prints this, and the base does not:\n" + strings.TrimRight(c.Beside, "\n") + "\n"
		}
		out = append(out, PendingQuestion{Key: UnreadKey(t.ID, c), Kind: AskUnread, Task: t.ID, Subtask: sub, Question: q + "Let it pass, unverified?"})
	}
	return out
}

// rejectUnread sends back whatever waits for this answer.
func (t *Task) rejectUnread(key, words string) {
	about := func(d *GateFinished) bool {
		for _, c := range t.unreadChecks(d) {
			if UnreadKey(t.ID, c) == key {
				return true
			}
		}
		return false
	}
	for _, sub := range t.Subtasks {
		if sub.Status == SubtaskInGate && about(sub.headGateResult()) || sub.Status == SubtaskMerging && about(sub.Doubt) {
			t.removeFromQueue(sub.ID)
			t.editSubtask(sub.ID).requeue(words)
		}
	}
	if t.Status == StatusReviewing && t.gateDone() && about(t.Gate) {
		t.Review.Rounds = 0
		t.addRepairWave("The gates are red on the merged whole", t.Gate.Result.failedOutput()+"\n"+words)
	}
}

// waivedChecks is what the president let pass in a task.
func (s *State) waivedChecks(t *Task) WaiverFunc {
	return func(c GateCheck) bool { return s.isApproved(UnreadKey(t.ID, c)) }
}

// Settle weighs a verdict by the baseline of a task, and by what the president
// let pass in it.
func (s *State) Settle(t *Task, r GateResult) GateResult {
	return r.Settle(t.Baseline, s.waivedChecks(t))
}

// Reuse is a verdict of the cache for a task with this baseline (nil: of the
// base itself), or not ok when its facts do not suffice.
func (s *State) Reuse(t *Task, r GateResult, base *GateResult) (GateResult, bool) {
	return r.Reuse(base, s.waivedChecks(t))
}
