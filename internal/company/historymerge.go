package company

import (
	"slices"
	"strings"
	"unicode"
)

// seeBaseline: taken once, before there is a plan, of every pinned gate.
func (t *observedTask) seeBaseline(d *BaselineRecorded, e Event) error {
	r := d.Result
	if t.prepared == nil || t.base != nil || t.planned != "" || r.GateHash != t.prepared.GateHash || len(r.Checks) != len(t.prepared.Gates) {
		return invariantError("event %d: a baseline of %s that is none", e.Seq, e.Task)
	}
	for i, c := range r.Checks {
		g := t.prepared.Gates[i]
		if c.Name != g.Name || c.Command != g.Command || c.Skipped || c.Passed && (c.ExitCode != 0 || c.Absent) || c.Absent && (g.Given || !g.IsLint()) {
			return invariantError("event %d: the baseline of %s proves nothing about %s", e.Seq, e.Task, c.Name)
		}
	}
	t.base = &r
	return nil
}

// hasGates says whether any pinned gate looks at the work.
func (t *observedTask) hasGates() bool {
	for i := range t.prepared.Gates {
		if t.base == nil || !t.base.Checks[i].Absent {
			return true
		}
	}
	return false
}

// isProven says whether a verdict carries its own proof (GAT-1, GAT-3): every
// pinned gate, each of them green or red only as the base is; or nothing that
// looks at the work, and leave for that.
func (w *HistoryChecker) isProven(t *observedTask, id TaskID, r GateResult) bool {
	if t.prepared == nil || r.GateHash != t.prepared.GateHash {
		return false
	}
	if r.Untested {
		return !t.hasGates() && w.untestedAllowed(t, id)
	}
	if !r.Passed || !t.hasGates() || len(r.Checks) != len(t.prepared.Gates) {
		return false
	}
	for i, c := range r.Checks {
		g := t.prepared.Gates[i]
		if c.Name != g.Name || c.Command != g.Command || c.Skipped {
			return false
		}
		if c.Canary != nil && len(c.Canary.Hollow) > 0 {
			return false
		}
		green := c.Passed && c.ExitCode == 0 && !c.Absent && (len(c.Flaky) == 0 || len(c.Attempts) > 0)
		if !green && (t.base == nil || !redAsBefore(t.base.Checks[i], c)) {
			return false
		}
		if c.Excused == ComparedAsBefore && t.settings.Rules >= 1 && !w.yes[unreadKey(id, c)] {
			return false
		}
	}
	return true
}

// redAsBefore: the base is red in this check too, and nothing that has a name
// fails here and not there.
func redAsBefore(base, c GateCheck) bool {
	if c.Absent || base.Absent {
		return c.Absent && base.Absent && c.Excused == ComparedAbsent
	}
	if base.ExitCode == 0 || c.ExitCode == 0 || c.Passed || c.ExitCode >= 124 && c.ExitCode != base.ExitCode {
		return false
	}
	if base.Counts == nil || base.Counts.Failed == 0 || base.Counts.Failed != len(base.Tests) {
		return c.Excused == ComparedAsBefore
	}
	blind := false
	if c.Counts == nil || c.Counts.Failed == 0 || c.Counts.Failed != len(c.Tests) {
		return false
	}
	for _, f := range c.Tests {
		if !slices.ContainsFunc(base.Tests, func(b TestResult) bool { return b.Name == f.Name }) {
			return false
		}
		blind = blind || f.Unrun
	}
	if blind {
		return c.Excused == ComparedAsBefore
	}
	return c.Excused == ComparedKnown
}

func (w *HistoryChecker) seeVerdict(t *observedTask, d Data, e Event) error {
	judge := func(r GateResult) error {
		good := w.isProven(t, e.Task, r)
		if r.allowsMerge() && !good {
			return invariantError("event %d: a verdict that lets pass and proves nothing", e.Seq)
		}
		if good {
			t.green[r.Tree] = true
		}
		return nil
	}
	switch d := d.(type) {
	case *GateFinished:
		if err := judge(d.Result); err != nil {
			return err
		}
		if e.Subtask == "" && d.Result.allowsMerge() {
			t.whole[d.Head] = d.Result.Tree
		}
	case *MergeGated:
		return judge(d.Result)
	case *ReviewRecorded:
		if r := t.runs[e.Run]; r == nil || !r.ended {
			return invariantError("event %d: a verdict of a run that did not end", e.Seq)
		}
		if d.Verdict == Approve && slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Severity == Blocking }) {
			return invariantError("event %d: approved in spite of a blocking finding", e.Seq)
		}
		t.approved[string(e.Subtask)+" "+string(d.Head)] = d.Verdict == Approve
		t.judged[string(e.Subtask)+" "+string(d.Head)] = d
	case *ReviewCarried:
		if d.Head == "" || d.Head != t.carried || !t.approved[string(e.Subtask)+" "+string(d.From)] || t.merged[e.Subtask] != d.Head {
			return invariantError("event %d: an approval of %s is taken for one of the whole", e.Seq, e.Subtask)
		}
		t.approved[" "+string(d.Head)], t.carried = true, ""
	case *ReviewVoided:
		for key := range t.approved {
			if len(key) > len(e.Subtask) && key[:len(e.Subtask)+1] == string(e.Subtask)+" " {
				delete(t.approved, key)
			}
		}
	}
	return nil
}

func (w *HistoryChecker) seeMerge(t *observedTask, d Data, e Event) error {
	switch d := d.(type) {
	case *MergeIntentRecorded:
		switch {
		case t.intent != nil:
			return invariantError("event %d: two merges at once", e.Seq)
		case t.merged[d.Subtask] != "":
			return invariantError("event %d: %s would be merged twice", e.Seq, d.Subtask)
		case d.Subtask != e.Subtask || d.Onto != t.head:
			return invariantError("event %d: a merge onto %s, and the head is %s", e.Seq, d.Onto.Short(), t.head.Short())
		case !t.green[d.Tree]:
			return invariantError("event %d: a merge of a tree on which no gates passed", e.Seq)
		case !t.approved[string(d.Subtask)+" "+string(d.Head)]:
			return invariantError("event %d: a merge of a head that nobody approved", e.Seq)
		}
		if err := refuseProtectedBranch(t.prepared.Integration); err != nil {
			return invariantError("event %d: a merge to %s", e.Seq, t.prepared.Integration)
		}
		what := " " + string(d.Subtask) + " " + string(d.Head)
		if t.protected[d.Subtask] && !w.yes["protected"+what] {
			return invariantError("event %d: protected paths would change without the president", e.Seq)
		}
		for _, c := range t.changes[d.Subtask] {
			if t.settings.ProtectTests && c.Action != "created" && IsTest(c.Path) && !t.created[c.Path] && !w.yes["protected"+what] {
				return invariantError("event %d: the test %s would change without the president", e.Seq, c.Path)
			}
		}
		if t.settings.Merge == Ask && !w.yes["merge"+what] && !w.yes["protected"+what] {
			return invariantError("event %d: a merge without the president's leave", e.Seq)
		}
		t.intent = d
	case *MergeRecorded:
		if t.intent == nil || t.intent.Subtask != e.Subtask {
			return invariantError("event %d: a merge that was not intended", e.Seq)
		}
		for _, c := range t.merged {
			if c == d.Commit {
				return invariantError("event %d: one merge commit for two subtasks", e.Seq)
			}
		}
		t.merged[e.Subtask] = d.Commit
		for _, c := range t.changes[e.Subtask] {
			t.created[c.Path] = t.created[c.Path] || c.Action == "created"
		}
		t.head, t.trees[d.Commit] = d.Commit, t.intent.Tree
		if t.settings.Rules >= 2 && t.wholeJudged(t.intent) {
			t.carried = d.Commit
		}
		t.intent = nil
	}
	return nil
}

// wholeJudged says whether a merge brings in just what the reviewer of the only
// ticket approved, by the president's instruction too.
func (t *observedTask) wholeJudged(in *MergeIntentRecorded) bool {
	r := t.judged[string(in.Subtask)+" "+string(in.Head)]
	return len(t.waves) == 1 && len(t.merged) == 1 && in.HeadTree == in.Tree && in.Onto == t.prepared.Base.OID &&
		r != nil && r.Whole && r.Verdict == Approve && r.Onto == in.Onto
}

// seeEnd: a pull request, and completion, only of a head on which everything
// was checked.
func (w *HistoryChecker) seeEnd(t *observedTask, d Data, e Event) error {
	switch d := d.(type) {
	case *PROpened:
		t.prs++
		waived := w.yes["review "+string(e.Task)+" "+string(d.Head)]
		switch {
		case t.prs > 1:
			return invariantError("event %d: a second pull request of %s", e.Seq, e.Task)
		case d.Head != t.head:
			return invariantError("event %d: a pull request of another head", e.Seq)
		case t.whole[d.Head] == "" || t.whole[d.Head] != t.trees[d.Head]:
			return invariantError("event %d: a pull request of a tree on which no gates passed", e.Seq)
		case !t.approved[" "+string(d.Head)] && !waived:
			return invariantError("event %d: a pull request that nobody reviewed", e.Seq)
		case t.settings.PR == Ask && !w.yes["pr "+string(e.Task)+" "+string(d.Head)]:
			return invariantError("event %d: a pull request without the president's leave", e.Seq)
		}
		w.tasks[w.prTask(e.Task)].branch = BranchChange{Kind: BranchAsDelivered, Delivered: d.Head, Now: d.Head}
		return refuseProtectedBranch(d.Branch)
	case *PRSettled:
		t.settled = true
	case *BranchChangeSeen:
		return t.seeBranch(d, e)
	case *TaskCompleted:
		t.ended, t.intent = true, nil
		switch {
		case d.DryRun && t.dryRun && t.planned != "":
		case d.DryRun || t.prs != 1:
			return invariantError("event %d: %s is completed without its pull request", e.Seq, e.Task)
		default:
			for i := range t.waves {
				if t.merged[NewSubtaskID(e.Task, i+1)] == "" {
					return invariantError("event %d: %s is completed without all of its subtasks", e.Seq, e.Task)
				}
			}
		}
	case *TaskFailed, *TaskCancelled:
		t.ended, t.intent = true, nil
	case *RunEnded, *RunReleased, *BudgetRaised, *ApprovalOpened, *ApprovalAnswered, *TaskPaused, *PRFeedbackReceived, *AccessRefused, *FileWriteFailed, *FileWriteRecovered:
	default:
		if t.ended {
			return invariantError("event %d: %s after the end of %s", e.Seq, e.Kind, e.Task)
		}
	}
	return nil
}

// seeBranch: a branch's change is recorded for an open pull request, beside the
// last delivery, once, and with few plain names.
func (t *observedTask) seeBranch(d *BranchChangeSeen, e Event) error {
	was, now := t.branch, d.BranchChange
	if t.follows != "" || t.prs == 0 || t.settled {
		return invariantError("event %d: a branch of %s, which has no open pull request of its own", e.Seq, e.Task)
	}
	t.branch = now
	switch {
	case now.check() != nil:
		return invariantError("event %d: the branch of %s cannot stand so: %s", e.Seq, e.Task, now)
	case now.Delivered != was.Delivered:
		return invariantError("event %d: the branch of %s was delivered at %s, and is compared with %s", e.Seq, e.Task, was.Delivered.Short(), now.Delivered.Short())
	case now.equalTo(was):
		return invariantError("event %d: the branch of %s is told twice", e.Seq, e.Task)
	case now.Commits > MaxBranchCommits || now.People > MaxBranchCommits || len(now.By) > min(MaxBranchNames, now.People):
		return invariantError("event %d: the branch of %s holds %d commits by %d people, %d of them named", e.Seq, e.Task, now.Commits, now.People, len(now.By))
	}
	for _, name := range now.By {
		if len(name) > maxBranchName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return invariantError("event %d: %q is no plain name", e.Seq, name)
		}
	}
	return nil
}
