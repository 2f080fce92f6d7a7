package detach

import (
	"context"
	"time"

	"company/internal/client"
	"company/internal/company"
	"company/internal/entrance"
	"company/internal/office"
	"company/internal/retry"
)

// GoOn starts a company in a session of its own, where none is at work. args are its
// arguments, of company resume. It returns when a company has the office, or when the one
// that was started has ended without an error. Where none has it in time that is EHeld.
func GoOn(ctx context.Context, ent *entrance.Entrance, paths office.Paths, args []string) error {
	off, err := ent.OpenOffice(ctx, paths)
	if err != nil {
		return err
	}
	defer off.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, detachTimeout, company.E(company.EHeld, "no company went on with the task in time").Fix("company status"))
	defer cancel()
	var bg *detachedProcess
	for {
		// A command that reads the office has the lock for a moment, and no socket.
		lock, held, err := office.TryLock(paths)
		if err != nil {
			return err
		}
		if lock != nil {
			if err := lock.Release(); err != nil {
				return err
			}
			if bg == nil {
				if bg, err = startDetached(off, Submission{Args: args}); err != nil {
					return err
				}
			}
		} else if conn, err := client.Dial(ctx, held); err != nil {
			return err
		} else if conn != nil {
			conn.Close()
			return nil
		}
		if bg != nil {
			select {
			case <-bg.ended:
				if bg.printedError() == "" {
					return nil // it had little to do
				}
				return bg.startError()
			default:
			}
		}
		if err := retry.Sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}
