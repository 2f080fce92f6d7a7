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
// use. Images that needed names stay besides, and what is stacked on them: were they counted,
// tasks at work could leave no room for the others that they use, and remake them in turn.
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
		if slices.Contains(e.Mirrors, p.Mirror) || len(e.Mirrors) == 0 && slices.ContainsFunc(p.Images, e.IsNamed) {
			own = append(own, e)
		}
	}
	slices.SortFunc(own, func(a, b ImageEntry) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Tag, b.Tag)) })
	var out []ImageEntry
	kept := 0
	for _, e := range own {
		if slices.ContainsFunc(e.Layers, func(l Layer) bool { return stay[l] }) {
			continue
		}
		if kept++; kept > keep && !clock.Within(p.Recent, e.Used) {
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
// it, or somebody asked for it since, and for a layer while an image is being made: the
// builder may have got that far.
func (b *Builder) RemoveUnused(ctx context.Context, e ImageEntry) (removed bool, err error) {
	if e.IsWorkerImage {
		if _, last := b.readUse(keyOf(e.Tag)); last.After(e.Used) {
			return false, nil
		}
		return b.pruneTag(ctx, e.Tag)
	}
	_, err = b.whileNoneIsMade(func() error {
		removed, err = b.pruneTag(ctx, e.Tag)
		return err
	})
	return removed, err
}
