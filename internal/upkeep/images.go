package upkeep

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/image"
	"company/internal/view"
)

// errInUse is why an image stays that a container, a builder or another office uses.
var errInUse = errors.New("it is in use")

// ImagesJob is the round that keeps the number of worker images of each project within
// Keeper.KeepImages. It comes when due says so, and hourly.
func (u *Keeper) ImagesJob(images *image.Builder, due <-chan struct{}) Job {
	return Job{Name: "images", Interval: time.Hour, Limit: 10 * time.Minute, Trigger: due, Run: func(ctx context.Context) error {
		return u.TrimImages(ctx, images)
	}}
}

// TrimImages removes the worker images of each project beyond its newest ones, with layers
// that only they were stacked on. Images of tasks that have not ended stay, and so do
// those that were made since a task began that has no image yet. A task whose image is
// removed has it made again when it needs it (decision 0140). While an image is being
// made its layers stay: the next round looks again.
func (u *Keeper) TrimImages(ctx context.Context, b *image.Builder) error {
	entries, err := b.List(ctx)
	if err != nil {
		return err
	}
	projects, needed, err := u.listImageProjects()
	if err != nil {
		return err
	}
	var gone []image.ImageEntry
	for _, p := range projects {
		for _, e := range image.FindSurplus(entries, p, needed, u.KeepImages) {
			if !b.LeaveToOthers(ctx, e, func(m string) bool { return m == p.Mirror }) {
				gone = append(gone, e)
			}
		}
	}
	var failed []error
	for _, g := range listImageGarbage(b, entries, append(gone, b.FindOrphanedLayers(entries, gone, false)...)) {
		switch err := g.Remove(ctx); {
		case err == nil:
			u.Logger.InfoContext(ctx, "image removed", "image", g.Name, "bytes", g.Bytes)
		case !errors.Is(err, errInUse):
			failed = append(failed, err)
		}
	}
	b.SweepUses(entries)
	return errors.Join(failed...)
}

// listImageProjects are the projects of the office as far as something was fetched for
// them. needed are the images of all tasks that are at work.
func (u *Keeper) listImageProjects() (projects []image.Project, needed []string, err error) {
	s := u.State.View()
	of := map[string]*image.Project{}
	for _, p := range (retentionPolicy{keeper: u, state: s, office: u.Office}).listProjects() {
		m, err := gitops.LookAt(u.Office.Git, u.Remote, p.ID, p.Path)
		if company.CodeOf(err) == company.ENotFound {
			continue // nothing was fetched, so no image has its history
		}
		if err != nil {
			return nil, nil, err
		}
		of[p.ID] = &image.Project{Mirror: m.Dir()}
	}
	add := func(id, name string) {
		if p := of[id]; p != nil && name != "" {
			p.Images = append(p.Images, name)
		}
	}
	for _, t := range s.SortedTasks() {
		p, atWork := of[t.Project.ID], !t.Status.Ended() || t.HeldRun()
		for _, key := range t.ListImages() {
			add(t.Project.ID, key)
			if atWork {
				needed = append(needed, key)
			}
		}
		if !t.IsPrepared() && p != nil && atWork {
			// Its image may be there already and not recorded.
			p.Recent = max(p.Recent, u.State.Now().Sub(t.Submitted)+time.Minute)
		}
	}
	for _, past := range s.Past {
		add(past.Project, past.Image)
	}
	for _, id := range slices.Sorted(maps.Keys(of)) {
		projects = append(projects, *of[id])
	}
	return projects, needed, nil
}

// imageRemover removes images: an image.Builder.
type imageRemover interface {
	RemoveUnused(context.Context, image.ImageEntry) (removed bool, err error)
}

// listImageGarbage makes garbage of images, each with the bytes that it frees if those
// before it are removed as well. A layer stays below an image that turned out to stay, since the
// next image of its project is made of it: what is stacked on others is removed before them.
func listImageGarbage(b imageRemover, entries, gone []image.ImageEntry) []Garbage {
	bytes := image.FreedBytes(entries, gone)
	var stay []image.ImageEntry
	var out []Garbage
	for i, e := range gone {
		out = append(out, Garbage{Kind: "image", Name: e.Tag, Bytes: bytes[i], removal: func(ctx context.Context) error {
			if !e.IsWorkerImage && slices.ContainsFunc(stay, e.IsBelow) {
				return errInUse
			}
			removed, err := b.RemoveUnused(ctx, e)
			if err == nil && !removed {
				err = errInUse
			}
			if err != nil {
				stay = append(stay, e)
			}
			return err
		}})
	}
	return out
}

// ListPrunable are the images that no task needs any more: of the office with these mirrors or,
// with all, of this machine, parents last.
func ListPrunable(ctx context.Context, used []view.TaskImage, b *image.Builder, mirrors string, all bool) ([]Garbage, error) {
	o := officeImages{mirrors: mirrors}
	for _, t := range used {
		switch {
		case t.Open || t.Needed && !all:
			o.keep = append(o.keep, t.Image)
		default:
			o.gone = append(o.gone, t.Image)
		}
	}
	if !all {
		// A task that ended this moment needs no image; a follow-up is based on
		// the image of the task that it follows, and open pull requests keep it.
		return o.listUnused(ctx, b, true)
	}
	unused, err := b.Unused(ctx, o.keep, false)
	if err != nil {
		return nil, err
	}
	entries, err := b.List(ctx)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(slices.Clone(entries), func(e image.ImageEntry) bool { return !unused(e) })
	slices.SortFunc(found, func(a, b image.ImageEntry) int { return len(b.Layers) - len(a.Layers) })
	return listImageGarbage(b, entries, found), nil
}

// officeImages are the names of images that tasks of an office were worked on with.
type officeImages struct {
	mirrors    string   // folder of the office's mirrors
	keep, gone []string // that a task needs, and that none does
}

// listUnused are those of gone that no task of keep needs, the layers that only
// they were stacked on and, if toolboxes is set, toolboxes of other versions. What
// another office has, too, is never removed: its removal ends this office's part in it.
func (o officeImages) listUnused(ctx context.Context, b *image.Builder, toolboxes bool) ([]Garbage, error) {
	unused, err := b.Unused(ctx, o.keep, true)
	if err != nil {
		return nil, err
	}
	entries, err := b.List(ctx)
	if err != nil {
		return nil, err
	}
	isOwn := func(mirror string) bool { return filepath.Dir(mirror) == filepath.Clean(o.mirrors) }
	var found []image.ImageEntry
	var shared []Garbage
	for _, e := range entries {
		switch {
		case !e.IsWorkerImage || !slices.ContainsFunc(o.gone, e.IsNamed) || !unused(e):
		case len(e.ListOthers(isOwn)) > 0:
			shared = append(shared, Garbage{Kind: "image", Name: e.Tag, stays: true, removal: func(ctx context.Context) error {
				b.LeaveToOthers(ctx, e, isOwn)
				return errInUse
			}})
		default:
			found = append(found, e)
		}
	}
	return append(listImageGarbage(b, entries, append(found, b.FindOrphanedLayers(entries, found, toolboxes)...)), shared...), nil
}
