package cli

import (
	"context"
	"path/filepath"

	"company/internal/image"
	"company/internal/office"
	mirrors "company/internal/registry"
)

// openRegistries opens the operator's package registries, behind a cache that
// all offices of this user share. With container.deps: off there are none.
func (h *house) openRegistries(ctx context.Context, cfg office.Config) (*mirrors.Store, error) {
	if cfg.Container.Deps == "off" {
		return nil, nil
	}
	up, err := mirrors.Operator(ctx)
	if err != nil {
		return nil, err
	}
	for _, note := range up.Notes {
		h.log.Info("registry", "note", note)
	}
	dir, err := image.CacheDir("")
	if err != nil {
		return nil, err
	}
	store, err := mirrors.Open(filepath.Join(dir, "registries"), up)
	if err != nil {
		return nil, err
	}
	store.SetLogger(h.log)
	h.closers = append(h.closers, func() error { store.Close(); return nil })
	return store, nil
}
