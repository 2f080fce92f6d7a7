package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/dockerapi"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/filters"
	dockerimage "github.com/docker/docker/api/types/image"
)

// ImageEntry is one of our images in the daemon's store.
type ImageEntry struct {
	Tag           string
	ID            string
	Kind          string    // of its topmost layer
	IsWorkerImage bool      // a whole worker image, not a layer that others are built from
	Size          int64     // bytes, shared layers included
	Layers        []Layer   // from the bottom up
	Created       time.Time // zero for an image whose layers were loaded: they say no time, to be equal everywhere
	Mirrors       []string  // of the projects that a worker image was made for; empty: not known
	Used          time.Time // when a worker image or a toolbox was last made or asked for; zero: not known

	toolbox string // hash of the toolbox in it
}

// topLayer is the topmost layer. The image must have one.
func (e ImageEntry) topLayer() Layer { return e.Layers[len(e.Layers)-1] }

// List gives every image that carries our label, in no order.
func (b *Builder) List(ctx context.Context) ([]ImageEntry, error) {
	images, err := b.docker.ImageList(ctx, dockerimage.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelKind))})
	if err != nil {
		return nil, dockerapi.WrapError("list images", err)
	}
	var out []ImageEntry
	for _, i := range images {
		for _, tag := range i.RepoTags {
			if strings.HasPrefix(tag, workerRepository+":") || strings.HasPrefix(tag, layerRepository+":") {
				e := ImageEntry{Tag: tag, ID: i.ID, Kind: i.Labels[labelKind], IsWorkerImage: strings.HasPrefix(tag, workerRepository+":"), Size: i.Size, Layers: parseLayers(i.Labels[labelLayers]), toolbox: i.Labels[labelToolbox]}
				if key := keyOf(tag); e.IsWorkerImage || e.Kind == toolboxLayer {
					e.Mirrors, e.Used = b.readUse(key)
				}
				if i.Created > 0 {
					e.Created = time.Unix(i.Created, 0)
				}
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// IsNamed says whether a name is this image's: its key as a whole worker image, its id,
// or its tag.
func (e ImageEntry) IsNamed(name string) bool {
	return e.ID == name || e.Tag == name || e.IsWorkerImage && e.Tag == workerRepository+":"+name
}

// IsBelow says whether another image is stacked on this one.
func (e ImageEntry) IsBelow(other ImageEntry) bool {
	return len(e.Layers) > 0 && e.Tag != other.Tag && slices.Contains(other.Layers, e.topLayer())
}

// Prune removes the images that which picks, of those that List gives; nothing
// else is ever removed. An image in use stays. It returns the number of removed
// ones.
func (b *Builder) Prune(ctx context.Context, which func(ImageEntry) bool) (int, error) {
	entries, err := b.List(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, e := range entries {
		if !which(e) {
			continue
		}
		removed, err := b.pruneTag(ctx, e.Tag)
		if err != nil {
			return n, err
		}
		if removed {
			n++
		}
	}
	return n, nil
}

// pruneTag removes an image by its tag. removed is false where a container uses it.
func (b *Builder) pruneTag(ctx context.Context, tag string) (removed bool, err error) {
	switch err := b.removeTag(ctx, tag); {
	case err == nil || cerrdefs.IsNotFound(err):
		b.forgetUse(tag)
		return true, nil
	case cerrdefs.IsConflict(err): // in use
		return false, nil
	default:
		return false, dockerapi.WrapError("remove the image "+tag, err)
	}
}

// Unused picks, for Prune, the images that none of the kept ones is stacked
// on. Kept images are named by key, id or tag; one that does not exist keeps
// nothing. With shared, the layers that no project's files went into stay too:
// they take longest to make.
func (b *Builder) Unused(ctx context.Context, keep []string, shared bool) (func(ImageEntry) bool, error) {
	entries, err := b.List(ctx)
	if err != nil {
		return nil, err
	}
	kept := map[Layer]bool{}
	for _, e := range entries {
		if slices.ContainsFunc(keep, e.IsNamed) {
			for _, l := range e.Layers {
				kept[l] = true
			}
		}
	}
	return func(e ImageEntry) bool {
		if len(e.Layers) == 0 {
			return false // not understood: not ours to remove
		}
		return !kept[e.Layers[len(e.Layers)-1]] && !(shared && slices.Contains(sharedKinds(), e.Kind) && !e.IsWorkerImage)
	}, nil
}

// sharedKinds are the layers that no file of a project went into.
func sharedKinds() []string {
	kinds := []string{"base", "debian"}
	for _, t := range toolchains() {
		kinds = append(kinds, t.Name)
		for _, in := range t.Above {
			kinds = append(kinds, in.Layer)
		}
	}
	return kinds
}

// removeTag removes one tag, and the image when it was the last one.
func (b *Builder) removeTag(ctx context.Context, tag string) error {
	_, err := b.docker.ImageRemove(ctx, tag, dockerimage.RemoveOptions{PruneChildren: false})
	return err
}

// CheckResult is one line of what a doctor wants to know about images.
type CheckResult struct {
	Name   string // docker, or the kind of a layer
	OK     bool
	Detail string
	Hint   string
}

// Check looks whether a daemon answers and which of the shared layers exist.
// A missing layer is no fault: it says what the first task will wait for.
func (b *Builder) Check(ctx context.Context) []CheckResult {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	v, err := b.docker.ServerVersion(ctx)
	if err != nil {
		s := CheckResult{Name: "docker", Detail: "no daemon answers"}
		var e *company.Error
		if errors.As(dockerapi.WrapError("ask for the daemon's version", err), &e) {
			s.Detail, s.Hint = e.Message, e.Hint
		}
		return []CheckResult{s}
	}
	out := []CheckResult{{Name: "docker", OK: true, Detail: fmt.Sprintf("%s, API %s, %s/%s", v.Version, v.APIVersion, v.Os, v.Arch)}}
	base := b.baseStep(newBuiltBase())
	steps := []layerStep{base}
	for _, t := range toolchains() {
		if !t.IsFromHostAlone() {
			continue
		}
		if tree, err := b.findTree(ctx, t); err == nil {
			steps = append(steps, newLayerStep(t.Name, base, nil, tree.keyInputs...))
		}
	}
	for _, s := range steps {
		st := CheckResult{Name: s.kind, Detail: "not built yet; the first task builds it"}
		if f, err := b.findImage(ctx, s); err == nil && f != nil {
			st.OK, st.Detail = true, s.imageTag()
		} else if err != nil {
			st.Detail = err.Error()
		}
		out = append(out, st)
	}
	return out
}
