package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"company/internal/company"
	"company/internal/engine/replay"
)

// A record comes whole, texts of any bytes too; a task that is none, one whose record ends
// by an error, and a process that ends in the middle are told apart.
func TestRecordOverTheSocket(t *testing.T) {
	d, c, _ := serveFakeOffice(t)
	near := InProcess(d)
	defer near.Close()
	text := func(e replay.Entry) string {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for name, c := range map[string]*Client{"over the socket": c, "in this process": near} {
		var got []replay.Entry
		collect := func(e replay.Entry) error { got = append(got, e); return nil }
		if err := c.StreamRecord(t.Context(), "t1", collect); err != nil ||
			!slices.EqualFunc(got, fakeRecord, func(a, b replay.Entry) bool { return text(a) == text(b) }) {
			t.Errorf("%s: %v, %d entries", name, err, len(got))
		}
		if err := c.StreamRecord(t.Context(), "t9", collect); company.CodeOf(err) != company.ENotFound {
			t.Errorf("%s: no task: %v", name, err)
		}
		got = nil
		if err := c.StreamRecord(t.Context(), "t2", collect); company.CodeOf(err) != company.EInvalid ||
			len(got) != len(fakeRecord) {
			t.Errorf("%s: an error behind %d entries: %v", name, len(got), err)
		}
		enough := errors.New("enough")
		if err := c.StreamRecord(t.Context(), "t1", func(replay.Entry) error { return enough }); !errors.Is(err, enough) {
			t.Errorf("%s: the reader's error came as %v", name, err)
		}
	}
}

// endlessRecord is an office whose record never ends.
type endlessRecord struct{ *fakeOffice }

func (o endlessRecord) StreamRecord(ctx context.Context, _ company.TaskID, emit func(replay.Entry) error) error {
	for ctx.Err() == nil {
		if err := emit(fakeRecord[0]); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// A record whose process ends is EHeld, and no record.
func TestRecordThatIsCut(t *testing.T) {
	srv, c := serveOffice(t, endlessRecord{newFakeOffice(t)})
	stopped := make(chan struct{})
	first := true
	err := c.StreamRecord(t.Context(), "t1", func(replay.Entry) error {
		if first {
			first = false
			go func() { srv.Stop(); close(stopped) }()
		}
		return nil
	})
	if <-stopped; company.CodeOf(err) != company.EHeld {
		t.Error(err)
	}
}
