// Package adaptertest is the one suite that every adapter runs: a server that
// misbehaves in every way that servers have been seen to, and what a driver
// must make of it. The cases are data: a reply on the wire, and the kind of
// error or the message that must come of it. Cases of HTTP are common to all
// wires; cases of the protocol stand once for each of them. It knows no driver
// and no real host.
package adaptertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/secret"
)

// Canary is the key that every case sends; it must turn up nowhere.
const Canary = "canary-4242-do-not-print"

// Options of the driver under test.
type Options struct {
	BaseURL    string
	Key        secret.Value
	FirstToken time.Duration // 0: the driver's own
	Idle       time.Duration
	Whole      time.Duration
}

// Deps are the clocks for a driver.
func (o Options) Deps() adapters.Deps {
	return adapters.Deps{FirstToken: o.FirstToken, Idle: o.Idle, Whole: o.Whole}
}

// Case is one way of answering.
type Case struct {
	Name    string
	Serve   http.HandlerFunc
	Options Options // times only

	Kind       adapters.Kind // expected error, "" for a reply
	RetryAfter time.Duration
	Unanswered bool   // expected of the error
	Says       string // a part of the error's message
	Check      func(t *testing.T, r adapters.Response)
}

// Exercise runs every case of a wire. open makes the driver under test.
func Exercise(t *testing.T, w Wire, open func(t *testing.T, o Options) adapters.Model) {
	cases := w.allCases()
	has := map[string]bool{}
	for _, c := range cases {
		if has[c.Name] {
			t.Errorf("two cases are named %q", c.Name)
		}
		has[c.Name] = true
	}
	for _, name := range Required {
		if why := w.Cannot[name]; why != "" {
			t.Logf("%s has no case %q: %s", w.Name, name, why)
		} else if !has[name] {
			t.Errorf("%s has no case %q", w.Name, name)
		}
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if w.Key(r) != Canary {
					t.Errorf("%s does not hold the key", r.URL.Path)
				}
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Errorf("read the request: %v", err)
				}
				if answer := w.Ask[r.URL.Path]; answer != nil {
					answer(rw, r)
					return
				}
				c.Serve(rw, r.WithContext(withRelease(r.Context(), release)))
			}))
			o := c.Options
			o.BaseURL, o.Key = server.URL+w.Path, secret.Trimmed(Canary+"\n")
			m := open(t, o)
			t.Cleanup(func() {
				close(release)
				if err := adapters.Close(m); err != nil {
					t.Errorf("close: %v", err)
				}
				server.Close()
			})
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			resp, err := m.Chat(ctx, Request(), nil)
			c.verifyReply(t, resp, err)
		})
	}
}

func (c Case) verifyReply(t *testing.T, resp adapters.Response, err error) {
	t.Helper()
	// %+v walks the whole error, the wrapped ones too.
	for _, text := range []string{fmt.Sprintf("%v", err), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
		if strings.Contains(text, "canary") {
			t.Fatalf("the key is in the error: %s", text)
		}
	}
	if c.Kind == "" {
		if err != nil {
			t.Fatalf("Chat: %v", err)
		}
		c.Check(t, resp)
		return
	}
	var e *adapters.Error
	if !errors.As(err, &e) {
		t.Fatalf("Chat returned %v (%T), want an *adapters.Error", err, err)
	}
	if e.Kind != c.Kind || e.RetryAfter != c.RetryAfter || e.Unanswered != c.Unanswered || !strings.Contains(e.Message, c.Says) {
		t.Errorf("error = kind %s, retry after %s, unanswered %v, %q;\nwant kind %s, retry after %s, unanswered %v, a message with %q",
			e.Kind, e.RetryAfter, e.Unanswered, e.Message, c.Kind, c.RetryAfter, c.Unanswered, c.Says)
	}
	if len(e.Message) > 1<<10 {
		t.Errorf("the message has %d bytes", len(e.Message))
	}
}

// Request is a small conversation with one tool.
func Request() adapters.Request {
	return adapters.Request{
		Messages:  []adapters.Message{{Role: adapters.User, Content: "Read a.go."}},
		Tools:     []adapters.Tool{{Name: "read_file", Description: "read a file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
		MaxTokens: 500,
	}
}

type releaseKey struct{}

func withRelease(ctx context.Context, release chan struct{}) context.Context {
	return context.WithValue(ctx, releaseKey{}, release)
}

// holdConnection keeps the connection until the client leaves or the test ends.
func holdConnection(r *http.Request) {
	release, _ := r.Context().Value(releaseKey{}).(chan struct{})
	select {
	case <-r.Context().Done():
	case <-release:
	}
}
