package sandbox

import (
	"bytes"
	"context"
	"io"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/toolbox/toolproto"
)

// attachedFiles converts the files of an instruction for transfer.
func attachedFiles(of []company.AttachedFile) []toolproto.SeedFile {
	out := make([]toolproto.SeedFile, len(of))
	for i, attachedFile := range of {
		out[i] = toolproto.SeedFile{Name: attachedFile.Name, Open: func() (io.ReadCloser, int64, error) {
			return io.NopCloser(bytes.NewReader(attachedFile.Content)), int64(len(attachedFile.Content)), nil
		}}
	}
	return out
}

// SendClone sends the history that a container lacks into its workspace. It sends the host's packs as files,
// without a git transfer. Commits that the run itself pushed are left for Prepare to fetch.
func SendClone(
	ctx context.Context, tools *toolproto.Client, quarantine *gitops.Quarantine, baked string,
) (*toolproto.Seeded, error) {
	has, err := tools.Baked(ctx, baked)
	if err != nil {
		return nil, err
	}
	history, err := quarantine.History(ctx, company.OID(has.Commit))
	if err != nil {
		return nil, err
	}
	files := make([]toolproto.SeedFile, len(history.Packs))
	for i, p := range history.Packs {
		files[i] = toolproto.SeedFile{Name: p.Name, Open: p.Open}
	}
	if err := tools.Seed(ctx, files); err != nil {
		return nil, err
	}
	seeded := &toolproto.Seeded{Refs: map[string]string{}, Fetch: !history.Whole}
	for name, id := range history.Refs {
		seeded.Refs[name] = string(id)
	}
	return seeded, nil
}
