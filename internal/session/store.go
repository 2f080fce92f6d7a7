package session

import (
	"context"
	"encoding/json"

	"company/internal/ledger"
	"company/internal/marks"
)

// journalAdapter is the journal as an agent wants it. Each record that is read is marked.
type journalAdapter struct {
	j     *ledger.Journal
	marks *marks.Book
	place marks.Place // of a record that is read, without its number
}

// journalFor is the run's journal for one of its readers.
func (s *Session) journalFor(doing string) journalAdapter {
	return journalAdapter{s.journal, s.service.Marks, marks.Place{Owner: string(s.Run), Doing: doing}}
}

// readMarked calls read with a function that marks each record while fn has it.
func readMarked(book *marks.Book, place marks.Place, fn func(n int, kind string, data json.RawMessage) error, read func(func(ledger.Record) error) error) error {
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
