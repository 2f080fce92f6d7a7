// Package upkeep keeps an office small and up to date beside the work: the rounds of a
// serving company (archiving, cleanup, repacking, verifying all that is stored, asking
// forges), the sweep at a start, and the removal of leftovers. Nothing of it is an
// effect: no event waits for it, and a round that is missed is made up for by the
// next. It removes nothing that the ledger or an open task needs.
package upkeep

import (
	"context"
	"log/slog"
	"time"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/marks"
	"company/internal/office"
	"company/internal/sandbox"
)

// Keeper puts away what an office does not need any more.
type Keeper struct {
	Office *office.Office
	State  State
	Ledger *ledger.Ledger
	// RetentionDays is how long what a task left is kept after its end.
	RetentionDays int
	// KeepImages is how many worker images of a project stay beside those of tasks at work.
	KeepImages int
	Remote     string           // of the projects' repositories, by its git name
	Work       sandbox.Salvager // of runs that were cut off
	Logger     *slog.Logger
	Marks      *marks.Book // nil: nothing is known of earlier deaths

	collected time.Time // when a serving company last looked for blobs
}

// State is the company that is looked at, and its time.
type State interface {
	company.Decider
	Now() time.Time
	// ArchiveTask takes a task that is over out of the state, with those that follow it.
	ArchiveTask(ctx context.Context, id company.TaskID) error
	// LoadArchive reads the archive that holds a task.
	LoadArchive(ctx context.Context, id company.TaskID) (*company.Archive, error)
}
