package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/container/dockerapi"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/filters"
	dockerimage "github.com/docker/docker/api/types/image"
)

// ImageEntry is one of our images in the daemon's store.
type ImageEntry struct {
	Tag           string
	ID            string
	Kind          string    // kind of its topmost layer
	IsWorkerImage bool      // a complete worker image, not a layer for other images
	Size          int64     // bytes, shared layers included
	Layers        []Layer   // from the bottom up
	Created       time.Time // zero if the layers were loaded: they have no time, so that they are reproducible
	Mirrors       []string  // mirrors of the projects of a worker image; empty if unknown
	Used          time.Time // when a worker image or toolbox was last built or requested; zero if unknown

	toolbox string // hash of its toolbox
}

// topLayer returns the topmost layer. The image must have one.
func (e ImageEntry) topLayer() Layer { return e.Layers[len(e.Layers)-1] }

// List returns all images that carry our label, in no particular order.
func (b *Builder) List(ctx context.Context) ([]ImageEntry, error) {
	images, err := b.docker.ImageList(
		ctx, dockerimage.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelKind))})
	if err != nil {
		return nil, dockerapi.WrapError("list images", err)
	}
	var out []ImageEntry
	for _, i := range images {
		for _, tag := range i.RepoTags {
			if strings.HasPrefix(tag, workerRepository+":") || strings.HasPrefix(tag, layerRepository+":") {
				imageEntry := ImageEntry{Tag: tag, ID: i.ID, Kind: i.Labels[labelKind],
					IsWorkerImage: strings.HasPrefix(tag, workerRepository+":"), Size: i.Size,
					Layers: parseLayers(i.Labels[labelLayers]), toolbox: i.Labels[labelToolbox]}
				if key := keyOf(tag); imageEntry.IsWorkerImage || imageEntry.Kind == toolboxLayer {
					imageEntry.Mirrors, imageEntry.Used = b.readUse(key)
				}
				if i.Created > 0 {
					imageEntry.Created = time.Unix(i.Created, 0)
				}
				out = append(out, imageEntry)
			}
		}
	}
	return out, nil
}

// IsNamed reports whether name refers to this image: by its id, its tag, or its key if it is a
// complete worker image.
func (e ImageEntry) IsNamed(name string) bool {
	return e.ID == name || e.Tag == name || e.IsWorkerImage && e.Tag == workerRepository+":"+name
}

// IsBelow reports whether the other image is built on this one.
func (e ImageEntry) IsBelow(other ImageEntry) bool {
	return len(e.Layers) > 0 && e.Tag != other.Tag && slices.Contains(other.Layers, e.topLayer())
}

// Prune calls which for every image from List and removes the image if which returns true. It removes
// no others. Images in use remain. It returns the number of removed images.
func (b *Builder) Prune(ctx context.Context, which func(ImageEntry) bool) (int, error) {
	entries, err := b.List(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, imageEntry := range entries {
		if !which(imageEntry) {
			continue
		}
		removed, err := b.pruneTag(ctx, imageEntry.Tag)
		if err != nil {
			return n, err
		}
		if removed {
			n++
		}
	}
	return n, nil
}

// pruneTag removes an image by its tag. removed is false if a container uses the image.
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

// Unused returns a function for Prune that picks the images on which no kept image is built. keep
// lists keys, ids or tags; names of missing images have no effect. With shared, it also spares the
// layers that contain no project files, because they take longest to build.
func (b *Builder) Unused(ctx context.Context, keep []string, shared bool) (func(ImageEntry) bool, error) {
	entries, err := b.List(ctx)
	if err != nil {
		return nil, err
	}
	kept := map[Layer]bool{}
	for _, imageEntry := range entries {
		if slices.ContainsFunc(keep, imageEntry.IsNamed) {
			for _, l := range imageEntry.Layers {
				kept[l] = true
			}
		}
	}
	return func(imageEntry ImageEntry) bool {
		if len(imageEntry.Layers) == 0 {
			return false // unknown label format: do not remove it
		}
		return !kept[imageEntry.Layers[len(imageEntry.Layers)-1]] &&
			!(shared && slices.Contains(sharedKinds(), imageEntry.Kind) && !imageEntry.IsWorkerImage)
	}, nil
}

// sharedKinds returns the kinds of layers that contain no project files.
func sharedKinds() []string {
	kinds := []string{"base", "debian"}
	for _, toolchain := range toolchains() {
		kinds = append(kinds, toolchain.Name)
		for _, install := range toolchain.Above {
			kinds = append(kinds, install.Layer)
		}
	}
	return kinds
}

// removeTag removes a tag, and the image if it was the last tag.
func (b *Builder) removeTag(ctx context.Context, tag string) error {
	_, err := b.docker.ImageRemove(ctx, tag, dockerimage.RemoveOptions{PruneChildren: false})
	return err
}

// CheckResult is one line of doctor's report on images.
type CheckResult struct {
	Name   string // docker, or the kind of a layer
	OK     bool
	Detail string
	Hint   string
}

// Check reports whether a daemon answers and which of the shared layers exist. A missing layer is not
// a fault; the first task builds it.
func (b *Builder) Check(ctx context.Context) []CheckResult {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	v, err := b.docker.ServerVersion(ctx)
	if err != nil {
		checkResult := CheckResult{Name: "docker", Detail: "no daemon answers"}
		var fault *company.Error
		if errors.As(dockerapi.WrapError("ask for the daemon's version", err), &fault) {
			checkResult.Detail, checkResult.Hint = fault.Message, fault.Hint
		}
		return []CheckResult{checkResult}
	}
	out := []CheckResult{{Name: "docker", OK: true,
		Detail: fmt.Sprintf("%s, API %s, %s/%s", v.Version, v.APIVersion, v.Os, v.Arch)}}
	base := b.baseStep(newBuiltBase())
	steps := []layerStep{base}
	for _, toolchain := range toolchains() {
		if !toolchain.IsFromHostAlone() {
			continue
		}
		if tree, err := b.findTree(ctx, toolchain); err == nil {
			steps = append(steps, newLayerStep(toolchain.Name, base, nil, tree.keyInputs...))
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
