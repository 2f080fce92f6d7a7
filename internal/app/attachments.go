package app

import (
	"bytes"
	"context"

	"company/internal/company"
	"company/internal/office/attachment"
)

// storeAttachments stores the files of a submission. The command is decided without their
// contents. Types and sizes are detected here, not taken from the sender.
func (a *App) storeAttachments(ctx context.Context, command company.Command) (company.Command, error) {
	submit, ok := command.(company.Submit)
	if !ok || len(submit.Attachments) == 0 {
		return command, nil
	}
	var err error
	if submit.Attachments, err = attachment.Inspect(submit.Attachments); err != nil {
		return nil, err
	}
	if err := submit.Validate(a.Now()); err != nil {
		return nil, err // a rejected submission stores no files
	}
	for i := range submit.Attachments {
		attachedFile := &submit.Attachments[i]
		if attachedFile.Blob, _, err = a.ledger.PutBlob(ctx, bytes.NewReader(attachedFile.Content)); err != nil {
			return nil, err
		}
		attachedFile.Content = nil
	}
	return submit, nil
}
