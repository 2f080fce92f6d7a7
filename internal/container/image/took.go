package image

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"company/internal/company"
)

// tookFolder is the cache folder with the duration of the last step of each kind. Neither images nor
// events record it: layers belong to the machine, and are the same whenever they are built. The number
// of files is limited by the kinds of steps in this package and the ecosystems.
const tookFolder = "took"

// Steps with their own names, because their layers may be imported from the cache.
const (
	rootfsStep         = "rootfs"
	rootfsPackagesStep = "rootfs-packages"
)

// shortStep is the minimum duration that is announced.
const shortStep = 10 * time.Second

// noteTook records the duration of a step. If that fails, the next step is announced without an
// estimate.
func (b *Builder) noteTook(ctx context.Context, step string, took time.Duration) {
	file := filepath.Join(b.dir, tookFolder, step)
	if err := os.WriteFile(file, []byte(took.Round(time.Millisecond).String()), 0o600); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		b.log.WarnContext(ctx, "the time of a step is not recorded", "step", step, "err", err)
	}
}

// estimateStep returns a text with the expected duration of a step, based on the last one on this
// machine. It returns unknown if there is no record or the last one was short.
func (b *Builder) estimateStep(step, unknown string) string {
	text, err := os.ReadFile(filepath.Join(b.dir, tookFolder, step))
	if err != nil {
		return unknown
	}
	last, err := time.ParseDuration(string(text))
	if err != nil || last < shortStep {
		return unknown
	}
	about := company.Count(int(math.Round(last.Minutes())), "minute")
	if last < 90*time.Second {
		about = company.Count(int(math.Round(last.Seconds()/10))*10, "second")
	}
	return " (about " + about + ": the last one took " + last.Round(time.Second).String() + ")"
}

// hasOwnEstimate reports whether the build of a layer announces its own duration.
func hasOwnEstimate(kind string) bool { return kind == "base" || kind == "debian" }
