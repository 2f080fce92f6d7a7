package ledger

import (
	"bytes"
	"context"

	"company/internal/company"
)

// Blobs keeps and gives whole values of at most MaxBlob bytes.
type Blobs struct{ Ledger *Ledger }

// MaxBlob bounds what one record refers to, in bytes.
const MaxBlob = 64 << 20

// PutBlob keeps a value under its hash.
func (b Blobs) PutBlob(ctx context.Context, data []byte) (company.Hash, error) {
	h, _, err := b.Ledger.PutBlob(ctx, bytes.NewReader(data))
	return h, err
}

// GetBlob gives a value back.
func (b Blobs) GetBlob(ctx context.Context, h company.Hash) ([]byte, error) {
	return b.Ledger.GetBlob(ctx, h, MaxBlob)
}
