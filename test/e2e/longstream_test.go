package e2e

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"company/internal/lib/hosttest"
)

// TestStreamOfHalfAMinute follows the events of a served office over two of its beats, half a minute
// (TST-7). The connection is cut during the work and at the first beat: the next one goes on behind the
// last event, without a gap.
func TestStreamOfHalfAMinute(t *testing.T) {
	hosttest.Long(t, "TestEventsResume has the reconnection, TestServeOverTCP the stream")
	t.Parallel()
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
	last := 0
	followTo := func(end string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
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
			if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id, err := strconv.Atoi(text)
				if err != nil || id != last+1 {
					t.Errorf("event %q follows %d", text, last)
				}
				last = id
			}
			if lines.Text() == end {
				return
			}
		}
		t.Fatalf("the stream ended before %q, after event %d: %v\n%s", end, last, ctx.Err(), messages.String())
	}
	followTo("id: 3")
	followTo(": beat")
	if last == 3 {
		t.Error("no event came after the cut")
	}
	followTo(": beat")
}
