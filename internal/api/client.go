package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/present/feed"
)

// Client sends requests to the office of another process.
type Client struct {
	reconnect func(context.Context) (*Client, error) // nil if failed requests are not retried

	mu         sync.Mutex
	way        connection
	officeTime time.Time // the office's time in the newest answer; zero before the first
	receivedAt time.Time // when that answer arrived
}

// connection holds the settings for sending requests to an office.
type connection struct {
	http    *http.Client
	timeout time.Duration // of one request, but not of a feed (0 means no timeout)
	maxBody int           // of a request, in bytes (0 means no limit)
	close   func()        // ends the office of this process; nil if another process has it
}

// Now returns the office's time: the time in its newest answer plus the elapsed time. Before the
// first answer it returns the wall clock's time.
func (c *Client) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.officeTime.IsZero() {
		return time.Now().UTC()
	}
	return c.officeTime.Add(time.Since(c.receivedAt))
}

// updateClock stores the office's time from an answer.
func (c *Client) updateClock(h http.Header) {
	at, err := time.Parse(time.RFC3339Nano, h.Get(timeHeader))
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.officeTime, c.receivedAt = at.UTC(), time.Now()
}

// workTimeout limits a start of work. It waits for Docker, which may have much to remove.
const workTimeout = 10 * time.Minute

// answerTimeout limits a request after another process has accepted it.
const answerTimeout = 30 * time.Second

// Dial returns a client that opens its connections with dial.
func Dial(dial func(ctx context.Context) (net.Conn, error)) *Client {
	return &Client{way: connection{timeout: answerTimeout, maxBody: maxBody, http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}}}
}

// mostReconnects limits how often one request is retried.
const mostReconnects = 5

// Reconnect sets the function that finds the office again if a request gets no answer, because the
// other process may have ended. The request is then retried. A command keeps its id, so that it is
// not run twice. Streams are not retried. Call it before the first request.
func (c *Client) Reconnect(reconnect func(context.Context) (*Client, error)) { c.reconnect = reconnect }

// currentConnection returns the connection that requests use now.
func (c *Client) currentConnection() connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.way
}

// replaceConnection replaces a failed connection, unless another request has done so.
func (c *Client) replaceConnection(ctx context.Context, failed *http.Client) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.way.http != failed {
		return nil
	}
	again, err := c.reconnect(ctx)
	if err != nil {
		return err
	}
	c.way.releaseConnection()
	c.way = again.way
	return nil
}

// releaseConnection closes idle connections, and the office if this process holds it.
func (w connection) releaseConnection() {
	w.http.CloseIdleConnections()
	if w.close != nil {
		w.close()
	}
}

// OnClose sets a function that Close calls. The client then does not reconnect. Call it before the first
// request.
func (c *Client) OnClose(end func()) { c.way.close = end }

// Close closes idle connections, and the office if this process holds it.
func (c *Client) Close() { c.currentConnection().releaseConnection() }

// ServerInfo returns information about the serving process.
func (c *Client) ServerInfo(ctx context.Context) (ServerInfo, error) {
	var h ServerInfo
	return h, c.callJSON(ctx, http.MethodGet, "/api/v1/hello", nil, &h)
}

// Get reads a resource of the office. path is relative to /api/v1/.
func Get[T any](ctx context.Context, client *Client, path string) (T, error) {
	var v T
	return v, client.callJSON(ctx, http.MethodGet, "/api/v1/"+path, nil, &v)
}

// Do sends a command of the president. id makes repeats harmless, and an empty id means a fresh
// one. Errors are the company's own, as *company.Error.
func (c *Client) Do(ctx context.Context, id string, cmd company.Command) (CommandResult, error) {
	if id == "" {
		id = NewCommandID()
	}
	return c.send(ctx, "/api/v1/commands", id, cmd)
}

// Try returns the events that a command would produce now. It writes nothing.
func (c *Client) Try(ctx context.Context, cmd company.Command) ([]company.Event, error) {
	done, err := c.send(ctx, "/api/v1/trials", "", cmd)
	return done.Events, err
}

// StartWork starts the work of the office in the process that has it, unless it has started. It returns
// the tasks that recovery: ask has paused.
func (c *Client) StartWork(ctx context.Context) (paused []company.TaskID, err error) {
	var started WorkStart
	way := c.currentConnection()
	way.timeout = workTimeout
	err = c.callOver(ctx, way, http.MethodPost, "/api/v1/work", nil, &started)
	return started.Paused, err
}

// EndUnless is a condition under which a process stays that is asked to end.
type EndUnless string

const (
	Always       EndUnless = ""     // it ends in any case
	UnlessBusy   EndUnless = "busy" // it stays if a task can continue there
	UnlessAtWork EndUnless = "work" // it stays if work has started there
)

// RequestEnd asks the process that has the office to end. It returns EConflict if that process stays:
// the condition holds, or it ends otherwise, like company serve.
func (c *Client) RequestEnd(ctx context.Context, unless EndUnless) error {
	return c.callJSON(ctx, http.MethodPost, "/api/v1/end?unless="+string(unless), nil, &struct{}{})
}

// NewLink returns a link that works once in a browser. It returns EConflict if the running company
// has no address for browsers, and ENotFound if no company is running.
func (c *Client) NewLink(ctx context.Context) (Link, error) {
	var l Link
	return l, c.callJSON(ctx, http.MethodPost, "/api/v1/tickets", nil, &l)
}

// NewOwnLink is NewLink for a browser of the office's user on its machine. Programs of other users
// cannot use the link.
func (c *Client) NewOwnLink(ctx context.Context) (Link, error) {
	var l Link
	return l, c.callJSON(ctx, http.MethodPost, "/api/v1/tickets?own=true", nil, &l)
}

func (c *Client) send(ctx context.Context, path, id string, cmd company.Command) (CommandResult, error) {
	kind, err := commandKind(cmd)
	if err != nil {
		return CommandResult{}, err
	}
	raw, err := json.Marshal(cmd)
	if err != nil {
		return CommandResult{}, fmt.Errorf("marshal %s: %w", kind, err)
	}
	var done CommandResult
	return done, c.callJSON(ctx, http.MethodPost, path, CommandEnvelope{ID: id, Kind: kind, Command: raw}, &done)
}

// Follow reads a part of the feed until it ends or ctx ends. It returns io.EOF if the other
// process ends.
func (c *Client) Follow(ctx context.Context, r feed.Range, fn func(feed.Item) error) error {
	q := url.Values{"from": {strconv.FormatUint(r.From, 10)}}
	if r.Until > 0 {
		q.Set("until", strconv.FormatUint(r.Until, 10))
	}
	if r.Task != "" {
		q.Set("task", string(r.Task))
	}
	if r.Run != "" {
		q.Set("run", string(r.Run))
	}
	for _, kind := range r.Kinds {
		q.Add("kind", kind)
	}
	resp, err := c.sendRequest(ctx, c.currentConnection(), http.MethodGet, "/api/v1/events?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return readError(resp)
	}
	err = readEvents(resp.Body, fn)
	if errors.Is(err, errStreamEnd) {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (c *Client) sendRequest(
	ctx context.Context, way connection, method, path string, body any,
) (*http.Response, error) {
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		bound := way.maxBody
		if c, ok := body.(CommandEnvelope); ok && bound > 0 {
			bound = bodyBound(c.Kind)
		}
		if bound > 0 && len(b) > bound { // the server would close the connection in the middle of it
			return nil, tooLarge(int64(bound))
		}
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://office"+path, r)
	if err != nil {
		return nil, err
	}
	resp, err := way.http.Do(req)
	if err != nil {
		return nil, company.E(company.EHeld, "the process that holds the office does not answer").Wrap(err)
	}
	c.updateClock(resp.Header)
	return resp, nil
}

func (c *Client) callJSON(ctx context.Context, method, path string, body, out any) error {
	for tries := 0; ; tries++ {
		way := c.currentConnection()
		err := c.callOver(ctx, way, method, path, body, out)
		if company.CodeOf(err) != company.EHeld || c.reconnect == nil || way.close != nil || ctx.Err() != nil ||
			tries == mostReconnects {
			// If way.close is set, this process has the office.
			return err
		}
		if err := c.replaceConnection(ctx, way.http); err != nil {
			return err
		}
	}
}

func (c *Client) callOver(ctx context.Context, way connection, method, path string, body, out any) error {
	if way.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, way.timeout)
		defer cancel()
	}
	resp, err := c.sendRequest(ctx, way, method, path, body)
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
