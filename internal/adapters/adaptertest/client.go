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

// Open opens a client and closes it when the test ends.
func Open[M io.Closer](
	t *testing.T, open func(adapters.Profile, adapters.Deps) (M, error), profile adapters.Profile, deps adapters.Deps,
) M {
	t.Helper()
	m, err := open(profile, deps)
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

// Chat sends a request that must succeed.
func Chat(t *testing.T, model adapters.Model, req adapters.Request) adapters.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resp, err := model.Chat(ctx, req, nil)
	if err != nil {
		t.Fatalf("Chat: %v", err)
	}
	return resp
}

// Sent is one received request.
type Sent struct {
	Header http.Header
	Body   map[string]any
}

// EchoServer answers requests for path with reply, and records them. If refuse is not nil and returns a text, it
// answers 400 with that text.
func EchoServer(
	t *testing.T, path, reply string, refuse func(body map[string]any) string,
) (url string, got func() []Sent) {
	t.Helper()
	var mu sync.Mutex
	var all []Sent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := Sent{Header: r.Header}
		if r.URL.Path != path {
			t.Errorf("asked for %s", r.URL.Path)
		}
		if err := json.NewDecoder(r.Body).Decode(&sent.Body); err != nil {
			t.Errorf("request is not JSON: %v", err)
		}
		mu.Lock()
		all = append(all, sent)
		mu.Unlock()
		if refuse != nil {
			if reason := refuse(sent.Body); reason != "" {
				w.WriteHeader(http.StatusBadRequest)
				_ = json.NewEncoder(w).Encode(
					map[string]any{"type": "error", "error": map[string]string{"message": reason, "type": "invalid_request_error"}})
				return
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, reply)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []Sent { mu.Lock(); defer mu.Unlock(); return all }
}
