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

// No image says how long it took, and neither does an event: a layer is the machine's, and the
// same whenever it is made. So the cache has a file for each kind of step, of which there are as
// many as this package and the ecosystems name, with the time of the last one.
const tookFolder = "took"

// Steps that have a name of their own here, since their layers may be imported from the cache.
const (
	rootfsStep         = "rootfs"
	rootfsPackagesStep = "rootfs-packages"
)

// shortStep is the time from which on a step is announced with it.
const shortStep = 10 * time.Second

// noteTook records how long a step took. Without the record the next one is announced as the first.
func (b *Builder) noteTook(ctx context.Context, step string, took time.Duration) {
	file := filepath.Join(b.dir, tookFolder, step)
	if err := os.WriteFile(file, []byte(took.Round(time.Millisecond).String()), 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.log.WarnContext(ctx, "the time of a step is not recorded", "step", step, "err", err)
	}
}

// estimateStep says how long a step will take, from the last one on this machine. unknown is
// the text where that is not known, or was short.
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

// hasOwnEstimate reports whether a layer's build says itself how long it takes.
func hasOwnEstimate(kind string) bool { return kind == "base" || kind == "debian" }
