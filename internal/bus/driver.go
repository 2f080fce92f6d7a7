package bus

import (
	"context"
	"log/slog"

	"company/internal/lib/safedir"
)

// Driver describes one driver of the bus. Nothing outside of its package names it.
type Driver struct {
	Name    string // value of bus.driver
	Records string // folder of its records, in the folder of the bus
	Open    func(ctx context.Context, folder *safedir.Folder, log *slog.Logger) (Bus, error)
}
