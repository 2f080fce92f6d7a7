package file

import (
	"cmp"
	"context"
	"os"
	"strconv"
	"testing"

	"company/internal/bus"
	"company/internal/bus/bustest"
	"company/internal/lib/hosttest"
)

// rollVariable makes the children of a test roll early, too.
const rollVariable = "BUSTEST_ROLL"

var driver = bustest.Driver{
	Open: func(ctx context.Context, dir string) (bus.Bus, error) {
		roll, _ := strconv.ParseInt(os.Getenv(rollVariable), 10, 64)
		return Open(ctx, Options{Dir: dir, rollAt: roll})
	},
	CorruptBlob: bustest.CorruptBlob,
}

func TestMain(m *testing.M) { bustest.Main(m, driver) }

func TestConformance(t *testing.T) { bustest.Exercise(t, driver) }

// TestConformanceOfSmallSegments is the same where each few records begin a segment
// and segments are compacted all the time.
func TestConformanceOfSmallSegments(t *testing.T) {
	hosttest.Long(t, "the suite runs a second time")
	t.Setenv(rollVariable, "4096")
	bustest.Exercise(t, driver)
}

// TestKillStorm: a process that has the log open, with small segments, is killed at any
// moment. TestStorm is about power cuts, too, on a disk of its own.
func TestKillStorm(t *testing.T) {
	t.Setenv(rollVariable, "16384")
	bustest.Storm(t, driver, cmp.Or(*stormCrashes, 5), *stormSeed)
}
