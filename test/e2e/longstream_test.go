package e2e

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"company/internal/hosttest"
)

// TestStreamOfHalfAMinute follows the events of a served office for 30 seconds (TST-7). In the middle
// the connection is cut: the next one goes on behind the last event, without a gap.
func TestStreamOfHalfAMinute(t *testing.T) {
	hosttest.Variant(t, "TestEventsResume has the reconnection, TestServeOverTCP the stream")
	t.Parallel()
	const half, wholeBeat = 16 * time.Second, 15 * time.Second
	h := openTinyProject(t, farewells())
	at, token, serve, messages := serveWithLink(t, h)
	defer func() {
		if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := serve.Wait(); err != nil {
			t.Errorf("serve: %v\n%s", err, messages.String())
		}
		http.DefaultClient.CloseIdleConnections()
	}()
	h.MustRun(patience, "submit", "--detach", "say goodbye")
	last, beats := 0, 0
	follow := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), half)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"/api/v1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		if last > 0 {
			req.Header.Set("Last-Event-ID", strconv.Itoa(last))
		}
		stream, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Body.Close()
		for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
			if lines.Text() == ": beat" {
				beats++
			}
			text, ok := strings.CutPrefix(lines.Text(), "id: ")
			if !ok {
				continue
			}
			id, err := strconv.Atoi(text)
			if err != nil || id != last+1 {
				t.Errorf("event %q follows %d", text, last)
			}
			last = id
		}
		if ctx.Err() == nil {
			t.Fatalf("the stream ended before its time\n%s", messages.String())
		}
	}
	follow()
	before := last
	follow()
	if before < 3 || last < before || beats == 0 {
		t.Errorf("%d events, then %d; %d beats within two times %s, one is sent each %s", before, last-before, beats, half, wholeBeat)
	}
}
