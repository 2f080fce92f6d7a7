package image

import (
	"cmp"
	"context"
	"slices"
	"time"

	"company/internal/lib/clock"
)

// Project identifies a project and the worker images of it that must be kept.
type Project struct {
	Mirror string        // its bare repository on this host
	Images []string      // images that its tasks use, by key, id or tag
	Recent time.Duration // images used within this time are kept
}

// FindSurplus returns the worker images of a project beyond the keep newest ones, by their last use.
// Images in needed, and images built on them, are always kept and not counted. If they were counted,
// running tasks could displace each other's images and rebuild them in turn.
func FindSurplus(entries []ImageEntry, project Project, needed []string, keep int) []ImageEntry {
	var own []ImageEntry
	stay := map[Layer]bool{} // the topmost layers of needed images
	for _, imageEntry := range entries {
		if !imageEntry.IsWorkerImage || len(imageEntry.Layers) == 0 {
			continue
		}
		if slices.ContainsFunc(needed, imageEntry.IsNamed) {
			stay[imageEntry.topLayer()] = true
		}
		if slices.Contains(imageEntry.Mirrors, project.Mirror) ||
			len(imageEntry.Mirrors) == 0 && slices.ContainsFunc(project.Images, imageEntry.IsNamed) {
			own = append(own, imageEntry)
		}
	}
	slices.SortFunc(own, func(a, b ImageEntry) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Tag, b.Tag)) })
	var out []ImageEntry
	kept := 0
	for _, imageEntry := range own {
		if slices.ContainsFunc(imageEntry.Layers, func(l Layer) bool { return stay[l] }) {
			continue
		}
		if kept++; kept > keep && !clock.Within(project.Recent, imageEntry.Used) {
			out = append(out, imageEntry)
		}
	}
	return out
}

// FindOrphanedLayers returns layers on which no remaining worker image is built. These are the layers
// below the images in gone. With toolboxes, they include toolboxes of other versions, an hour after
// their last use. Layers without project files are kept. Upper layers come first.
func (b *Builder) FindOrphanedLayers(entries, gone []ImageEntry, toolboxes bool) []ImageEntry {
	used, below := map[Layer]bool{}, map[Layer]bool{}
	for _, imageEntry := range entries {
		isGone := slices.ContainsFunc(gone, func(g ImageEntry) bool { return g.Tag == imageEntry.Tag })
		for _, layer := range imageEntry.Layers {
			switch {
			case isGone:
				below[layer] = true
			case imageEntry.IsWorkerImage:
				used[layer] = true
			}
		}
	}
	_, current, err := b.toolboxBinary()
	var out []ImageEntry
	for _, imageEntry := range entries {
		if imageEntry.IsWorkerImage || len(imageEntry.Layers) == 0 || used[imageEntry.topLayer()] ||
			slices.Contains(sharedKinds(), imageEntry.Kind) {
			continue
		}
		isOtherToolbox := err == nil && imageEntry.Kind == toolboxLayer && imageEntry.toolbox != string(current) &&
			!clock.Within(time.Hour, imageEntry.Used)
		if toolboxes && isOtherToolbox || below[imageEntry.topLayer()] {
			out = append(out, imageEntry)
		}
	}
	slices.SortStableFunc(out, func(a, b ImageEntry) int { return len(b.Layers) - len(a.Layers) })
	return out
}

// RemoveUnused removes an image from List. removed is false if a container uses the image, or if it
// was requested since. It is also false for a layer while any image is being built, because the
// builder may be using the layer.
func (b *Builder) RemoveUnused(ctx context.Context, imageEntry ImageEntry) (removed bool, err error) {
	if imageEntry.IsWorkerImage {
		if _, last := b.readUse(keyOf(imageEntry.Tag)); last.After(imageEntry.Used) {
			return false, nil
		}
		return b.pruneTag(ctx, imageEntry.Tag)
	}
	_, err = b.whileNoneIsMade(func() error {
		removed, err = b.pruneTag(ctx, imageEntry.Tag)
		return err
	})
	return removed, err
}
