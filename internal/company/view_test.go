package company_test

import (
	"bytes"
	"encoding/json"
	"testing"

	. "company/internal/company"
)

// A view may be kept and read while events are folded into the state: no event
// changes what an earlier view holds, not even the time of a task's last event.
func TestEventsLeaveViewsAlone(t *testing.T) {
	t.Parallel()
	ledgers := goldenLedgers(t)
	if testing.Short() {
		ledgers = ledgers[len(ledgers)-3:]
	}
	for _, n := range ledgers {
		s := NewState()
		var kept *State
		var was []byte
		for i, e := range readGolden(t, n) {
			// A view of every seventh state, compared after every event.
			if (i+n)%7 == 0 {
				kept, was = s.View(), mustJSON(t, s)
			}
			if err := Apply(s, e); err != nil {
				t.Fatal(err)
			}
			if kept == nil {
				continue
			}
			if now := mustJSON(t, kept); !bytes.Equal(was, now) {
				t.Fatalf("ledger %d: %s changed a view that was made before it", n, e.Kind)
			}
		}
	}
}

func mustJSON(t *testing.T, s *State) []byte {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
