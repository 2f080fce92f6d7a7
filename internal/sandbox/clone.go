package sandbox

import (
	"bytes"
	"context"
	"io"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/toolproto"
)

// attachedFiles are the files of an instruction as they travel.
func attachedFiles(of []company.AttachedFile) []toolproto.SeedFile {
	out := make([]toolproto.SeedFile, len(of))
	for i, f := range of {
		out[i] = toolproto.SeedFile{Name: f.Name, Open: func() (io.ReadCloser, int64, error) {
			return io.NopCloser(bytes.NewReader(f.Content)), int64(len(f.Content)), nil
		}}
	}
	return out
}

// SendClone sends the history that a container lacks into its workspace, as the
// packs lie on the host: no git talks to another. What the run itself pushed is
// left for Prepare to fetch.
func SendClone(ctx context.Context, tools *toolproto.Client, q *gitops.Quarantine, baked string) (*toolproto.Seeded, error) {
	has, err := tools.Baked(ctx, baked)
	if err != nil {
		return nil, err
	}
	h, err := q.History(ctx, company.OID(has.Commit))
	if err != nil {
		return nil, err
	}
	files := make([]toolproto.SeedFile, len(h.Packs))
	for i, p := range h.Packs {
		files[i] = toolproto.SeedFile{Name: p.Name, Open: p.Open}
	}
	if err := tools.Seed(ctx, files); err != nil {
		return nil, err
	}
	s := &toolproto.Seeded{Refs: map[string]string{}, Fetch: !h.Whole}
	for name, id := range h.Refs {
		s.Refs[name] = string(id)
	}
	return s, nil
}
