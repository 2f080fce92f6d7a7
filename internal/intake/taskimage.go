package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/image"
	"company/internal/safetext"
)

// keyDigits are those of a layer's key that a task keeps.
const keyDigits = 12

// toolboxLayer is the one layer that a newer version of company changes by itself.
const toolboxLayer = "toolbox"

// shortLayers are the layers of an image as a task keeps them.
func shortLayers(all []image.Layer) (out []string) {
	for _, l := range all {
		out = append(out, l.Kind+"="+string(l.Key[:min(keyDigits, len(l.Key))]))
	}
	return out
}

// imageHere is an image that was just found or made.
func imageHere(img image.Image) gates.Image {
	return gates.Image{Key: string(img.Key), ID: img.ID}
}

// taskImage is the image that the task was prepared with, on this daemon; or, until it is
// there, the one that workers begin in. One that was removed is made again from what the
// task was prepared from.
func (st *TreeImages) taskImage(ctx context.Context, t *company.Task, m *gitops.Mirror) (gates.Image, error) {
	key := t.WorkImage()
	if again, ok := st.made.Load(key); ok {
		key = again.(string)
	}
	id, err := st.intake.Images.FindLocal(ctx, key)
	if err != nil || id != "" {
		return gates.Image{Key: key, ID: id}, err
	}
	req, err := st.intake.requestImage(ctx, t, m)
	if err != nil {
		return gates.Image{}, nameRemaking(t, err)
	}
	st.intake.Watcher.WatchImage(t.ID, "the worker image was removed; it is made again")
	req.Uncompiled = !t.IsPrepared()
	img, err := st.intake.Images.Ensure(ctx, req)
	if err == nil {
		err = st.intake.compareImage(ctx, t, req, img)
	}
	if err != nil {
		return gates.Image{}, nameRemaking(t, err)
	}
	st.made.Store(t.WorkImage(), string(img.Key))
	return imageHere(img), nil
}

// compareImage refuses an image that is not what the task was prepared with: its
// verdicts could not be held against the baseline. Another toolbox does not count, nor
// can anything where an older version kept no layers.
func (in *Intake) compareImage(ctx context.Context, t *company.Task, req image.Request, img image.Image) error {
	was := t.Prepared.ImageLayers
	if string(img.Key) == t.WorkImage() || len(was) == 0 {
		return nil
	}
	kind := firstDifference(was, shortLayers(img.Layers))
	if kind == "" || kind == toolboxLayer {
		return nil
	}
	why := "what its " + kind + " layer is made from is not what it was"
	if x, err := in.Images.Explain(ctx, req); err == nil {
		for _, l := range x.Layers {
			if l.Kind == kind && l.Why != "" {
				why += ": now it is " + safetext.EscapeLine(l.Why, maxNote)
			}
		}
	}
	return company.E(company.EImage, "another image would come of it").Because(why).
		Fix(fmt.Sprintf("bring back what has changed, then have it tried again; or give the task up (company cancel %s) and submit it anew, which starts from what there is now", t.ID)).NeedsPerson()
}

// firstDifference is the kind of the lowest layer that two images do not share; empty:
// there is none.
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

// kindOf is the kind of a layer as a task keeps it.
func kindOf(layer string) string {
	kind, _, _ := strings.Cut(layer, "=")
	return kind
}

// nameRemaking has an error say that an image was to be made again.
func nameRemaking(t *company.Task, err error) error {
	var e *company.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Op = fmt.Sprintf("the worker image of %s was removed and cannot be made again", t.ID)
	return &c
}
