package upkeep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/gitops"
)

// RemoveStale settles interrupted runs, and removes leftovers of earlier processes. These are journals of ended runs
// that are sealed in a blob, or damaged, and repositories of runs whose task ended before the retention period and
// whose work is elsewhere. It also removes seeds that no newer task starts from. Results of runs stay in the mirror.
// Call it before any work starts. A failed removal is only logged.
func (u *Keeper) RemoveStale(ctx context.Context, git *gitops.Store) {
	settled := u.SettleRuns(ctx, false)
	state := u.State.View()
	warn := func(what string, err error) {
		if err != nil {
			u.Logger.WarnContext(ctx, "not put away", "what", what, "err", err)
		}
	}
	warn("books of runs", settled)
	journals, err := u.Ledger.Journals(ctx)
	warn("journals", err)
	for _, run := range journals {
		switch r := u.findRun(ctx, state, run); {
		case r == nil || !r.Ended:
		case r.Journal != "":
			warn("journal of "+string(run), u.Ledger.PurgeJournal(ctx, run))
		default:
			warn("journal of "+string(run), agentrun.SetJournalAside(ctx, u.Ledger, u.Office.RunsFolder, run))
		}
	}

	before := u.State.Now().AddDate(0, 0, -u.RetentionDays)
	old := func(t *company.Task) bool { return t.Status.Ended() && t.Ended.Before(before) }
	policy := retentionPolicy{keeper: u, state: state}
	runs, err := git.Quarantines()
	warn("repositories of runs", err)
	for _, run := range runs {
		t, past := state.Tasks[run.Task()], state.Past[run.Task()]
		if t != nil && !old(t) || past != nil && !past.Ended.Before(before) || t == nil && past == nil {
			continue
		}
		spared, err := policy.mayDropRepository(ctx, git, run)
		if err == nil && spared {
			err = git.DropQuarantine(ctx, run)
		}
		warn("repository of "+string(run), err)
	}
	var keep []company.OID
	for _, p := range state.PastProjects { // the next task may start there
		keep = append(keep, p.Base, p.Head)
	}
	for _, task := range state.Tasks {
		if task.Prepared == nil || old(task) {
			continue
		}
		keep = append(keep, task.Prepared.Base.OID, task.Head)
		if task.Status.Ended() {
			continue
		}
		for _, sub := range task.Subtasks {
			keep = append(keep, sub.Base)
			if sub.Conflict != nil {
				keep = append(keep, sub.Conflict.Onto)
			}
		}
		for _, r := range task.Runs {
			if !r.Ended {
				keep = append(keep, r.From)
			}
		}
	}
	warn("seeds", git.DropSeeds(ctx, keep...))
	u.Logger.DebugContext(ctx, "put away", "journals", len(journals), "before", before.Format(time.DateOnly))
}

// SettleRuns settles runs that were interrupted with their task. With dead, no process is at work, so it also settles
// runs that are held.
func (u *Keeper) SettleRuns(ctx context.Context, dead bool) error {
	state := u.State.View()
	var failed []error
	for _, run := range state.Unsettled(dead) {
		if err := u.settleRun(ctx, state.Tasks[run.ID.Task()], run, dead); err != nil {
			failed = append(failed, fmt.Errorf("settle %s: %w", run.ID, err))
		}
	}
	return errors.Join(failed...)
}

func (u *Keeper) settleRun(ctx context.Context, t *company.Task, run *company.Run, dead bool) error {
	end, err := agentrun.Settler{Ledger: u.Ledger, Work: u.Work, Logger: u.Logger, Crashes: u.Crashes}.Settle(ctx, t, run)
	if err != nil {
		return err
	}
	end.Dead = dead
	if _, err = u.State.Do(ctx, company.Company, end); err != nil {
		return err
	}
	if end.Outcome.Journal == "" {
		return nil
	}
	return u.Ledger.PurgeJournal(ctx, run.ID)
}
