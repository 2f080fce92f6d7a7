package upkeep

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/container/image"
	"company/internal/gitops"
	"company/internal/present/view"
)

// errInUse is the error for an image that a container, a builder or another office uses.
var errInUse = errors.New("it is in use")

// ImagesJob returns the job that limits the worker images of each project to Keeper.KeepImages. It runs hourly, and
// when due receives a value.
func (u *Keeper) ImagesJob(images *image.Builder, due <-chan struct{}) Job {
	return Job{Name: "images", Interval: time.Hour, Limit: 10 * time.Minute, Trigger: due,
		Run: func(ctx context.Context) error {
			return u.TrimImages(ctx, images)
		}}
}

// TrimImages removes all but the newest worker images of each project, and the layers that only they use. It keeps
// images of unfinished tasks. It also keeps images that were made since a task without an image began. If a task
// needs a removed image it is built again (docs/decisions/images.md). While an image is being built its layers are
// kept until the next round.
func (u *Keeper) TrimImages(ctx context.Context, builder *image.Builder) error {
	entries, err := builder.List(ctx)
	if err != nil {
		return err
	}
	projects, needed, err := u.listImageProjects()
	if err != nil {
		return err
	}
	var gone []image.ImageEntry
	for _, project := range projects {
		for _, imageEntry := range image.FindSurplus(entries, project, needed, u.KeepImages) {
			if !builder.LeaveToOthers(ctx, imageEntry, func(m string) bool { return m == project.Mirror }) {
				gone = append(gone, imageEntry)
			}
		}
	}
	var failed []error
	for _, garbage := range listImageGarbage(
		builder, entries, append(gone, builder.FindOrphanedLayers(entries, gone, false)...)) {
		switch err := garbage.Remove(ctx); {
		case err == nil:
			u.Logger.InfoContext(ctx, "image removed", "image", garbage.Name, "bytes", garbage.Bytes)
		case !errors.Is(err, errInUse):
			failed = append(failed, err)
		}
	}
	builder.SweepUses(entries)
	return errors.Join(failed...)
}

// listImageProjects returns the projects of the office that have a mirror. needed lists the images of all tasks at
// work.
func (u *Keeper) listImageProjects() (projects []image.Project, needed []string, err error) {
	s := u.State.View()
	of := map[string]*image.Project{}
	for _, project := range (retentionPolicy{keeper: u, state: s, office: u.Office}).listProjects() {
		mirror, err := gitops.LookAt(u.Office.Git, u.Remote, project.ID, project.Path)
		if company.CodeOf(err) == company.ENotFound {
			continue // not fetched yet, so no image has its history
		}
		if err != nil {
			return nil, nil, err
		}
		of[project.ID] = &image.Project{Mirror: mirror.Dir()}
	}
	add := func(id, name string) {
		if p := of[id]; p != nil && name != "" {
			p.Images = append(p.Images, name)
		}
	}
	for _, task := range s.SortedTasks() {
		project, atWork := of[task.Project.ID], !task.Status.Ended() || task.HeldRun()
		if task.IsPrepared() {
			add(task.Project.ID, task.Prepared.Image)
			if atWork {
				needed = append(needed, task.Prepared.Image)
			}
		} else if project != nil && atWork {
			// Its image may exist already and not be recorded yet.
			project.Recent = max(project.Recent, u.State.Now().Sub(task.Submitted)+time.Minute)
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

// imageRemover removes images. It is implemented by image.Builder.
type imageRemover interface {
	RemoveUnused(context.Context, image.ImageEntry) (removed bool, err error)
}

// listImageGarbage lists images as garbage, each with the bytes that it frees if the images before it are removed,
// too. Images are removed before the layers below them. A layer is kept below an image that could not be removed,
// because the next image of its project is built on it.
func listImageGarbage(b imageRemover, entries, gone []image.ImageEntry) []Garbage {
	bytes := image.FreedBytes(entries, gone)
	var stay []image.ImageEntry
	var out []Garbage
	for i, imageEntry := range gone {
		out = append(
			out, Garbage{Kind: "image", Name: imageEntry.Tag, Bytes: bytes[i], removal: func(ctx context.Context) error {
				if !imageEntry.IsWorkerImage && slices.ContainsFunc(stay, imageEntry.IsBelow) {
					return errInUse
				}
				removed, err := b.RemoveUnused(ctx, imageEntry)
				if err == nil && !removed {
					err = errInUse
				}
				if err != nil {
					stay = append(stay, imageEntry)
				}
				return err
			}})
	}
	return out
}

// ListPrunable lists images that no task needs any more, parents last. It covers the office with these mirrors, or the
// whole machine if all is set.
func ListPrunable(
	ctx context.Context, used []view.TaskImage, builder *image.Builder, mirrors string, all bool,
) ([]Garbage, error) {
	o := officeImages{mirrors: mirrors}
	for _, taskImage := range used {
		switch {
		case taskImage.Open || taskImage.Needed && !all:
			o.keep = append(o.keep, taskImage.Image)
		default:
			o.gone = append(o.gone, taskImage.Image)
		}
	}
	if !all {
		// A task that just ended needs no image. A follow-up is based on the image of the task that it follows, and open
		// pull requests keep it.
		return o.listUnused(ctx, builder, true)
	}
	unused, err := builder.Unused(ctx, o.keep, false)
	if err != nil {
		return nil, err
	}
	entries, err := builder.List(ctx)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(slices.Clone(entries), func(e image.ImageEntry) bool { return !unused(e) })
	slices.SortFunc(found, func(a, b image.ImageEntry) int { return len(b.Layers) - len(a.Layers) })
	return listImageGarbage(builder, entries, found), nil
}

// officeImages are the images that tasks of an office used.
type officeImages struct {
	mirrors    string   // folder of the office's mirrors
	keep, gone []string // needed by a task, and not needed
}

// listUnused lists the images of gone that no task of keep needs, and the layers that only they use. If toolboxes is
// set it adds toolboxes of other versions. An image that another office also uses is never removed: its removal only
// drops this office's claim.
func (o officeImages) listUnused(ctx context.Context, builder *image.Builder, toolboxes bool) ([]Garbage, error) {
	unused, err := builder.Unused(ctx, o.keep, true)
	if err != nil {
		return nil, err
	}
	entries, err := builder.List(ctx)
	if err != nil {
		return nil, err
	}
	isOwn := func(mirror string) bool { return filepath.Dir(mirror) == filepath.Clean(o.mirrors) }
	var found []image.ImageEntry
	var shared []Garbage
	for _, imageEntry := range entries {
		switch {
		case !imageEntry.IsWorkerImage || !slices.ContainsFunc(o.gone, imageEntry.IsNamed) || !unused(imageEntry):
		case len(imageEntry.ListOthers(isOwn)) > 0:
			shared = append(
				shared, Garbage{Kind: "image", Name: imageEntry.Tag, stays: true, removal: func(ctx context.Context) error {
					builder.LeaveToOthers(ctx, imageEntry, isOwn)
					return errInUse
				}})
		default:
			found = append(found, imageEntry)
		}
	}
	return append(
		listImageGarbage(builder, entries, append(found, builder.FindOrphanedLayers(entries, found, toolboxes)...)),
		shared...), nil
}
