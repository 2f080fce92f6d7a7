package app

import (
	"bytes"
	"context"

	"company/internal/attachment"
	"company/internal/company"
)

// storeAttachments stores the files of a submission, which is decided without their contents.
// Their types and sizes are found here: a sender's own are not believed.
func (a *App) storeAttachments(ctx context.Context, c company.Command) (company.Command, error) {
	submit, ok := c.(company.Submit)
	if !ok || len(submit.Attachments) == 0 {
		return c, nil
	}
	var err error
	if submit.Attachments, err = attachment.Inspect(submit.Attachments); err != nil {
		return nil, err
	}
	if err := submit.Validate(a.Now()); err != nil {
		return nil, err // nothing is stored of what is refused
	}
	for i := range submit.Attachments {
		f := &submit.Attachments[i]
		if f.Blob, _, err = a.ledger.PutBlob(ctx, bytes.NewReader(f.Content)); err != nil {
			return nil, err
		}
		f.Content = nil
	}
	return submit, nil
}
