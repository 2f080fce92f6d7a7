// Package adaptertest is the test suite of all adapters: a server with every known kind of misbehaviour, and the
// required reaction of a driver. The cases are data: a reply on the wire, and the expected error or message.
// Cases of HTTP are common to all wires, and cases of a protocol exist once for each. The package knows no
// driver and no real host.
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
	"company/internal/lib/secret"
)

// Canary is the key of every case. It must not appear anywhere.
const Canary = "canary-4242-do-not-print"

// Options of the driver under test.
type Options struct {
	BaseURL    string
	Key        secret.Value
	FirstToken time.Duration // 0 means the driver's own
	Idle       time.Duration
	Whole      time.Duration
}

// Deps returns the timeouts for a driver.
func (o Options) Deps() adapters.Deps {
	return adapters.Deps{FirstToken: o.FirstToken, Idle: o.Idle, Whole: o.Whole}
}

// Case is one answer of a server and the expected result.
type Case struct {
	Name    string
	Serve   http.HandlerFunc
	Options Options // only timeouts
	Flood   bool    // it sends as much as a driver reads

	Kind       adapters.Kind // expected error, "" for a reply
	RetryAfter time.Duration
	Unanswered bool   // expected in the error
	Says       string // expected part of the error's message
	Check      func(t *testing.T, r adapters.Response)
}

// Exercise runs every case of a wire except floods. open opens the driver under test.
func Exercise(t *testing.T, wire Wire, open func(t *testing.T, o Options) adapters.Model) {
	cases := wire.allCases()
	has := map[string]bool{}
	for _, c := range cases {
		if has[c.Name] {
			t.Errorf("two cases are named %q", c.Name)
		}
		has[c.Name] = true
	}
	for _, name := range Required {
		if reason := wire.Cannot[name]; reason != "" {
			t.Logf("%s has no case %q: %s", wire.Name, name, reason)
		} else if !has[name] {
			t.Errorf("%s has no case %q", wire.Name, name)
		}
	}
	runCases(t, wire, open, func(c Case) bool { return !c.Flood })
}

// ExerciseFloods runs the flood cases of a wire.
func ExerciseFloods(t *testing.T, w Wire, open func(t *testing.T, o Options) adapters.Model) {
	runCases(t, w, open, func(c Case) bool { return c.Flood })
}

func runCases(t *testing.T, wire Wire, open func(t *testing.T, o Options) adapters.Model, wanted func(Case) bool) {
	for _, c := range wire.allCases() {
		if !wanted(c) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if wire.Key(r) != Canary {
					t.Errorf("%s does not hold the key", r.URL.Path)
				}
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Errorf("read the request: %v", err)
				}
				if answer := wire.Ask[r.URL.Path]; answer != nil {
					answer(rw, r)
					return
				}
				c.Serve(rw, r.WithContext(withRelease(r.Context(), release)))
			}))
			options := c.Options
			options.BaseURL, options.Key = server.URL+wire.Path, secret.Trimmed(Canary+"\n")
			model := open(t, options)
			t.Cleanup(func() {
				close(release)
				if err := adapters.Close(model); err != nil {
					t.Errorf("close: %v", err)
				}
				server.Close()
			})
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			resp, err := model.Chat(ctx, Request(), nil)
			c.verifyReply(t, resp, err)
		})
	}
}

func (c Case) verifyReply(t *testing.T, resp adapters.Response, err error) {
	t.Helper()
	// %+v prints the whole error, including wrapped ones.
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
	var fault *adapters.Error
	if !errors.As(err, &fault) {
		t.Fatalf("Chat returned %v (%T), want an *adapters.Error", err, err)
	}
	if fault.Kind != c.Kind || fault.RetryAfter != c.RetryAfter || fault.Unanswered != c.Unanswered ||
		!strings.Contains(fault.Message, c.Says) {
		t.Errorf("error = kind %s, retry after %s, unanswered %v, %q;\nwant kind %s, retry after %s, unanswered %v, a "+
			"message with %q",
			fault.Kind, fault.RetryAfter, fault.Unanswered, fault.Message, c.Kind, c.RetryAfter, c.Unanswered, c.Says)
	}
	if len(fault.Message) > 1<<10 {
		t.Errorf("the message has %d bytes", len(fault.Message))
	}
}

// Request returns a small conversation with one tool.
func Request() adapters.Request {
	return adapters.Request{
		Messages: []adapters.Message{{Role: adapters.User, Content: "Read a.go."}},
		Tools: []adapters.Tool{{Name: "read_file", Description: "read a file",
			Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
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
