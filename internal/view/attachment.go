package view

import (
	"context"

	"company/internal/company"
	"company/internal/safetext"
)

// Contents reads contents that are stored beside the ledger.
type Contents interface {
	// GetBlob returns a blob of at most limit bytes. ENotFound: there is none.
	GetBlob(ctx context.Context, hash company.Hash, limit int64) ([]byte, error)
}

// Attachment returns a file that came with the instruction of a task, with its content.
// ENotFound: there is no such task, it has no such file, or nothing can be read here.
func (src Source) Attachment(ctx context.Context, task, name string) (company.AttachedFile, error) {
	var f company.AttachedFile
	src, err := src.WithTarget(task)
	if err != nil {
		return f, err
	}
	t, err := FindTask(src.State, task)
	if err != nil {
		return f, err
	}
	for _, a := range t.Attachments {
		if a.Name != name || src.Contents == nil {
			continue
		}
		f.Attachment = a
		f.Content, err = src.Contents.GetBlob(ctx, a.Blob, company.MaxAttachedImage)
		return f, err
	}
	return f, company.E(company.ENotFound, "no file "+safetext.EscapeLine(name, 80)+" came with "+string(t.ID)).Fix("GET /api/v1/tasks/" + string(t.ID) + " lists its attachments")
}
