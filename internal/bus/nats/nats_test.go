package nats_test

import (
	"cmp"
	"context"
	"flag"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/bus/bustest"
	"company/internal/bus/nats"
)

var driver = bustest.Driver{
	Open: func(ctx context.Context, dir string, leaseTTL time.Duration) (bus.Bus, error) {
		return nats.Open(ctx, nats.Options{Dir: dir, LeaseTTL: leaseTTL})
	},
	CorruptBlob: bustest.CorruptBlob,
}

func TestMain(m *testing.M) { bustest.Main(m, driver) }

func TestConformance(t *testing.T) { bustest.Exercise(t, driver) }

var (
	stormCrashes = flag.Int("crashes", 0, "how many crashes TestKillStorm makes; 0: some")
	stormSeed    = flag.Uint64("seed", 1, "of the first store of TestKillStorm; each store has one of its own")
)

// TestKillStorm: a process that holds the server is killed at any moment.
func TestKillStorm(t *testing.T) {
	bustest.Storm(t, driver, cmp.Or(*stormCrashes, 5), *stormSeed)
}
