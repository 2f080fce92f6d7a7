package image

import (
	"context"

	"company/internal/company"
)

// LayerInfo is one layer of an image as Explain tells it.
type LayerInfo struct {
	Kind   string
	Key    company.Hash // of all that went into it and of the layers below
	Tag    string       // its image in the daemon's store
	Why    string       // its source, for people
	Cached bool         // it is there
	Size   int64        // bytes of this layer alone; 0 when it is not there
}

// Explanation is what Ensure would do for a request.
type Explanation struct {
	Layers []LayerInfo // from the bottom up
	Notes  []string    // as in Image
	Image  string      // id of the whole image; "" when it is not there
}

// PreviewNotes gives the notes that an image for the request would have, or the error
// that it could not be made with. The daemon is not called.
func (b *Builder) PreviewNotes(ctx context.Context, req Request) ([]string, error) {
	if err := req.validateRequest(); err != nil {
		return nil, err
	}
	_, notes, err := b.planLayers(ctx, req, baseOf(req))
	return notes, err
}

// Explain tells what an image for the request is made from, and which parts
// are there. It builds nothing. A part above one that is missing may be there
// all the same: keys are known before anything is made.
func (b *Builder) Explain(ctx context.Context, req Request) (Explanation, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	if err := req.validateRequest(); err != nil {
		return Explanation{}, err
	}
	steps, notes, err := b.planLayers(ctx, req, baseOf(req))
	if err != nil {
		return Explanation{}, err
	}
	x := Explanation{Notes: notes}
	var below int64
	var lacks []string
	for _, s := range steps {
		f, err := b.findImage(ctx, s)
		if err != nil {
			return Explanation{}, err
		}
		p := LayerInfo{Kind: s.kind, Key: s.key, Tag: s.imageTag(), Why: s.why, Cached: f != nil}
		if f != nil {
			p.Size = max(f.size-below, 0)
			below, lacks = f.size, f.notes
			x.Image = f.id
		} else {
			x.Image = ""
		}
		x.Layers = append(x.Layers, p)
	}
	x.Notes = append(x.Notes, lacks...)
	return x, nil
}
