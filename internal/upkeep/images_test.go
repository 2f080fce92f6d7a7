package upkeep

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/container/image"
)

// keepingRemover removes images, but for those that are in use.
type keepingRemover struct {
	inUse   string
	removed []string
}

func (r *keepingRemover) RemoveUnused(_ context.Context, e image.ImageEntry) (bool, error) {
	if e.Tag == r.inUse {
		return false, nil
	}
	r.removed = append(r.removed, e.Tag)
	return true, nil
}

// newImage makes an image of layers such as "base npm repo".
func newImage(tag, layers string, isWorker bool) image.ImageEntry {
	e := image.ImageEntry{Tag: tag, IsWorkerImage: isWorker}
	for l := range strings.FieldsSeq(layers) {
		e.Layers = append(e.Layers, image.Layer{Kind: l, Key: company.Hash(l)})
	}
	return e
}

// The layers of an image that a container uses stay with it, in whatever order the rest was found: the
// next image of its project is made of them.
func TestLayersOfAnImageInUseStay(t *testing.T) {
	gone := []image.ImageEntry{
		newImage("worker:used", "base npm toolbox repo", true), newImage("worker:other", "base pip repo2", true),
		newImage("layer:npm", "base npm", false), newImage("layer:pip", "base pip", false),
	}
	r := &keepingRemover{inUse: "worker:used"}
	all := listImageGarbage(r, gone, gone)
	all = append(all, Garbage{Kind: "container", Name: "z", removal: func(context.Context) error { return nil }})
	for _, g := range SortGarbage(all) {
		if err := g.Remove(t.Context()); err != nil && !errors.Is(err, errInUse) {
			t.Fatal(err)
		}
	}
	if want := []string{"worker:other", "layer:pip"}; !slices.Equal(r.removed, want) {
		t.Errorf("removed are %q, want %q", r.removed, want)
	}
}
