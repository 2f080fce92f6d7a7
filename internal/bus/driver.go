package bus

import (
	"context"
	"log/slog"

	"company/internal/lib/safedir"
)

// Driver is all that is known of one driver. Nothing outside of its package names it.
type Driver struct {
	Name    string // value of bus.driver
	Records string // folder of its records, in the folder of the bus
	Open    func(ctx context.Context, folder *safedir.Folder, log *slog.Logger) (Bus, error)
}
