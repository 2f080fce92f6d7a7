package foreground

import (
	"context"
	"time"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/lib/retry"
	"company/internal/office"
	"company/internal/surface/officeaccess"
)

// takeOverPause is how long Wait waits for another company after one has ended. After that the
// tasks count as resting. A submit that follows the tasks starts one within this time.
const takeOverPause = 3 * time.Second

// Wait returns when tasks rest or no company is at work. It continues if another company takes
// over. It prints nothing, starts no work and answers no questions. When ctx ends first, it
// returns its cause.
func Wait(ctx context.Context, ent *officeaccess.Entrance, ids []company.TaskID) error {
	f := &follower{console: ent.Console, tasks: ids, waits: true}
	for {
		conn, paths, err := ent.ConnectOnce(ctx)
		if err != nil {
			return err
		}
		work, err := conn.Work(ctx, ids...)
		if err == nil && conn.IsAtWork() {
			f.lastSeq = work.Seq
			err = f.followTasks(ctx, conn)
		}
		conn.Close()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case conn.IsAtWork() && (client.IsFeedCut(err) || company.CodeOf(err) == company.EHeld):
		default:
			return err
		}
		late, cancel := context.WithTimeout(ctx, takeOverPause)
		// A timeout means that no other company came.
		_ = retry.Until(late, retry.Every(50*time.Millisecond), func() (bool, error) { return office.IsHeld(paths), nil })
		cancel()
	}
}
