package file

import (
	"cmp"
	"context"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/bus/bustest"
)

var driver = bustest.Driver{
	Open: func(ctx context.Context, dir string, leaseTTL time.Duration) (bus.Bus, error) {
		return Open(ctx, Options{Dir: dir, LeaseTTL: leaseTTL})
	},
	CorruptBlob: bustest.CorruptBlob,
}

func TestMain(m *testing.M) { bustest.Main(m, driver) }

func TestConformance(t *testing.T) { bustest.Exercise(t, driver) }

// TestKillStorm: a process that has the files open is killed at any moment. TestStorm is about power
// cuts, too, on a disk of its own.
func TestKillStorm(t *testing.T) {
	bustest.Storm(t, driver, cmp.Or(*stormCrashes, 5), *stormSeed)
}
