package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
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
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	ctx, ex := c.Begin(ctx)
	defer ex.End()
	resp, err := c.Do(ctx, address, header, send)
	if err != nil {
		return ex.late(ctx, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return ex.late(ctx, err)
	}
	if ex.Said = ErrorIn(data); ex.Said != nil {
		return ex.Failure(nil)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return &adapters.Error{Kind: adapters.Garbage, Status: resp.StatusCode, Message: c.Hide(address + " answers with something else than JSON"), Err: err}
	}
	return nil
}

// late makes our own end of a question a failure of the server.
func (ex *Exchange) late(ctx context.Context, err error) error {
	err = ex.Failure(err)
	if errors.Is(err, context.DeadlineExceeded) && adapters.KindOf(err) == "" {
		return &adapters.Error{Kind: adapters.TimedOut, Status: ex.Status, Message: "no answer in time", Err: context.Cause(ctx)}
	}
	return err
}

// Do makes one request of an exchange: a GET, or a POST of send as JSON.
func (c *Client) Do(ctx context.Context, address string, header http.Header, send any) (*http.Response, error) {
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
	for key, values := range header {
		req.Header[key] = values
	}
	if send != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return c.HTTP.Do(req)
}
