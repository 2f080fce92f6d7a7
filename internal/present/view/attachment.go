package view

import (
	"context"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Contents reads contents that are stored beside the ledger.
type Contents interface {
	// GetBlob returns a blob of at most limit bytes. The error is ENotFound if there is no such blob.
	GetBlob(ctx context.Context, hash company.Hash, limit int64) ([]byte, error)
}

// Attachment returns a file that came with the instruction of a task, with its content. The error is ENotFound if the
// task or the file does not exist, or contents cannot be read here.
func (src Source) Attachment(ctx context.Context, task, name string) (company.AttachedFile, error) {
	var attachedFile company.AttachedFile
	src, err := src.WithTarget(task)
	if err != nil {
		return attachedFile, err
	}
	t, err := FindTask(src.State, task)
	if err != nil {
		return attachedFile, err
	}
	for _, attachment := range t.Attachments {
		if attachment.Name != name || src.Contents == nil {
			continue
		}
		attachedFile.Attachment = attachment
		attachedFile.Content, err = src.Contents.GetBlob(ctx, attachment.Blob, company.MaxAttachedImage)
		return attachedFile, err
	}
	return attachedFile, company.E(company.ENotFound, "no file "+safetext.EscapeLine(name, 80)+" came with "+string(t.ID)).
		Fix("GET /api/v1/tasks/" + string(t.ID) + " lists its attachments")
}
