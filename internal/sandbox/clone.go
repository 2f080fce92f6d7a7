package sandbox

import (
	"context"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/toolproto"
)

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
