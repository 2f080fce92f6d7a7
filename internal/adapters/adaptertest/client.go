package adaptertest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"company/internal/adapters"
)

// Open makes a client that is closed when the test ends.
func Open[M io.Closer](t *testing.T, open func(adapters.Profile, adapters.Deps) (M, error), p adapters.Profile, deps adapters.Deps) M {
	t.Helper()
	m, err := open(p, deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// Chat asks a model that answers.
func Chat(t *testing.T, m adapters.Model, req adapters.Request) adapters.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resp, err := m.Chat(ctx, req, nil)
	if err != nil {
		t.Fatalf("Chat: %v", err)
	}
	return resp
}

// Sent is one request as it came in.
type Sent struct {
	Header http.Header
	Body   map[string]any
}

// EchoServer answers requests for path with reply, and keeps what it was sent;
// refuse, when it returns a text, answers 400 with it.
func EchoServer(t *testing.T, path, reply string, refuse func(body map[string]any) string) (url string, got func() []Sent) {
	t.Helper()
	var mu sync.Mutex
	var all []Sent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := Sent{Header: r.Header}
		if r.URL.Path != path {
			t.Errorf("asked for %s", r.URL.Path)
		}
		if err := json.NewDecoder(r.Body).Decode(&s.Body); err != nil {
			t.Errorf("request is not JSON: %v", err)
		}
		mu.Lock()
		all = append(all, s)
		mu.Unlock()
		if refuse != nil {
			if why := refuse(s.Body); why != "" {
				w.WriteHeader(http.StatusBadRequest)
				_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]string{"message": why, "type": "invalid_request_error"}})
				return
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, reply)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []Sent { mu.Lock(); defer mu.Unlock(); return all }
}
