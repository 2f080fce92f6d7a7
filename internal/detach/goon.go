package detach

import (
	"context"

	"company/internal/client"
	"company/internal/entrance"
	"company/internal/office"
)

// GoOn starts a company in a session of its own, where none is at work. args are its
// arguments, of company resume. It returns when a company has the office, or when the one
// that was started has ended without an error. Where none has it in time that is EHeld.
func GoOn(ctx context.Context, ent *entrance.Entrance, paths office.Paths, args []string) error {
	reached := false
	bg, err := reachCompany(ctx, ent, paths, Submission{Args: args}, "no company went on with the task in time", func(context.Context, *client.Office) (bool, error) {
		reached = true
		return true, nil
	})
	if err == nil && !reached && bg.printedError() != "" {
		return bg.startError()
	}
	return err // where it ended without an error, it had little to do
}
