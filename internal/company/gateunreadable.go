package company

import "strings"

// If a check is red on the base too and does not name its failures, it proves nothing about the change. It neither
// blocks by itself nor passes: the president sees the difference and decides. The answer applies to this difference in
// the whole task, wherever it appears.

// UnreadKey returns the key of the question whether an unreadable check may pass.
func UnreadKey(taskID TaskID, gateCheck GateCheck) string {
	about := append([]string{gateCheck.Name, itoa(gateCheck.ExitCode)}, gateCheck.Unrun()...)
	if gateCheck.ExitCode < endedOddly { // a run that was cut off does not end at the same line twice
		about = append(about, gateCheck.Beside)
	}
	hash, err := HashOf(about)
	if err != nil {
		panic("company: strings without canonical form: " + err.Error())
	}
	return "unread " + string(taskID) + " " + string(hash)
}

// unreadChecks returns the unreadable checks of a verdict. It returns nil if another check blocks, since then there is
// no decision to make.
func (t *Task) unreadChecks(gateFinished *GateFinished) []GateCheck {
	if gateFinished == nil || gateFinished.Result.AllowsMerge() {
		return nil
	}
	var out []GateCheck
	for i, gateCheck := range gateFinished.Result.Checks {
		switch stand := gateCheck.Against(baseCheck(t.Baseline, i)); {
		case stand == ComparedUnreadable:
			out = append(out, gateCheck)
		case stand != ComparedPassed && !stand.isExcused():
			return nil
		}
	}
	return out
}

// awaitsUnreadVerdict reports whether a verdict waits for the president: it is unreadable, no question was rejected,
// and not every question is answered.
func (s *State) awaitsUnreadVerdict(task *Task, gateFinished *GateFinished) bool {
	waits := false
	for _, c := range task.unreadChecks(gateFinished) {
		approval := s.Approvals[s.ByKey[UnreadKey(task.ID, c)]]
		if approval != nil && !approval.Open() && approval.Option == OptReject {
			return false
		}
		waits = waits || approval == nil || approval.Open()
	}
	return waits
}

// gateDue reports whether the gates must run on the whole task: they have not run yet, or the president has since
// waived all its unreadable checks.
func (s *State) gateDue(task *Task) bool {
	if !task.gateDone() {
		return true
	}
	checks := task.unreadChecks(task.Gate)
	for _, c := range checks {
		if !s.isApproved(UnreadKey(task.ID, c)) {
			return false
		}
	}
	return len(checks) > 0
}

// headGateResult returns the gates' result on the subtask's head, or nil.
func (sub *Subtask) headGateResult() *GateFinished {
	if sub.Gate == nil || sub.Gate.Head != sub.Head {
		return nil
	}
	return sub.Gate
}

// unreadGateQuestions returns the questions that a verdict requires.
func (s *State) unreadGateQuestions(task *Task, sub SubtaskID, gateFinished *GateFinished) []PendingQuestion {
	var out []PendingQuestion
	for _, gateCheck := range task.unreadChecks(gateFinished) {
		of := string(sub)
		if of == "" {
			of = "the whole of " + string(task.ID)
		}
		q := "The check " + gateCheck.Name + " is red (exit " + itoa(gateCheck.ExitCode) + ") on " + of +
			", and was red before any work. New failures in it cannot be recognised:  "
		if unrun := gateCheck.Unrun(); len(unrun) > 0 {
			q += "nothing was run behind " + nameSome(unrun) + ". "
		} else {
			q += "the base's failures have no names. "
		}
		if gateCheck.Beside == "" {
			q += "But for numbers it prints nothing that the base does not. "
		} else {
			q += "It prints this, and the base does not:\n" + strings.TrimRight(gateCheck.Beside, "\n") + "\n"
		}
		out = append(
			out, PendingQuestion{Key: UnreadKey(task.ID, gateCheck), Kind: AskUnread, Task: task.ID, Subtask: sub,
				Question: q + "Let it pass, unverified?"})
	}
	return out
}

// rejectUnread sends back all work that waits for this answer.
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

// waivedChecks returns a function that reports whether the president let a check of the task pass.
func (s *State) waivedChecks(t *Task) WaiverFunc {
	return func(c GateCheck) bool { return s.isApproved(UnreadKey(t.ID, c)) }
}

// Settle compares a result with the baseline of a task and applies the president's waivers in it.
func (s *State) Settle(t *Task, r GateResult) GateResult {
	return r.Settle(t.Baseline, s.waivedChecks(t))
}

// Reuse applies a cached result to a task with this baseline. A nil base means that the result is for the base itself.
// It returns false if the facts do not suffice.
func (s *State) Reuse(t *Task, r GateResult, base *GateResult) (GateResult, bool) {
	return r.Reuse(base, s.waivedChecks(t))
}
