package agentrun

import (
	"context"
	"encoding/json"

	"company/internal/ledger"
)

// journalAdapter adapts a ledger journal to an agent.
type journalAdapter struct{ j *ledger.Journal }

func (r journalAdapter) Append(ctx context.Context, kind string, data any) (int, error) {
	return r.j.Append(ctx, kind, data)
}

func (r journalAdapter) AppendLater(ctx context.Context, kind string, data any) error {
	return r.j.AppendLater(ctx, kind, data)
}

func (r journalAdapter) Flush(ctx context.Context) error { return r.j.Flush(ctx) }

func (r journalAdapter) Read(ctx context.Context, fn func(n int, kind string, data json.RawMessage) error) error {
	return r.j.Read(ctx, func(rec ledger.Record) error { return fn(rec.N, rec.Kind, rec.Data) })
}
