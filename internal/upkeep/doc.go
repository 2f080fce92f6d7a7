// Package upkeep keeps an office small and up to date. It has the regular jobs of a serving company: archiving,
// cleanup, repacking and asking forges. It also sweeps at the start, removes leftovers, and verifies stored data. No
// event waits for these jobs, and the next round makes up for a missed one. It removes no data that the ledger or an
// open task needs.
package upkeep

import (
	"context"
	"log/slog"
	"time"

	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/ledger/crashes"
	"company/internal/office"
)

// Keeper removes data that an office no longer needs.
type Keeper struct {
	Office *office.Office
	State  State
	Ledger *ledger.Ledger
	// RetentionDays is the number of days that the data of a task is kept after its end.
	RetentionDays int
	// KeepImages is the number of worker images of a project to keep, besides those of unfinished tasks.
	KeepImages int
	Remote     string           // git name of the projects' remote
	Work       sandbox.Salvager // saves the work of interrupted runs
	Logger     *slog.Logger
	Crashes    *crashes.Tally // nil if deaths are not counted

	collected time.Time // when a serving company last searched for unneeded blobs
}

// State is the state of the company and its clock.
type State interface {
	company.Decider
	Now() time.Time
	// ArchiveTask moves a finished task out of the state, with the tasks that follow it up.
	ArchiveTask(ctx context.Context, id company.TaskID) error
	// LoadArchive reads the archive that contains a task.
	LoadArchive(ctx context.Context, id company.TaskID) (*company.Archive, error)
}
