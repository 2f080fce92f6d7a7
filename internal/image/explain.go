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

// Preview is what people should know of an image before it is made.
type Preview struct {
	Notes   []string // as in Image
	Fetched []string // versions of toolchains that this host does not have, and the files that ask for them
}

// Preview looks at an image for the request, or gives the error that it could not be
// made with. The daemon is not called.
func (b *Builder) Preview(ctx context.Context, req Request) (Preview, error) {
	if err := req.validateRequest(); err != nil {
		return Preview{}, err
	}
	base, err := b.findBase(ctx, req)
	if err != nil {
		return Preview{}, err
	}
	steps, notes, err := b.planLayers(ctx, req, base)
	p := Preview{Notes: notes}
	for _, s := range steps {
		if s.fetched {
			p.Fetched = append(p.Fetched, s.why)
		}
	}
	return p, err
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
	base, err := b.findBase(ctx, req)
	if err == nil {
		err = b.resolveFrom(ctx, &base)
	}
	if err != nil {
		return Explanation{}, err
	}
	steps, notes, err := b.planLayers(ctx, req, base)
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
