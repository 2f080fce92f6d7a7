package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/orchestrator"
)

// Client talks to the office of another process.
type Client struct {
	http *http.Client

	mu    sync.Mutex
	time  time.Time // the office's, in the newest answer; zero: no answer has named it
	since time.Time // when that answer came
}

// Now is the office's time: what its newest answer said, and what has passed
// since. Before an answer, and at an office of an older version, it is the wall
// clock's.
func (c *Client) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.time.IsZero() {
		return time.Now().UTC()
	}
	return c.time.Add(time.Since(c.since))
}

// hear takes the office's time from an answer.
func (c *Client) hear(h http.Header) {
	at, err := time.Parse(time.RFC3339Nano, h.Get(timeHeader))
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time, c.since = at.UTC(), time.Now()
}

// Dial makes a client over connections that dial opens.
func Dial(dial func(ctx context.Context) (net.Conn, error)) *Client {
	return &Client{http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}}
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Hello asks who answers.
func (c *Client) Hello(ctx context.Context) (Hello, error) {
	var h Hello
	return h, c.call(ctx, http.MethodGet, "/v1/hello", nil, &h)
}

// State is the whole state.
func (c *Client) State(ctx context.Context) (*company.State, error) {
	s := company.NewState()
	return s, c.call(ctx, http.MethodGet, "/v1/state", nil, s)
}

// Held is what is under way, without the rest of the state.
func (c *Client) Held(ctx context.Context) (Held, error) {
	var h Held
	return h, c.call(ctx, http.MethodGet, "/v1/held", nil, &h)
}

// Doings are what the agents are at.
func (c *Client) Doings(ctx context.Context) ([]Doing, error) {
	var d []Doing
	return d, c.call(ctx, http.MethodGet, "/v1/agents", nil, &d)
}

// Do sends a command of the president under an id that makes a repeat
// harmless. Errors are the company's own, as *company.Error.
func (c *Client) Do(ctx context.Context, id string, cmd company.Command) (Done, error) {
	kind, err := kindOf(cmd)
	if err != nil {
		return Done{}, err
	}
	raw, err := json.Marshal(cmd)
	if err != nil {
		return Done{}, fmt.Errorf("marshal %s: %w", kind, err)
	}
	var done Done
	return done, c.call(ctx, http.MethodPost, "/v1/commands", Wire{ID: id, Kind: kind, Command: raw}, &done)
}

// Follow reads the feed from event number from on, until ctx ends or the
// other process does: then io.EOF.
func (c *Client) Follow(ctx context.Context, from uint64, fn func(orchestrator.Item) error) error {
	resp, err := c.send(ctx, http.MethodGet, fmt.Sprintf("/v1/feed?from=%d", from), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 64<<10), 4<<20)
	for lines.Scan() {
		var it orchestrator.Item
		if err := json.Unmarshal(lines.Bytes(), &it); err != nil {
			break // cut in the middle of a line: the other process died
		}
		if err := fn(it); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return io.EOF
}

func (c *Client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://office"+path, r)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, company.E(company.EHeld, "the process that holds the office does not answer").Wrap(err)
	}
	c.hear(resp.Header)
	return resp, nil
}

func (c *Client) call(ctx context.Context, method, path string, body, out any) error {
	resp, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return company.E(company.EHeld, "the office's answer was cut off").Wrap(err)
	}
	return nil
}

func refusal(resp *http.Response) error {
	e := &company.Error{}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxBody)).Decode(e); err != nil || e.Code == "" {
		return company.E(company.EInternal, fmt.Sprintf("the office answered %s", resp.Status))
	}
	return e
}
