package ledger

import (
	"bytes"
	"context"

	"company/internal/company"
)

// Blobs stores and returns whole values of at most MaxBlob bytes.
type Blobs struct{ Ledger *Ledger }

// MaxBlob limits the size of a value that one record refers to, in bytes.
const MaxBlob = 64 << 20

// PutBlob stores a value and returns its hash.
func (b Blobs) PutBlob(ctx context.Context, data []byte) (company.Hash, error) {
	h, _, err := b.Ledger.PutBlob(ctx, bytes.NewReader(data))
	return h, err
}

// GetBlob returns the value with this hash.
func (b Blobs) GetBlob(ctx context.Context, h company.Hash) ([]byte, error) {
	return b.Ledger.GetBlob(ctx, h, MaxBlob)
}
