package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"time"

	"company/internal/adapters"
)

// askFor bounds a question that generates nothing.
const askFor = 10 * time.Second

// Ask sends a question that generates nothing (which models there are, what one
// can do) and reads its one JSON document. send, when not nil, is posted as
// JSON. Failures are *adapters.Error.
func (c *Client) Ask(ctx context.Context, address string, header http.Header, send, into any) error {
	return c.Question(ctx, func(ctx context.Context) error {
		resp, err := c.sendRequest(ctx, address, header, send)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		ex, _ := ctx.Value(key{}).(*Exchange)
		data, err := ex.ReadRest(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			return err
		}
		if ex.Said = ErrorIn(data); ex.Said != nil {
			return nil
		}
		return json.Unmarshal(data, into)
	})
}

// Question is an exchange in which nothing is generated: ask makes one request
// with this client's HTTP, under the context that it is given. Failures are
// *adapters.Error.
func (c *Client) Question(ctx context.Context, ask func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	ctx, ex := c.Begin(ctx)
	defer ex.End()
	err := ask(ctx)
	if err == nil && ex.Status == http.StatusOK && ex.Said == nil {
		return nil
	}
	err = ex.Failure(err)
	if errors.Is(err, context.DeadlineExceeded) && adapters.KindOf(err) == "" { // our own end
		return &adapters.Error{Kind: adapters.TimedOut, Status: ex.Status, Message: "no answer in time", Err: context.Cause(ctx)}
	}
	return err
}

// sendRequest makes one request of an exchange: a GET, or a POST of send as JSON.
func (c *Client) sendRequest(ctx context.Context, address string, header http.Header, send any) (*http.Response, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if send != nil {
		data, err := json.Marshal(send)
		if err != nil {
			return nil, err
		}
		method, body = http.MethodPost, bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	if send != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return c.HTTP.Do(req)
}
