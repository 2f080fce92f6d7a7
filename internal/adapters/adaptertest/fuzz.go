package adaptertest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/secret"
)

// Fuzz answers a driver with changed replies of a wire. Whatever comes, there is a reply that can
// be worked with, or an *adapters.Error, and soon.
func Fuzz(f *testing.F, w Wire, open func(o Options) (adapters.Model, error)) {
	var body atomic.Pointer[[]byte]
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if answer := w.Ask[r.URL.Path]; answer != nil {
			answer(rw, r)
			return
		}
		_, _ = rw.Write(*body.Load())
	}))
	f.Cleanup(server.Close)
	m, err := open(Options{BaseURL: server.URL + w.Path, Key: secret.Trimmed(Canary), FirstToken: 5 * time.Second, Idle: time.Second, Whole: 5 * time.Second})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := adapters.Close(m); err != nil {
			f.Errorf("close: %v", err)
		}
	})
	for _, c := range w.Cases {
		if c.Options != (Options{}) || c.Serve == nil {
			continue // it waits for its client
		}
		said := httptest.NewRecorder()
		c.Serve(said, httptest.NewRequest(http.MethodPost, "/", http.NoBody))
		if said.Body.Len() < 4<<10 {
			f.Add(said.Body.Bytes())
		}
	}
	f.Fuzz(func(t *testing.T, reply []byte) {
		body.Store(&reply)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		req := Request()
		resp, err := m.Chat(ctx, req, nil)
		if err != nil {
			var e *adapters.Error
			if !errors.As(err, &e) || e.Kind == "" || len(e.Message) > 1<<10 || e.Usage != nil && !e.Usage.Believable(req, req.MaxTokens, 0) {
				t.Errorf("error %#v (%T)", err, err)
			}
			return
		}
		u := resp.Usage
		if u.InputTokens <= 0 || min(u.OutputTokens, u.CachedTokens, u.WrittenTokens) < 0 || !u.Estimated && !u.Believable(req, req.MaxTokens, len(resp.Message.Content)) {
			t.Errorf("usage %+v", u)
		}
		ids := map[string]bool{}
		for _, c := range resp.Message.ToolCalls {
			if c.ID == "" || ids[c.ID] || c.Name == "" && resp.Finish == adapters.FinishStop {
				t.Errorf("calls %+v", resp.Message.ToolCalls)
			}
			ids[c.ID] = true
		}
	})
}
