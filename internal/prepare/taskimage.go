package prepare

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/lib/safetext"
)

// keyDigits is how many digits of a layer's key are stored in a task.
const keyDigits = 12

// toolboxLayer is the only layer that a newer version of company changes by itself.
const toolboxLayer = "toolbox"

// shortLayers returns the layers of an image in the form that a task stores.
func shortLayers(layers []image.Layer) (out []string) {
	for _, l := range layers {
		out = append(out, l.Kind+"="+string(l.Key[:min(keyDigits, len(l.Key))]))
	}
	return out
}

// imageHere converts an image that was just found or made.
func imageHere(img image.Image) gates.Image {
	return gates.Image{Key: string(img.Key), ID: img.ID}
}

// taskImage returns the task's image on this daemon. It rebuilds a removed image from the same inputs.
func (st *TreeImages) taskImage(ctx context.Context, task *company.Task, mirror *gitops.Mirror) (gates.Image, error) {
	key := task.Prepared.Image
	if again, ok := st.made.Load(key); ok {
		key = again.(string)
	}
	id, err := st.intake.Images.FindLocal(ctx, key)
	if err != nil || id != "" {
		return gates.Image{Key: key, ID: id}, err
	}
	req, err := st.intake.requestImage(ctx, task, mirror)
	if err != nil {
		return gates.Image{}, nameRemaking(task, err)
	}
	st.intake.Watcher.WatchImage(task.ID, "the worker image was removed; it is made again")
	img, err := st.intake.Images.Ensure(ctx, req)
	if err == nil {
		err = st.intake.compareImage(ctx, task, req, img)
	}
	if err != nil {
		return gates.Image{}, nameRemaking(task, err)
	}
	st.made.Store(task.Prepared.Image, string(img.Key))
	return imageHere(img), nil
}

// compareImage returns an error if an image differs from the one that the task was prepared with, because its
// verdicts could not be compared with the baseline. A different toolbox is ignored.
func (in *Intake) compareImage(ctx context.Context, task *company.Task, req image.Request, img image.Image) error {
	if string(img.Key) == task.Prepared.Image {
		return nil
	}
	kind := firstDifference(task.Prepared.ImageLayers, shortLayers(img.Layers))
	if kind == "" || kind == toolboxLayer {
		return nil
	}
	reason := "what its " + kind + " layer is made from is not what it was"
	if x, err := in.Images.Explain(ctx, req); err == nil {
		for _, layerInfo := range x.Layers {
			if layerInfo.Kind == kind && layerInfo.Why != "" {
				reason += ": now it is " + safetext.EscapeLine(layerInfo.Why, maxNote)
			}
		}
	}
	return company.E(company.EImage, "rebuilding the image would give another image").Because(reason).
		Fix(fmt.Sprintf("undo the change and try again; or give the task up (company cancel %s) "+
			"and submit it again, which uses the current state", task.ID)).NeedsPerson()
}

// firstDifference returns the kind of the lowest layer in which two images differ, or "" if there is none.
func firstDifference(was, is []string) string {
	for i := range max(len(was), len(is)) {
		switch {
		case i >= len(is):
			return kindOf(was[i])
		case i >= len(was) || was[i] != is[i]:
			return kindOf(is[i])
		}
	}
	return ""
}

// kindOf returns the kind of a layer that a task stores.
func kindOf(layer string) string {
	kind, _, _ := strings.Cut(layer, "=")
	return kind
}

// nameRemaking adds to an error that an image was being rebuilt.
func nameRemaking(task *company.Task, err error) error {
	var fault *company.Error
	if !errors.As(err, &fault) {
		return err
	}
	c := *fault
	c.Op = fmt.Sprintf("the worker image of %s was removed and cannot be made again", task.ID)
	return &c
}
