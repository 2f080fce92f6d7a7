package background

import (
	"context"

	"company/internal/api/client"
	"company/internal/office"
	"company/internal/surface/officeaccess"
)

// GoOn starts a company in a session of its own if no company is running. args are arguments of
// company resume. It returns when a company holds the office, or when the started one ends without
// an error. If no company holds the office in time, it returns EHeld.
func GoOn(ctx context.Context, ent *officeaccess.Entrance, paths office.Paths, args []string) error {
	reached := false
	bg, err := reachCompany(ctx, ent, paths, Submission{Args: args}, "no company continued the task in time",
		func(context.Context, *client.Office) (bool, error) {
			reached = true
			return true, nil
		})
	if err == nil && !reached && bg.printedError() != "" {
		return bg.startError()
	}
	return err // a process that ended without an error had little to do
}
