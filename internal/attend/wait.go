package attend

import (
	"context"
	"time"

	"company/internal/client"
	"company/internal/company"
	"company/internal/entrance"
	"company/internal/office"
	"company/internal/retry"
)

// takeOverPause is how long an office may be without a company, after one has
// ended, before the tasks there count as tasks that rest: a submit that follows
// them takes over.
const takeOverPause = 3 * time.Second

// Wait returns when tasks have come to rest, under the company at work or one that takes
// over from it, or where none is at work. It shows nothing, and starts and answers nothing.
// When ctx ends first it returns its cause.
func Wait(ctx context.Context, ent *entrance.Entrance, ids []company.TaskID) error {
	f := &follower{console: ent.Console, tasks: ids, waits: true}
	for {
		conn, paths, err := ent.ConnectOnce(ctx)
		if err != nil {
			return err
		}
		w, err := conn.Work(ctx, ids...)
		if err == nil && conn.IsServed() {
			f.lastSeq = w.Seq
			err = f.followTasks(ctx, conn)
		}
		conn.Close()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case conn.IsServed() && (client.IsFeedCut(err) || company.CodeOf(err) == company.EHeld):
		default:
			return err
		}
		late, cancel := context.WithTimeout(ctx, takeOverPause)
		_ = retry.Until(late, retry.Every(50*time.Millisecond), func() (bool, error) { return office.IsHeld(paths), nil }) // late: no other company came
		cancel()
	}
}
