package toolserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestSilenceIsMonotonic: how long the host was silent is counted by the
// monotonic clock. Without its reading a wall clock that is set by a day would
// look like a day of silence, and end every container.
func TestSilenceIsMonotonic(t *testing.T) {
	s, err := New(Config{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	check := func(when string) *time.Time {
		t.Helper()
		at := s.lastCall.Load()
		if !strings.Contains(at.String(), " m=") {
			t.Errorf("%s: %s has no monotonic reading", when, at)
		}
		if idle := s.Idle(); idle < 0 || idle > time.Minute {
			t.Errorf("%s: silent for %s", when, idle)
		}
		return at
	}
	before := check("at the start")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/heartbeat", strings.NewReader("{}")))
	if after := check("after a call"); w.Code != http.StatusOK || !after.After(*before) {
		t.Errorf("status %d, heard at %s and %s", w.Code, before, after)
	}
}
