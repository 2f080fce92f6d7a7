package api

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
	"company/internal/feed"
	"company/internal/view"
)

// Client talks to the office of another process.
type Client struct {
	http *http.Client

	mu         sync.Mutex
	officeTime time.Time // the office's, in the newest answer; zero: no answer has named it
	receivedAt time.Time // when that answer came
}

// Now is the office's time: that of its newest answer, and the time since.
// Before an answer, and at an office of an older version, it is the wall
// clock's.
func (c *Client) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.officeTime.IsZero() {
		return time.Now().UTC()
	}
	return c.officeTime.Add(time.Since(c.receivedAt))
}

// updateClock takes the office's time from an answer.
func (c *Client) updateClock(h http.Header) {
	at, err := time.Parse(time.RFC3339Nano, h.Get(timeHeader))
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.officeTime, c.receivedAt = at.UTC(), time.Now()
}

// Dial makes a client over connections that dial opens.
func Dial(dial func(ctx context.Context) (net.Conn, error)) *Client {
	return &Client{http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}}
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ServerInfo asks for the answering process.
func (c *Client) ServerInfo(ctx context.Context) (ServerInfo, error) {
	var h ServerInfo
	return h, c.callJSON(ctx, http.MethodGet, "/v1/hello", nil, &h)
}

// State is the whole state.
func (c *Client) State(ctx context.Context) (*company.State, error) {
	s := company.NewState()
	return s, c.callJSON(ctx, http.MethodGet, "/v1/state", nil, s)
}

// ActiveRuns asks for the runs under way, without the rest of the state.
func (c *Client) ActiveRuns(ctx context.Context) (ActiveRuns, error) {
	var h ActiveRuns
	return h, c.callJSON(ctx, http.MethodGet, "/v1/held", nil, &h)
}

// Activities are what the agents are at.
func (c *Client) Activities(ctx context.Context) ([]view.Activity, error) {
	var d []view.Activity
	return d, c.callJSON(ctx, http.MethodGet, "/v1/agents", nil, &d)
}

// Do sends a command of the president under an id that makes a repeat
// harmless. Errors are the company's own, as *company.Error.
func (c *Client) Do(ctx context.Context, id string, cmd company.Command) (CommandResult, error) {
	kind, err := commandKind(cmd)
	if err != nil {
		return CommandResult{}, err
	}
	raw, err := json.Marshal(cmd)
	if err != nil {
		return CommandResult{}, fmt.Errorf("marshal %s: %w", kind, err)
	}
	var done CommandResult
	return done, c.callJSON(ctx, http.MethodPost, "/v1/commands", CommandEnvelope{ID: id, Kind: kind, Command: raw}, &done)
}

// Follow reads the feed from event number from on, until ctx ends or the
// other process does: then io.EOF.
func (c *Client) Follow(ctx context.Context, from uint64, fn func(feed.Item) error) error {
	resp, err := c.sendRequest(ctx, http.MethodGet, fmt.Sprintf("/v1/feed?from=%d", from), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return readError(resp)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 64<<10), 4<<20)
	for lines.Scan() {
		var it feed.Item
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

func (c *Client) sendRequest(ctx context.Context, method, path string, body any) (*http.Response, error) {
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
	c.updateClock(resp.Header)
	return resp, nil
}

func (c *Client) callJSON(ctx context.Context, method, path string, body, out any) error {
	resp, err := c.sendRequest(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return readError(resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return company.E(company.EHeld, "the office's answer was cut off").Wrap(err)
	}
	return nil
}

func readError(resp *http.Response) error {
	e := &company.Error{}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxBody)).Decode(e); err != nil || e.Code == "" {
		return company.E(company.EInternal, fmt.Sprintf("the office answered %s", resp.Status))
	}
	return e
}
