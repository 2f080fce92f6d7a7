package upkeep

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"company/internal/company"
)

// archiveRoutines is how many tasks are archived concurrently, so that their events share appends.
const archiveRoutines = 8

// ArchiveJob returns the job that moves finished tasks out of the state. It first settles runs that were interrupted
// with their task. A task that cannot be archived stays and is retried in the next round.
func (u *Keeper) ArchiveJob() Job {
	return Job{Name: "archive", Interval: 5 * time.Minute, Limit: 10 * time.Minute, Run: func(ctx context.Context) error {
		settled := u.SettleRuns(ctx, false)
		ids := make(chan company.TaskID)
		var wg sync.WaitGroup
		var mu sync.Mutex
		failed := []error{settled}
		for range archiveRoutines {
			wg.Go(func() {
				for id := range ids {
					err := company.Guard("archive "+string(id), func() error { return u.State.ArchiveTask(ctx, id) })
					switch company.CodeOf(err) {
					case "", company.EConflict, company.EStale: // no longer finished, or already being archived
					default:
						mu.Lock()
						failed = append(failed, fmt.Errorf("archive %s: %w", id, err))
						mu.Unlock()
					}
				}
			})
		}
		for _, id := range u.State.View().Archivable(u.State.Now()) {
			if ctx.Err() != nil {
				break
			}
			ids <- id
		}
		close(ids)
		wg.Wait()
		return errors.Join(failed...)
	}}
}

// findTask returns a task, archived or not. It returns nil if the task does not exist or cannot be read.
func (u *Keeper) findTask(ctx context.Context, s *company.State, id company.TaskID) *company.Task {
	if t := s.Tasks[id]; t != nil || s.Past[id] == nil {
		return t
	}
	archive, err := u.State.LoadArchive(ctx, id)
	if err != nil {
		u.Logger.WarnContext(ctx, "archived task not read", "task_id", id, "err", err)
		return nil
	}
	return archive.Task(id)
}

func (u *Keeper) findRun(ctx context.Context, s *company.State, id company.RunID) *company.Run {
	if t := u.findTask(ctx, s, id.Task()); t != nil {
		return t.Runs[id]
	}
	return nil
}
