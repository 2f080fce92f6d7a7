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

// askFor limits a request that generates no tokens.
const askFor = 10 * time.Second

// Ask sends a request that generates no tokens (a list of models, their capabilities) and decodes the JSON
// document of the answer. If send is not nil, it is posted as JSON. Failures are *adapters.Error.
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

// Question runs an exchange that generates no tokens. ask must send one request with this client's HTTP and the
// given context. Failures are *adapters.Error.
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
	if errors.Is(err, context.DeadlineExceeded) && adapters.KindOf(err) == "" { // the timeout of this function
		return &adapters.Error{Kind: adapters.TimedOut, Status: ex.Status, Message: "no answer in time",
			Err: context.Cause(ctx)}
	}
	return err
}

// sendRequest sends one request of an exchange: a GET, or a POST of send as JSON.
func (c *Client) sendRequest(
	ctx context.Context, address string, header http.Header, send any,
) (*http.Response, error) {
	if send != nil {
		return c.Post(ctx, address, header, send)
	}
	return c.do(ctx, http.MethodGet, address, header, nil)
}

// Post sends a document as JSON, under the context of an exchange. The caller closes the body of the answer.
func (c *Client) Post(ctx context.Context, address string, header http.Header, send any) (*http.Response, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // code contains many of the escaped characters, and servers count bytes
	if err := encoder.Encode(send); err != nil {
		return nil, err
	}
	header = header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/json")
	return c.do(ctx, http.MethodPost, address, header, &body)
}

func (c *Client) do(
	ctx context.Context, method, address string, header http.Header, body io.Reader,
) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	return c.HTTP.Do(req)
}
