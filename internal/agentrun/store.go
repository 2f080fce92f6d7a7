package agentrun

import (
	"context"
	"encoding/json"

	"company/internal/ledger"
	"company/internal/ledger/marks"
)

// journalAdapter adapts a ledger journal to an agent. It marks each record while it is read.
type journalAdapter struct {
	j     *ledger.Journal
	marks *marks.Book
	place marks.Place // place of a record that is read, without its number
}

// journalFor returns the run's journal for one of its readers.
func (s *Session) journalFor(doing string) journalAdapter {
	return journalAdapter{s.journal, s.service.Marks, marks.Place{Owner: string(s.Run), Doing: doing}}
}

// readMarked calls read and marks each record while fn handles it.
func readMarked(
	book *marks.Book, place marks.Place, fn func(n int, kind string, data json.RawMessage) error,
	read func(func(ledger.Record) error) error,
) error {
	var mark *marks.Mark
	defer func() { mark.Pass() }()
	return read(func(rec ledger.Record) error {
		place.N = rec.N
		if mark == nil {
			mark = book.Enter(place)
		} else {
			mark.Move(place)
		}
		return fn(rec.N, rec.Kind, rec.Data)
	})
}

func (r journalAdapter) Append(ctx context.Context, kind string, data any) (int, error) {
	return r.j.Append(ctx, kind, data)
}

func (r journalAdapter) AppendLater(ctx context.Context, kind string, data any) error {
	return r.j.AppendLater(ctx, kind, data)
}

func (r journalAdapter) Flush(ctx context.Context) error { return r.j.Flush(ctx) }

func (r journalAdapter) Read(ctx context.Context, fn func(n int, kind string, data json.RawMessage) error) error {
	return readMarked(r.marks, r.place, fn, func(each func(ledger.Record) error) error { return r.j.Read(ctx, each) })
}
