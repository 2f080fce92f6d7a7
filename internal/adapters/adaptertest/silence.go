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
	"company/internal/lib/secret"
)

// Keep-alives extend the wait for a silent server to three times these waits.
const (
	silence = 500 * time.Millisecond // of cases that expect it to end
	patient = time.Second            // of a case whose answer must come within it, beside other work of the machine
	forever = time.Minute            // of a case in which nothing is silent
)

// silentServer answers each chat with the next handler of chats, and all later ones with the last of them.
type silentServer struct {
	mu     sync.Mutex
	chats  []http.HandlerFunc
	bodies []string // bodies of the chats, in order
}

func (s *silentServer) serveChats(
	t *testing.T, wire Wire, open func(t *testing.T, o Options) adapters.Model, wait time.Duration,
) adapters.Model {
	t.Helper()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read the request: %v", err)
		}
		if answer := wire.Ask[r.URL.Path]; answer != nil {
			answer(rw, r)
			return
		}
		s.mu.Lock()
		chat := s.chats[0]
		s.chats = s.chats[min(1, len(s.chats)-1):]
		s.bodies = append(s.bodies, string(body))
		s.mu.Unlock()
		chat(rw, r.WithContext(withRelease(r.Context(), release)))
	}))
	model := open(
		t, Options{BaseURL: server.URL + wire.Path, Key: secret.Trimmed(Canary), FirstToken: wait, Idle: wait})
	t.Cleanup(func() {
		close(release)
		if err := adapters.Close(model); err != nil {
			t.Errorf("close: %v", err)
		}
		server.Close()
	})
	return adapters.Retry(model, adapters.Policy{First: time.Millisecond, Longest: time.Millisecond, Resample: 2},
		adapters.WallClock{})
}

// setChats sets the handlers of further chats, and returns the number of chats before.
func (s *silentServer) setChats(chats ...http.HandlerFunc) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats = chats
	return len(s.bodies)
}

func (s *silentServer) listBodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// keepAlive sends keep-alives for d. If d is 0, it sends them until the client leaves or the test ends.
func (w Wire) keepAlive(d time.Duration, then http.HandlerFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if d > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, d)
			defer cancel()
		}
		thenDrip(func(rw http.ResponseWriter, _ *http.Request) { rw.Header().Set("Content-Type", w.ContentType) },
			": wait\n\n"+w.KeepAlive, silence/10)(rw, r.WithContext(ctx))
		then(rw, r)
	}
}

// ExerciseSilence tests a wire against servers that fall silent: the waits, the retries, and the reported cost
// of each end.
func ExerciseSilence(t *testing.T, wire Wire, open func(t *testing.T, o Options) adapters.Model) {
	headersOnly := func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", wire.ContentType)
		rw.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(rw).Flush()
	}
	begun := func(rw http.ResponseWriter, r *http.Request) { wire.Begun(rw, r); holdConnection(r) }
	chats := func(c ...http.HandlerFunc) []http.HandlerFunc { return c }
	for _, c := range []struct {
		name  string
		wait  time.Duration
		chats []http.HandlerFunc // of the third request
		asked int                // of them; one that is answered may be asked again on a busy machine
		kind  adapters.Kind
		says  string // the reason of the last try or an earlier one
		more  bool   // a part of a reply came
	}{
		{"keep-alives, then an answer", patient, chats(wire.keepAlive(patient*8/5, wire.Whole)), 1, "", "", false},
		{"keep-alives for ever, then an answer to the next try", patient, chats(wire.keepAlive(0, holdSilent), wire.Whole),
			2, "", "keep-alives", false},
		// On a busy machine the first keep-alive may come too late, too.
		{"keep-alives for ever", silence, chats(wire.keepAlive(0, holdSilent)), 2, adapters.TimedOut, "came within", false},
		{"silent for ever", silence, chats(holdSilent), 2, adapters.TimedOut, "nothing came", false},
		{"silent behind its headers", silence, chats(func(rw http.ResponseWriter, r *http.Request) {
			headersOnly(rw, r)
			holdConnection(r)
		}), 2, adapters.TimedOut, "nothing came", false},
		{"silent in its reply", patient, chats(begun), 2, adapters.TimedOut, "silent", true},
		{"closed behind its headers", forever, chats(headersOnly), 3, adapters.MalformedReply, "cut", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s silentServer
			model := s.serveChats(t, wire, open, c.wait)
			told := ""
			ask := func() (adapters.Response, error) {
				return model.Chat(t.Context(), Request(), func(e adapters.Event) { told += e.Reason })
			}
			s.setChats(wire.Whole)
			for range 2 {
				if _, err := ask(); err != nil {
					t.Fatal(err)
				}
			}
			told = ""
			before := s.setChats(c.chats...)
			resp, err := ask()
			bodies := s.listBodies()
			asked := len(bodies) - before
			if adapters.KindOf(err) != c.kind || asked < c.asked || asked > c.asked && c.kind != "" ||
				(told == "") != (asked == 1) || !strings.Contains(told, c.says) {
				t.Fatalf("%d tries, told %q: %v", asked, told, err)
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
			usage := end.EstimateUsage(req, req.MaxTokens)
			if usage.InputTokens != adapters.Cut(req).InputTokens || (usage.OutputTokens > 0) != c.more ||
				usage.OutputTokens > 50 {
				t.Errorf("estimated as %+v", usage)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		model := open(t, Options{BaseURL: "http://127.0.0.1:1" + wire.Path, Key: secret.Trimmed(Canary)})
		_, err := model.Chat(t.Context(), Request(), nil)
		var fault *adapters.Error
		var end *adapters.Unfinished
		if !errors.As(err, &fault) || fault.Unanswered || errors.As(err, &end) {
			t.Errorf("a call that never began costs something: %v", err)
		}
		if err := adapters.Close(model); err != nil {
			t.Error(err)
		}
	})
}

// holdSilent keeps the connection without sending a byte.
func holdSilent(_ http.ResponseWriter, r *http.Request) { holdConnection(r) }
