package intake

import (
	"context"

	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/image"
)

// ImageOf is what the image of a task would be asked for that began now, from
// a branch of the checkout at path ("": where its HEAD is). Nothing is made.
func (in *Intake) ImageOf(ctx context.Context, m *gitops.Mirror, path, base string) (image.Request, error) {
	info, err := m.FetchBase(ctx, in.Log, gitops.Source{Path: path}, base)
	if err != nil {
		return image.Request{}, err
	}
	found, err := gates.Detect(ctx, m, info.OID, gates.Options{Lint: in.Lint, Test: in.Test, Paths: in.Paths})
	if err != nil {
		return image.Request{}, err
	}
	return in.imageRequest(m, info.OID, found.Toolchains), nil
}
