package session

import (
	"bytes"
	"context"
	"encoding/json"

	"company/internal/company"
	"company/internal/ledger"
)

// journalAdapter is the journal as an agent wants it.
type journalAdapter struct{ j *ledger.Journal }

func (r journalAdapter) Append(ctx context.Context, kind string, data any) (int, error) {
	return r.j.Append(ctx, kind, data)
}

func (r journalAdapter) Read(ctx context.Context, fn func(n int, kind string, data json.RawMessage) error) error {
	return r.j.Read(ctx, func(rec ledger.Record) error { return fn(rec.N, rec.Kind, rec.Data) })
}

// blobs is the ledger's blob store as an agent wants it.
type blobs struct{ l *ledger.Ledger }

func (b blobs) PutBlob(ctx context.Context, data []byte) (company.Hash, error) {
	h, _, err := b.l.PutBlob(ctx, bytes.NewReader(data))
	return h, err
}

func (b blobs) GetBlob(ctx context.Context, h company.Hash) ([]byte, error) {
	return b.l.GetBlob(ctx, h, maxBlob)
}

// maxBlob bounds what one record of a conversation refers to, in bytes.
const maxBlob = 64 << 20
