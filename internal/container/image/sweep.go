package image

import (
	"context"
	"os"
	"path/filepath"
	"syscall"

	"company/internal/container/dockerapi"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safedir"
)

// workDirRE matches the name of a layer's work directory: the kind and a part of the key.
var workDirRE = lazyregexp.New(`^([a-z0-9]+)-[0-9a-f]{20}$`)

// sweepKilled removes the files of killed builders, and the containers of finished layers, which later
// builds would not find. It runs once in the life of a Builder. If it fails, the next Builder tries
// again.
func (b *Builder) sweepKilled(ctx context.Context) {
	b.sweepOnce.Do(func() {
		entries, err := os.ReadDir(filepath.Join(b.dir, "tmp"))
		if err != nil {
			b.log.WarnContext(ctx, "what killed builds left is not swept", "err", err)
		}
		for _, entry := range entries {
			if m := workDirRE.FindStringSubmatch(entry.Name()); m != nil {
				if err := b.sweepLayer(ctx, entry.Name(), m[1]); err != nil {
					b.log.WarnContext(ctx, "what a killed build left stays", "layer", entry.Name(), "err", err)
				}
			}
		}
	})
}

// sweepLayer removes the leftovers of a killed builder of a layer. A running builder holds the layer's
// lock, so its files are kept.
func (b *Builder) sweepLayer(ctx context.Context, name, kind string) error {
	file, err := os.OpenFile(filepath.Join(b.dir, "locks", name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return file.Close()
	}
	defer func() { _ = safedir.Unlock(file) }()
	for _, of := range []string{name, kind + "-" + name} { // containers of the layer and of its client
		if err := b.sweepContainer(ctx, dockerapi.BuildPrefix+of); err != nil {
			return err
		}
	}
	return removeTree(filepath.Join(b.dir, "tmp", name))
}
