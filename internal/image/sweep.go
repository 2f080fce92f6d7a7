package image

import (
	"context"
	"os"
	"path/filepath"
	"syscall"

	"company/internal/dockerapi"
	"company/internal/folder"
	"company/internal/lazyregexp"
)

// workDirRE is the name of the work directory of a layer: its kind, and of its key.
var workDirRE = lazyregexp.New(`^([a-z0-9]+)-[0-9a-f]{20}$`)

// sweepKilled removes what killed builders left: files, and the containers of layers
// that were finished, which no later build comes upon. It is done once in the life of a
// Builder. What cannot be removed stays for the next one.
func (b *Builder) sweepKilled(ctx context.Context) {
	b.sweepOnce.Do(func() {
		entries, err := os.ReadDir(filepath.Join(b.dir, "tmp"))
		if err != nil {
			b.log.WarnContext(ctx, "what killed builds left is not swept", "err", err)
		}
		for _, e := range entries {
			if m := workDirRE.FindStringSubmatch(e.Name()); m != nil {
				if err := b.sweepLayer(ctx, e.Name(), m[1]); err != nil {
					b.log.WarnContext(ctx, "what a killed build left stays", "layer", e.Name(), "err", err)
				}
			}
		}
	})
}

// sweepLayer removes what a killed builder of a layer left. One that is at work holds the
// layer's lock, and keeps what it has.
func (b *Builder) sweepLayer(ctx context.Context, name, kind string) error {
	f, err := os.OpenFile(filepath.Join(b.dir, "locks", name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return f.Close()
	}
	defer func() { _ = folder.Unlock(f) }()
	for _, of := range []string{name, kind + "-" + name} { // of the layer, of its client
		if err := b.sweepContainer(ctx, dockerapi.BuildPrefix+of); err != nil {
			return err
		}
	}
	return removeTree(filepath.Join(b.dir, "tmp", name))
}
