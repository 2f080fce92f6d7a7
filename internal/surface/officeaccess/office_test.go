package officeaccess

import (
	"testing"

	"company/internal/office"
)

// Who opens an office or ends is waited for longer than who listens and does
// not answer: on a busy machine it takes its time.
func TestWhoDoesNotListenYetIsWaitedFor(t *testing.T) {
	for name, x := range map[string]struct {
		held *office.Holder
		want bool
	}{
		"nobody knows": {nil, true},
		"opens":        {&office.Holder{PID: 1}, true},
		"listens":      {&office.Holder{PID: 1, Socket: "/run/x.sock"}, false},
	} {
		if got := waitFor(x.held, DialTimeout); (got == TakeOverTimeout) != x.want || got < DialTimeout {
			t.Errorf("%s: %s", name, got)
		}
	}
}
