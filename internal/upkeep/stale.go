package upkeep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/session"
)

// RemoveStale settles the runs that were cut off with their task, and removes
// the leftovers of earlier processes: the journals of runs that have ended and
// are sealed in a blob, the repositories of runs whose task ended before the
// retention and whose work is elsewhere, and the seeds that no newer task is
// made from. Results of runs are in the mirror and stay there. It is called
// before anything is under way; a failed removal is only logged.
func (u *Keeper) RemoveStale(ctx context.Context, git *gitops.Store) {
	settled := u.SettleRuns(ctx, false)
	s := u.State.View()
	warn := func(what string, err error) {
		if err != nil {
			u.Logger.WarnContext(ctx, "not put away", "what", what, "err", err)
		}
	}
	warn("books of runs", settled)
	journals, err := u.Ledger.Journals(ctx)
	warn("journals", err)
	for _, run := range journals {
		if r := u.findRun(ctx, s, run); r != nil && r.Ended && r.Journal != "" {
			warn("journal of "+string(run), u.Ledger.PurgeJournal(ctx, run))
		}
	}

	before := u.State.Now().AddDate(0, 0, -u.RetentionDays)
	old := func(t *company.Task) bool { return t.Status.Ended() && t.Ended.Before(before) }
	k := retentionPolicy{keeper: u, state: s}
	runs, err := git.Quarantines()
	warn("repositories of runs", err)
	for _, run := range runs {
		t, past := s.Tasks[run.Task()], s.Past[run.Task()]
		if t != nil && !old(t) || past != nil && !past.Ended.Before(before) || t == nil && past == nil {
			continue
		}
		spared, err := k.mayDropRepository(ctx, git, run)
		if err == nil && spared {
			err = git.DropQuarantine(ctx, run)
		}
		warn("repository of "+string(run), err)
	}
	var keep []company.OID
	for _, p := range s.PastProjects { // the next task may start there
		keep = append(keep, p.Base, p.Head)
	}
	for _, t := range s.Tasks {
		if t.Prepared == nil || old(t) {
			continue
		}
		keep = append(keep, t.Prepared.Base.OID, t.Head)
		if t.Status.Ended() {
			continue
		}
		for _, sub := range t.Subtasks {
			keep = append(keep, sub.Base)
			if sub.Conflict != nil {
				keep = append(keep, sub.Conflict.Onto)
			}
		}
		for _, r := range t.Runs {
			if !r.Ended {
				keep = append(keep, r.From)
			}
		}
	}
	warn("seeds", git.DropSeeds(ctx, keep...))
	u.Logger.DebugContext(ctx, "put away", "journals", len(journals), "before", before.Format(time.DateOnly))
}

// SettleRuns closes the books of runs that were cut off with their task. With dead, no process is at
// work: that goes for runs that are held, too.
func (u *Keeper) SettleRuns(ctx context.Context, dead bool) error {
	s := u.State.View()
	var failed []error
	for _, r := range s.Unsettled(dead) {
		if err := u.settleRun(ctx, s.Tasks[r.ID.Task()], r, dead); err != nil {
			failed = append(failed, fmt.Errorf("settle %s: %w", r.ID, err))
		}
	}
	return errors.Join(failed...)
}

func (u *Keeper) settleRun(ctx context.Context, t *company.Task, r *company.Run, dead bool) error {
	end, err := session.Settler{Ledger: u.Ledger, Work: u.Work, Logger: u.Logger, Marks: u.Marks}.Settle(ctx, t, r)
	if err != nil {
		return err
	}
	end.Dead = dead
	if _, err = u.State.Do(ctx, company.Company, end); err != nil {
		return err
	}
	u.Marks.Forget(string(r.ID))
	if end.Outcome.Journal == "" {
		return nil
	}
	return u.Ledger.PurgeJournal(ctx, r.ID)
}
