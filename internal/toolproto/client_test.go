package toolproto

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"company/internal/mux/muxtest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// newClient talks to a container that answers as h does.
func newClient(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	c := New(muxtest.Serve(t, h))
	t.Cleanup(c.Close)
	return c
}

// The container is the agent's: whatever it answers is an error of bounded
// size, and never a refusal that nobody made.
func TestHostileAnswers(t *testing.T) {
	endless := func(w io.Writer, p string) {
		for {
			if _, err := io.WriteString(w, p); err != nil {
				return
			}
		}
	}
	for name, h := range map[string]http.HandlerFunc{
		"not JSON":        func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
		"wrong types":     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"lines":"x"}`) },
		"empty":           func(http.ResponseWriter, *http.Request) {},
		"endless":         func(w http.ResponseWriter, _ *http.Request) { endless(w, strings.Repeat(" ", 1<<20)) },
		"fault":           func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "boom", 500) },
		"endless fault":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); endless(w, "boom") },
		"garbage refusal": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(422); _, _ = io.WriteString(w, "no") },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere/", http.StatusTemporaryRedirect)
		},
		"huge header": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) },
		"cut":         func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, h)
			_, err := c.ReadFile(t.Context(), ReadFileRequest{Path: "x"})
			var refusal *Refusal
			if err == nil || errors.As(err, &refusal) || !errors.As(err, new(*Broken)) {
				t.Fatalf("got %v, want an error that the container misbehaves", err)
			}
			if len(err.Error()) > 8<<10 {
				t.Fatalf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestLogIsBounded(t *testing.T) {
	c := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	var b bytes.Buffer
	if n, err := c.Log(t.Context(), "p1", &b); err != nil || n != MaxLog || b.Len() != MaxLog {
		t.Fatalf("%d bytes, %v", n, err)
	}
}

func TestRefusalAndContext(t *testing.T) {
	started := make(chan struct{}, 1)
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "run_command") {
			_, _ = io.Copy(io.Discard, r.Body)
			started <- struct{}{}
			<-r.Context().Done()
			return
		}
		w.WriteHeader(422)
		_, _ = io.WriteString(w, `{"kind":"stale","message":"read it"}`)
	})
	_, err := c.WriteFile(t.Context(), WriteFileRequest{Path: "x"})
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Kind != KindStale || refusal.Message != "read it" {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if _, err := c.Run(ctx, RunRequest{Command: "x"}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// A toolbox that cannot act any more is given up, long after the command's time
// is over: the link ends, and with it the container.
func TestRunGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		c := newClient(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if strings.HasSuffix(r.URL.Path, "run_command") {
				<-r.Context().Done()
				close(gone)
			}
		})
		_, err := c.Run(t.Context(), RunRequest{Command: ":(){ :|:& };:", TimeoutS: 5})
		if !errors.As(err, new(*Broken)) || !strings.Contains(err.Error(), "does not answer 1m0s after the command's time was over") {
			t.Fatal(err)
		}
		<-gone
		if err := c.Heartbeat(t.Context()); err == nil {
			t.Error("the link still carries calls")
		}
	})
}
