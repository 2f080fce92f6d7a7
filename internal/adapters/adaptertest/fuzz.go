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
	"company/internal/lib/secret"
)

// Fuzz answers a driver with mutated replies of a wire. The driver must soon return a usable reply or an
// *adapters.Error.
func Fuzz(f *testing.F, wire Wire, open func(o Options) (adapters.Model, error)) {
	var body atomic.Pointer[[]byte]
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if answer := wire.Ask[r.URL.Path]; answer != nil {
			answer(rw, r)
			return
		}
		_, _ = rw.Write(*body.Load())
	}))
	f.Cleanup(server.Close)
	model, err := open(
		Options{BaseURL: server.URL + wire.Path, Key: secret.Trimmed(Canary), FirstToken: 5 * time.Second, Idle: time.Second,
			Whole: 5 * time.Second})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := adapters.Close(model); err != nil {
			f.Errorf("close: %v", err)
		}
	})
	for _, c := range wire.Cases {
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
		resp, err := model.Chat(ctx, req, nil)
		if err != nil {
			var fault *adapters.Error
			if !errors.As(err, &fault) || fault.Kind == "" || len(fault.Message) > 1<<10 ||
				fault.Usage != nil && !fault.Usage.Believable(req, req.MaxTokens, 0) {
				t.Errorf("error %#v (%T)", err, err)
			}
			return
		}
		usage := resp.Usage
		if usage.InputTokens <= 0 || min(usage.OutputTokens, usage.CachedTokens, usage.WrittenTokens) < 0 ||
			!usage.Estimated && !usage.Believable(req, req.MaxTokens, len(resp.Message.Content)) {
			t.Errorf("usage %+v", usage)
		}
		ids := map[string]bool{}
		for _, toolCall := range resp.Message.ToolCalls {
			if toolCall.ID == "" || ids[toolCall.ID] || toolCall.Name == "" && resp.Finish == adapters.FinishStop {
				t.Errorf("calls %+v", resp.Message.ToolCalls)
			}
			ids[toolCall.ID] = true
		}
	})
}
