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
	"time"

	"company/internal/toolbox/mux/muxtest"
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
		"not JSON":      func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
		"wrong types":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"lines":"x"}`) },
		"empty":         func(http.ResponseWriter, *http.Request) {},
		"endless":       func(w http.ResponseWriter, _ *http.Request) { endless(w, strings.Repeat(" ", 1<<20)) },
		"fault":         func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "boom", 500) },
		"endless fault": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); endless(w, "boom") },
		"garbage refusal": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(422)
			_, _ = io.WriteString(w, "no")
		},
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

// The client bounds the live output that a container sends: the length of a line, the number of
// lines in a second, and their sum. A toolbox that sends none is understood, too.
func TestLiveOutputIsBounded(t *testing.T) {
	line := func(n int) string { return `{"recent":"` + strings.Repeat("x", n) + `"}` + "\n" }
	for name, c := range map[string]struct {
		text   string // again and again, before the end
		times  int    // -1: for ever
		end    string
		exit   int
		told   int // at most, at once
		broken bool
	}{
		"none":             {end: `{"process_id":"p1","exit_code":3}`, exit: 3},
		"honest":           {text: line(10), times: 1, end: `{"exit_code":4}` + "\n", exit: 4, told: 1},
		"too often":        {text: line(10), times: 1000, end: `{"exit_code":4}` + "\n", exit: 4, told: 1},
		"long lines":       {text: line(100 * LiveBytes), times: 3, end: `{"exit_code":5}` + "\n", exit: 5, told: 1},
		"one endless line": {text: strings.Repeat("x", 1<<20), times: -1, broken: true},
		"endless lines":    {text: line(1 << 20), times: -1, told: 1 << 10, broken: true},
		"no result":        {text: line(1), times: 1, told: 1, broken: true},
		"not JSON":         {text: "hello\n", times: 1, broken: true},
		"wrong type":       {text: `{"recent":5}` + "\n", times: 1, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
				for i := 0; i != c.times; i++ {
					if _, err := io.WriteString(w, c.text); err != nil {
						return
					}
				}
				_, _ = io.WriteString(w, c.end)
			})
			told, began := 0, time.Now()
			r, err := client.Run(t.Context(), RunRequest{Command: "x", TimeoutS: 1, OnOutput: func(s string) {
				told++
				if len(s) == 0 || len(s) > LiveBytes {
					t.Errorf("%d bytes", len(s))
				}
			}})
			most := c.told
			if most > 0 {
				most += int(time.Since(began) / (LiveEvery / 2)) // a busy machine takes longer
			}
			if c.broken != errors.As(err, new(*Broken)) || r.ExitCode != c.exit || told > most || c.told == 1 && told == 0 {
				t.Errorf("%+v, %v, told %d times", r, err, told)
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
		if !errors.As(err, new(*Broken)) ||
			!strings.Contains(err.Error(), "did not answer 1m0s after the command's timeout") {
			t.Fatal(err)
		}
		<-gone
		if err := c.Heartbeat(t.Context()); err == nil {
			t.Error("the link still carries calls")
		}
	})
}
