package company_test

import (
	"bytes"
	"errors"
	"testing"

	. "company/internal/company"
)

// A state that is written piece by piece is the same text.
func TestStateIsWrittenPieceByPiece(t *testing.T) {
	t.Parallel()
	states := []*State{NewState(), {}}
	for _, n := range goldenLedgers(t) {
		s := NewState()
		for _, e := range readGolden(t, n) {
			if err := Apply(s, e); err != nil {
				t.Fatal(err)
			}
		}
		states = append(states, s)
	}
	for _, s := range states {
		var got bytes.Buffer
		if err := s.WriteJSON(&got); err != nil {
			t.Fatal(err)
		}
		if want := asJSON(t, s); !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%d events: %d bytes, and %d by encoding/json", s.Seq, got.Len(), len(want))
		}
	}
	for room := range 400 {
		if err := states[2].WriteJSON(&fullDisk{room: room}); !errors.Is(err, errFull) {
			t.Fatalf("with room for %d bytes: %v", room, err)
		}
	}
}

var errFull = errors.New("full")

// fullDisk takes so many bytes.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return 0, errFull
	}
	d.room -= len(p)
	return len(p), nil
}
