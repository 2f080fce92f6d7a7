package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"company/internal/company"
)

func (c *Checker) observeRun(t *observedTask, d company.Data, e company.Event) error {
	r := t.runs[e.Run]
	switch d := d.(type) {
	case *company.RunOffered:
		if r != nil && (r.held || r.ended) {
			return fmt.Errorf("%s is offered while it is held or ended", e.Run)
		}
		if err := c.observeOffer(t, e); err != nil {
			return err
		}
		if t.settings.Plan == company.Ask && t.planned != "" && !c.yes["plan "+string(t.planned)] {
			return errors.New("work on a plan that the president has not approved")
		}
		if err := t.checkWave(e); err != nil {
			return err
		}
		t.run(e.Run).offered = d.Epoch
	case *company.RunClaimed:
		if d.Role == company.Reviewer && e.Subtask == "" && t.approved[" "+string(t.head)] {
			return fmt.Errorf("%s is to review %s, which is approved", e.Run, t.head.Short())
		}
		r = t.run(e.Run)
		if r.held || r.ended || d.Fence <= r.fence || d.Worker == "" || !d.Deadline.After(e.Time) {
			return fmt.Errorf("%s is claimed while it is held, or without owner, deadline or a higher fence", e.Run)
		}
		if d.Role == company.Worker && (r.offered == 0 || r.offered != c.epoch) {
			return fmt.Errorf("%s is claimed without an offer of epoch %d", e.Run, c.epoch)
		}
		if err := t.checkWave(e); err != nil {
			return err
		}
		r.held, r.offered, r.fence = true, 0, d.Fence
	case *company.RunReleased:
		if !r.isHeld() {
			return fmt.Errorf("%s is let go by nobody", e.Run)
		}
		r.held = false
	case *company.RunEnded:
		if r == nil || !r.held && (r.ended || !t.ended) { // what its task has left behind is settled
			return fmt.Errorf("%s ends in nobody's hands", e.Run)
		}
		if d.Heard < 0 || d.Heard > r.words {
			return fmt.Errorf("%s has read %d messages of %d", e.Run, d.Heard, r.words)
		}
		t.overdrawn = t.overdrawn || d.Spent.MicroUSD > r.reserved.MicroUSD || d.Spent.Tokens > r.reserved.Tokens
		r.held, r.ended, r.reserved = false, true, company.Amount{}
		t.spent = t.spent.Add(d.Spent)
		t.observeEndOfReviewer(d, e)
		if d.Head != "" {
			t.observeHead(e.Subtask, d.Head, d.Changes)
		}
	case *company.RunTold:
		if r == nil || r.ended || t.ended {
			return fmt.Errorf("%s is told something, and nobody works in it", e.Run)
		}
		if r.words++; r.words > company.MaxWords || strings.TrimSpace(d.Text) == "" || len(d.Text) > company.MaxWord {
			return fmt.Errorf("%s is told nothing, or too much", e.Run)
		}
	case *company.AccessRefused:
		return r.observeRefusedAccess(d, e)
	}
	return nil
}

// observeDependency: what a run adds it has looked up, with leave where that is
// needed, and neither without end.
func (c *Checker) observeDependency(t *observedTask, d company.Data, e company.Event) error {
	r := t.runs[e.Run]
	switch d := d.(type) {
	case *company.DependencyLookedUp:
		if !r.isHeld() {
			return fmt.Errorf("%s looks a name up in nobody's hands", e.Run)
		}
		if t.lookedUp[company.Dependency{Ecosystem: d.Ecosystem, Name: d.Name}] = true; len(t.lookedUp) > company.MaxLookups {
			return fmt.Errorf("%s looks up more than %d names", e.Task, company.MaxLookups)
		}
	case *company.DependencyAdded:
		if !r.isHeld() {
			return fmt.Errorf("%s adds a dependency in nobody's hands", e.Run)
		}
		name := company.Dependency{Ecosystem: d.Ecosystem, Name: d.Name}
		if !t.lookedUp[name] {
			return fmt.Errorf("%s is added and was never looked up", d.Dependency)
		}
		if t.settings.Deps == company.Ask && !c.yes[company.DependencyKey(e.Task, name)] && !c.yes[company.DependencyKey(e.Task, d.Dependency)] {
			return fmt.Errorf("%s is added without the president's leave", d.Dependency)
		}
		//mutant:equal swap only the names are counted
		if t.added[name] = true; len(t.added) > company.MaxDependencies {
			return fmt.Errorf("%s adds more than %d dependencies", e.Task, company.MaxDependencies)
		}
	}
	return nil
}

// observeRefusedAccess: a refused access is recorded of a run that was begun,
// in plain text, and not without end.
func (r *observedRun) observeRefusedAccess(d *company.AccessRefused, e company.Event) error {
	if r == nil || r.fence == 0 {
		return fmt.Errorf("%s reached for something before anybody worked in it", e.Run)
	}
	if r.refused == nil {
		r.refused = map[string]int{}
	}
	r.refused[d.AccessKind]++
	switch {
	case d.Times < 1 || !company.IsRefusalKind(d.AccessKind):
		return fmt.Errorf("a refused access of kind %q, %d times", d.AccessKind, d.Times)
	case r.refused[d.AccessKind] > company.MaxRefusedEvents || len(r.refused) > company.MaxRefusedKinds:
		return fmt.Errorf("%s fills the ledger with refused accesses", e.Run)
	case len(d.What) > company.MaxRefusedText || strings.ContainsFunc(d.What, func(c rune) bool { return !unicode.IsPrint(c) }):
		return fmt.Errorf("what was refused is no plain line: %q", d.What)
	}
	return nil
}

// checkWave: a run of a subtask only when all of the earlier waves are merged, and what it
// names in after.
func (t *observedTask) checkWave(e company.Event) error {
	if e.Subtask == "" {
		return nil
	}
	if i := t.placeOf(e.Task, e.Subtask); i >= 0 {
		for _, id := range t.after[i] {
			if t.merged[id] == "" {
				return fmt.Errorf("%s comes after %s, which is not merged", e.Run, id)
			}
		}
	}
	for i := range t.waves {
		sub := company.NewSubtaskID(e.Task, i+1)
		if sub == e.Subtask {
			continue
		}
		if own := t.waveOf(e); t.waves[i] < own && t.merged[sub] == "" {
			return fmt.Errorf("%s of wave %d while %s of wave %d is not merged", e.Run, own, sub, t.waves[i])
		}
	}
	return nil
}

func (t *observedTask) waveOf(e company.Event) int {
	for i, wave := range t.waves {
		if company.NewSubtaskID(e.Task, i+1) == e.Subtask {
			return wave
		}
	}
	return len(t.waves) + 1 // a repair: it comes after all that was planned
}

// observeHead notes the newest head of a subtask, and whether it changes what needs the president.
func (t *observedTask) observeHead(sub company.SubtaskID, head company.OID, changes []company.Change) {
	rules := company.PlanRules{Protected: t.settings.Protected}
	t.heads[sub] = head
	t.changes[sub] = changes
	t.protected[sub] = slices.ContainsFunc(changes, func(c company.Change) bool {
		return rules.IsProtected(c.Path) || t.settings.Rules >= 1 && company.ChangesGuardedCode(c)
	})
}
