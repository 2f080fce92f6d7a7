package image

import (
	"cmp"
	"context"
	"slices"
	"time"

	"company/internal/clock"
)

// Project is whose worker images are counted, and what of them must stay.
type Project struct {
	Mirror string        // its bare repository on this host
	Images []string      // that its tasks name: by key, id or tag
	Recent time.Duration // images that were used so short a time ago stay
}

// FindSurplus picks the worker images of a project beyond its newest ones, by their last
// use. Images that needed names stay, and what is stacked on them, and are counted too.
func FindSurplus(entries []ImageEntry, p Project, needed []string, keep int) []ImageEntry {
	var own []ImageEntry
	stay := map[Layer]bool{} // the topmost layers of needed images
	for _, e := range entries {
		if !e.IsWorkerImage || len(e.Layers) == 0 {
			continue
		}
		if slices.ContainsFunc(needed, e.IsNamed) {
			stay[e.topLayer()] = true
		}
		if e.Mirror != "" && e.Mirror == p.Mirror || e.Mirror == "" && slices.ContainsFunc(p.Images, e.IsNamed) {
			own = append(own, e)
		}
	}
	slices.SortFunc(own, func(a, b ImageEntry) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Tag, b.Tag)) })
	var out []ImageEntry
	for i, e := range own {
		isNeeded := slices.ContainsFunc(e.Layers, func(l Layer) bool { return stay[l] })
		if i >= keep && !isNeeded && !clock.Within(p.Recent, e.Used) {
			out = append(out, e)
		}
	}
	return out
}

// FindOrphanedLayers picks the layers that were made for worker images which are gone, or
// go, and that no other worker image is stacked on: those below the gone ones and, if
// toolboxes is set, the toolboxes of other versions, an hour after their last use. Layers
// that no project's files went into stay. The upper ones come first.
func (b *Builder) FindOrphanedLayers(entries, gone []ImageEntry, toolboxes bool) []ImageEntry {
	used, below := map[Layer]bool{}, map[Layer]bool{}
	for _, e := range entries {
		isGone := slices.ContainsFunc(gone, func(g ImageEntry) bool { return g.Tag == e.Tag })
		for _, l := range e.Layers {
			switch {
			case isGone:
				below[l] = true
			case e.IsWorkerImage:
				used[l] = true
			}
		}
	}
	_, current, err := b.toolboxBinary()
	var out []ImageEntry
	for _, e := range entries {
		if e.IsWorkerImage || len(e.Layers) == 0 || used[e.topLayer()] || slices.Contains(sharedKinds(), e.Kind) {
			continue
		}
		isOtherToolbox := err == nil && e.Kind == toolboxLayer && e.toolbox != string(current) && !clock.Within(time.Hour, e.Used)
		if toolboxes && isOtherToolbox || below[e.topLayer()] {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b ImageEntry) int { return len(b.Layers) - len(a.Layers) })
	return out
}

// RemoveUnused removes an image that List gave. removed is false where a container uses
// it, and for a layer while an image is being made: the builder may have got that far.
func (b *Builder) RemoveUnused(ctx context.Context, e ImageEntry) (removed bool, err error) {
	if e.IsWorkerImage {
		return b.pruneTag(ctx, e.Tag)
	}
	_, err = b.whileNoneIsMade(func() error {
		removed, err = b.pruneTag(ctx, e.Tag)
		return err
	})
	return removed, err
}
