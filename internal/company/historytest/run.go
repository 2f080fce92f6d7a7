package historytest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"company/internal/company"
)

func (c *Checker) observeRun(t *observedTask, data company.Data, event company.Event) error {
	observedRun := t.runs[event.Run]
	switch d := data.(type) {
	case *company.RunOffered:
		if observedRun != nil && (observedRun.held || observedRun.ended) {
			return fmt.Errorf("%s is offered while it is held or ended", event.Run)
		}
		if t.timedOut[event.Subtask] {
			return fmt.Errorf("%s is offered after a run that broke its time limit, and nobody decided that", event.Run)
		}
		if err := c.observeOffer(t, event); err != nil {
			return err
		}
		if t.settings.Plan == company.Ask && t.planned != "" && !c.yes["plan "+string(t.planned)] {
			return errors.New("work on a plan that the president has not approved")
		}
		if err := t.checkWave(event); err != nil {
			return err
		}
		if _, answered := c.yes["clarification "+string(t.asks)]; t.asks != "" && !answered {
			return fmt.Errorf("%s is offered before the question of %s is answered", event.Run, t.asks)
		}
		t.run(event.Run).offered = d.Epoch
	case *company.RunClaimed:
		if d.Role == company.Reviewer && event.Subtask == "" && t.approved[" "+string(t.head)] {
			return fmt.Errorf("%s is to review %s, which is approved", event.Run, t.head.Short())
		}
		observedRun = t.run(event.Run)
		if observedRun.held || observedRun.ended || d.Fence <= observedRun.fence || d.Worker == "" ||
			!d.Deadline.After(event.Time) {
			return fmt.Errorf("%s is claimed while it is held, or without owner, deadline or a higher fence", event.Run)
		}
		if d.Role == company.Worker && (observedRun.offered == 0 || observedRun.offered != c.epoch) {
			return fmt.Errorf("%s is claimed without an offer of epoch %d", event.Run, c.epoch)
		}
		if err := t.checkWave(event); err != nil {
			return err
		}
		if held := t.heldWorkerOf(event.Subtask); held != "" && d.Role == company.Worker {
			return fmt.Errorf("%s is claimed while %s is held", event.Run, held)
		}
		observedRun.held = true
		observedRun.offered = 0
		observedRun.fence = d.Fence
	case *company.RunReleased:
		if !observedRun.isHeld() {
			return fmt.Errorf("%s is released but not held", event.Run)
		}
		observedRun.held = false
	case *company.RunEnded:
		if observedRun == nil || !observedRun.held && (observedRun.ended || !t.ended) {
			// A run that the ended task left behind may be settled.
			return fmt.Errorf("%s ends but is not held", event.Run)
		}
		if d.Heard < 0 || d.Heard > observedRun.words {
			return fmt.Errorf("%s has read %d messages of %d", event.Run, d.Heard, observedRun.words)
		}
		t.overdrawn = t.overdrawn || d.Spent.MicroUSD > observedRun.reserved.MicroUSD ||
			d.Spent.Tokens > observedRun.reserved.Tokens
		observedRun.held = false
		observedRun.ended = true
		observedRun.reserved = company.Amount{}
		t.spent = t.spent.Add(d.Spent)
		t.observeEndOfReviewer(d, event)
		role := roleOf(event.Run)
		if role == company.Worker && d.TimedOut {
			t.timedOut[event.Subtask] = true
		}
		if d.Head != "" {
			t.observeHead(event.Subtask, d.Head, d.Changes)
		} else if role == company.Merger || role == company.Worker {
			return t.observeAsker(d, event, role)
		}
	case *company.SubtaskGuided, *company.SubtaskReplanned:
		delete(t.timedOut, event.Subtask)
	case *company.ApprovalAnswered: // the president decided
		clear(t.timedOut)
	case *company.TaskReopened:
		clear(t.timedOut)
		t.asks = "" // its question is withdrawn
		if d.From != "" {
			t.forgetHeads(event.Task, d.From)
		}
	case *company.RunRolledBack:
		if !observedRun.hasEnded() || roleOf(event.Run) != company.Worker {
			return fmt.Errorf("%s is rolled back, and has no work that can be undone", event.Run)
		}
		if held := t.heldWorkerOf(event.Subtask); held != "" {
			return fmt.Errorf("%s is rolled back while %s is held", event.Run, held)
		}
		delete(t.timedOut, event.Subtask)
		delete(t.heads, event.Subtask)
	case *company.RunTold:
		if observedRun == nil || observedRun.ended || t.ended {
			return fmt.Errorf("%s is told something, and nobody works in it", event.Run)
		}
		if observedRun.words++; observedRun.words > company.MaxWords || strings.TrimSpace(d.Text) == "" ||
			len(d.Text) > company.MaxWord {
			return fmt.Errorf("%s is told nothing, or too much", event.Run)
		}
	case *company.AccessRefused:
		return observedRun.observeRefusedAccess(d, event)
	}
	return nil
}

// heldWorkerOf returns the held run of a subtask's worker, or "".
func (t *observedTask) heldWorkerOf(id company.SubtaskID) company.RunID {
	for run, observed := range t.runs {
		if _, sub, role, _, err := run.Split(); observed.held && err == nil && sub == id && role == company.Worker {
			return run
		}
	}
	return ""
}

// observeAsker checks that a run which succeeds without a commit is a worker's that asks the president: about the whole
// instruction, and before any change.
func (t *observedTask) observeAsker(runEnded *company.RunEnded, event company.Event, role company.Role) error {
	switch {
	case runEnded.Status != company.RunSuccess || t.ended:
		return nil
	case role != company.Worker || event.Subtask != t.alone || t.heads[event.Subtask] != "":
		return fmt.Errorf("%s succeeds without a commit", event.Run)
	}
	t.asks = event.Run
	return nil
}

// roleOf returns the role of a run, or "" for an invalid id.
func roleOf(id company.RunID) company.Role {
	_, _, role, _, _ := id.Split()
	return role
}

// forgetHeads drops the work of the tickets from one on, which start again. What is merged stays, and so do commits of
// others that were taken in.
func (t *observedTask) forgetHeads(task company.TaskID, from company.SubtaskID) {
	for id := range t.heads {
		if t.merged[id] == "" && t.takenIn[id] == "" && t.placeOf(task, id) >= t.placeOf(task, from) {
			delete(t.heads, id)
		}
	}
}

// observeDependency checks that a run looked up the dependencies that it adds, with permission if that is required, and
// that both stay within the limits.
func (c *Checker) observeDependency(t *observedTask, data company.Data, event company.Event) error {
	observedRun := t.runs[event.Run]
	switch d := data.(type) {
	case *company.DependencyLookedUp:
		if !observedRun.isHeld() {
			return fmt.Errorf("%s looks a name up in nobody's hands", event.Run)
		}
		if t.lookedUp[company.Dependency{Ecosystem: d.Ecosystem, Name: d.Name}] = true; len(t.lookedUp) > company.MaxLookups {
			return fmt.Errorf("%s looks up more than %d names", event.Task, company.MaxLookups)
		}
	case *company.DependencyAdded:
		if !observedRun.isHeld() {
			return fmt.Errorf("%s adds a dependency in nobody's hands", event.Run)
		}
		name := company.Dependency{Ecosystem: d.Ecosystem, Name: d.Name}
		if !t.lookedUp[name] {
			return fmt.Errorf("%s is added and was never looked up", d.Dependency)
		}
		if t.settings.Deps == company.Ask && !c.yes[company.DependencyKey(event.Task, name)] &&
			!c.yes[company.DependencyKey(event.Task, d.Dependency)] {
			return fmt.Errorf("%s is added without the president's approval", d.Dependency)
		}
		//mutant:equal swap only the names are counted
		if t.added[name] = true; len(t.added) > company.MaxDependencies {
			return fmt.Errorf("%s adds more than %d dependencies", event.Task, company.MaxDependencies)
		}
	}
	return nil
}

// observeRefusedAccess checks that a refused access belongs to a claimed run, is plain text, and stays within the
// limits.
func (r *observedRun) observeRefusedAccess(refused *company.AccessRefused, event company.Event) error {
	if r == nil || r.fence == 0 {
		return fmt.Errorf("%s reached for something before anybody worked in it", event.Run)
	}
	if r.refused == nil {
		r.refused = map[string]int{}
	}
	r.refused[refused.AccessKind]++
	switch {
	case refused.Times < 1 || !company.IsRefusalKind(refused.AccessKind):
		return fmt.Errorf("a refused access of kind %q, %d times", refused.AccessKind, refused.Times)
	case r.refused[refused.AccessKind] > company.MaxRefusedEvents || len(r.refused) > company.MaxRefusedKinds:
		return fmt.Errorf("%s fills the ledger with refused accesses", event.Run)
	case len(refused.What) > company.MaxRefusedText ||
		strings.ContainsFunc(refused.What, func(c rune) bool { return !unicode.IsPrint(c) }):
		return fmt.Errorf("what was refused is not a plain line: %q", refused.What)
	}
	return nil
}

// checkWave checks that a run of a subtask begins only when all earlier waves and the subtasks named in its after are
// merged.
func (t *observedTask) checkWave(event company.Event) error {
	if event.Subtask == "" {
		return nil
	}
	if i := t.placeOf(event.Task, event.Subtask); i >= 0 {
		for _, id := range t.after[i] {
			if t.merged[id] == "" {
				return fmt.Errorf("%s comes after %s, which is not merged", event.Run, id)
			}
		}
	}
	for i := range t.waves {
		sub := company.NewSubtaskID(event.Task, i+1)
		if sub == event.Subtask {
			continue
		}
		if own := t.waveOf(event); t.waves[i] < own && t.merged[sub] == "" {
			return fmt.Errorf("%s of wave %d while %s of wave %d is not merged", event.Run, own, sub, t.waves[i])
		}
	}
	return nil
}

func (t *observedTask) waveOf(event company.Event) int {
	for i, wave := range t.waves {
		if company.NewSubtaskID(event.Task, i+1) == event.Subtask {
			return wave
		}
	}
	return len(t.waves) + 1 // a repair comes after all planned subtasks
}

// observeHead records the newest head of a subtask, and whether its changes need the president's approval.
func (t *observedTask) observeHead(sub company.SubtaskID, head company.OID, changes []company.Change) {
	rules := company.PlanRules{Protected: t.settings.Protected}
	t.heads[sub] = head
	t.changes[sub] = changes
	t.protected[sub] = slices.ContainsFunc(changes, func(c company.Change) bool {
		return rules.IsProtected(c.Path) || company.ChangesGuardedCode(c)
	})
}
