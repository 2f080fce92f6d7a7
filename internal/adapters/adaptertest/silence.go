package adaptertest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/secret"
)

// silence is how long a server of these tests may be silent; keep-alives hold it for three times that.
const silence = 500 * time.Millisecond

// silentServer answers the n-th chat (from 0) with the n-th handler, and all later ones with the last.
type silentServer struct {
	mu     sync.Mutex
	bodies []string // of the chats, as they came
}

func (s *silentServer) serveChats(t *testing.T, w Wire, open func(t *testing.T, o Options) adapters.Model, chats ...http.HandlerFunc) adapters.Model {
	t.Helper()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read the request: %v", err)
		}
		if answer := w.Ask[r.URL.Path]; answer != nil {
			answer(rw, r)
			return
		}
		s.mu.Lock()
		n := len(s.bodies)
		s.bodies = append(s.bodies, string(body))
		s.mu.Unlock()
		chats[min(n, len(chats)-1)](rw, r.WithContext(withRelease(r.Context(), release)))
	}))
	m := open(t, Options{BaseURL: server.URL + w.Path, Key: secret.Trimmed(Canary), FirstToken: silence, Idle: silence})
	t.Cleanup(func() {
		close(release)
		if err := adapters.Close(m); err != nil {
			t.Errorf("close: %v", err)
		}
		server.Close()
	})
	return adapters.Retry(m, adapters.Policy{First: time.Millisecond, Longest: time.Millisecond, Resample: 2}, adapters.WallClock{})
}

func (s *silentServer) listBodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// keepAlive sends keep-alives for so long; 0: until the client leaves or the test ends.
func (w Wire) keepAlive(d time.Duration, then http.HandlerFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if d > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, d)
			defer cancel()
		}
		thenDrip(func(rw http.ResponseWriter, _ *http.Request) { rw.Header().Set("Content-Type", w.ContentType) }, ": wait\n\n"+w.KeepAlive, silence/10)(rw, r.WithContext(ctx))
		then(rw, r)
	}
}

// ExerciseSilence runs a wire against servers that fall silent: the waits, and the calls that are asked
// again, and what each end tells of its cost.
func ExerciseSilence(t *testing.T, w Wire, open func(t *testing.T, o Options) adapters.Model) {
	headersOnly := func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", w.ContentType)
		rw.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(rw).Flush()
	}
	begun := func(rw http.ResponseWriter, r *http.Request) { w.Begun(rw, r); holdConnection(r) }
	for _, c := range []struct {
		name  string
		chats []http.HandlerFunc
		asked int // chats of the third question
		kind  adapters.Kind
		says  string // the reason of the last try, or of one before it
		more  bool   // a part of a reply came before the end
	}{
		{"keep-alives, then an answer", []http.HandlerFunc{w.Whole, w.Whole, w.keepAlive(silence*8/5, w.Whole)}, 1, "", "", false},
		{"keep-alives for ever, then an answer to the next try", []http.HandlerFunc{w.Whole, w.Whole, w.keepAlive(0, holdSilent), w.Whole}, 2, "", "keep-alives", false},
		{"keep-alives for ever", []http.HandlerFunc{w.Whole, w.Whole, w.keepAlive(0, holdSilent)}, 2, adapters.TimedOut, "keep-alives", false},
		{"silent for ever", []http.HandlerFunc{w.Whole, w.Whole, holdSilent}, 2, adapters.TimedOut, "nothing came", false},
		{"silent behind its headers", []http.HandlerFunc{w.Whole, w.Whole, func(rw http.ResponseWriter, r *http.Request) { headersOnly(rw, r); holdConnection(r) }}, 2, adapters.TimedOut, "nothing came", false},
		{"silent in its reply", []http.HandlerFunc{w.Whole, w.Whole, begun}, 2, adapters.TimedOut, "silent", true},
		{"closed behind its headers", []http.HandlerFunc{w.Whole, w.Whole, headersOnly}, 3, adapters.MalformedReply, "cut", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s silentServer
			m := s.serveChats(t, w, open, c.chats...)
			told := ""
			ask := func() (adapters.Response, error) {
				return m.Chat(t.Context(), Request(), func(e adapters.Event) { told += e.Reason })
			}
			for range 2 {
				if _, err := ask(); err != nil {
					t.Fatal(err)
				}
			}
			resp, err := ask()
			bodies := s.listBodies()
			if adapters.KindOf(err) != c.kind || len(bodies) != 2+c.asked || (told == "") != (c.asked == 1) || !strings.Contains(told, c.says) {
				t.Fatalf("%d tries, told %q: %v", len(bodies)-2, told, err)
			}
			for _, body := range bodies {
				if body != bodies[0] {
					t.Errorf("asked again in another conversation: %s, was %s", body, bodies[0])
				}
			}
			if c.kind == "" {
				wantText("hello")(t, resp)
				return
			}
			req := Request()
			var end *adapters.Unfinished
			if !errors.As(err, &end) {
				t.Fatalf("%v does not tell how far it came", err)
			}
			u := end.EstimateUsage(req, req.MaxTokens)
			if u.InputTokens != adapters.Cut(req).InputTokens || (u.OutputTokens > 0) != c.more || u.OutputTokens > 50 {
				t.Errorf("estimated as %+v", u)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		m := open(t, Options{BaseURL: "http://127.0.0.1:1" + w.Path, Key: secret.Trimmed(Canary)})
		_, err := m.Chat(t.Context(), Request(), nil)
		var e *adapters.Error
		var end *adapters.Unfinished
		if !errors.As(err, &e) || e.Unanswered || errors.As(err, &end) {
			t.Errorf("a call that never began costs something: %v", err)
		}
		if err := adapters.Close(m); err != nil {
			t.Error(err)
		}
	})
}

// holdSilent sends nothing, and keeps the connection.
func holdSilent(_ http.ResponseWriter, r *http.Request) { holdConnection(r) }
