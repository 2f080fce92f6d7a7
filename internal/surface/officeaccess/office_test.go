package officeaccess

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"company/internal/office"
)

// Who opens an office or ends is waited for longer than who listens and does
// not answer: on a busy machine it takes its time.
func TestWhoDoesNotListenYetIsWaitedFor(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for name, x := range map[string]struct {
		held office.Holder
		want time.Duration
	}{
		"opens":   {office.Holder{PID: 1}, openPatience},
		"ends":    {office.Holder{PID: 1, Socket: socket + ".gone"}, openPatience},
		"listens": {office.Holder{PID: 1, Socket: socket}, answerPatience},
	} {
		if got := waitFor(&x.held); got != x.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
