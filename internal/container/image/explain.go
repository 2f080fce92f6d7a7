package image

import (
	"context"
	"slices"

	"company/internal/company"
)

// LayerInfo describes one layer of an image for Explain.
type LayerInfo struct {
	Kind   string
	Key    company.Hash // covers its inputs and the layers below
	Tag    string       // tag of its image in the daemon's store
	Why    string       // source of the layer, for people
	Cached bool         // the layer exists
	Size   int64        // bytes of this layer without those below; 0 if it does not exist
}

// Explanation describes the image that Ensure would make for a request.
type Explanation struct {
	Layers []LayerInfo // from the bottom up
	Notes  []string    // as in Image
	Image  string      // id of the complete image; "" if it does not exist
}

// Preview is information about an image before it is built.
type Preview struct {
	Notes   []string // as in Image
	Fetched []string // toolchain versions that this host lacks, with the files that request them
	// Registries lists the kinds of registries that packages come from, sorted.
	Registries []string
}

// Preview plans the image for a request, or returns the error that prevents building it. It does not
// contact the daemon.
func (b *Builder) Preview(ctx context.Context, req Request) (Preview, error) {
	if err := req.validateRequest(); err != nil {
		return Preview{}, err
	}
	base, err := b.findBase(ctx, req)
	if err != nil {
		return Preview{}, err
	}
	steps, notes, err := b.planLayers(ctx, req, base)
	preview := Preview{Notes: notes}
	for _, layerStep := range steps {
		if layerStep.fetched {
			preview.Fetched = append(preview.Fetched, layerStep.why)
		}
		if layerStep.registry != "" {
			preview.Registries = append(preview.Registries, layerStep.registry)
		}
	}
	slices.Sort(preview.Registries)
	preview.Registries = slices.Compact(preview.Registries)
	return preview, err
}

// Explain lists the layers of the image for a request and whether they exist. It builds no layers. A
// layer may exist although one below it is missing, because keys are known before the layers are
// built.
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
	explanation := Explanation{Notes: notes}
	var below int64
	var lacks []string
	for _, layerStep := range steps {
		image, err := b.findImage(ctx, layerStep)
		if err != nil {
			return Explanation{}, err
		}
		layerInfo := LayerInfo{Kind: layerStep.kind, Key: layerStep.key, Tag: layerStep.imageTag(), Why: layerStep.why,
			Cached: image != nil}
		if image != nil {
			layerInfo.Size = max(image.size-below, 0)
			below, lacks = image.size, image.notes
			explanation.Image = image.id
		} else {
			explanation.Image = ""
		}
		explanation.Layers = append(explanation.Layers, layerInfo)
	}
	explanation.Notes = append(explanation.Notes, lacks...)
	return explanation, nil
}
