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
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	ctx, ex := c.Begin(ctx)
	defer ex.End()
	method := http.MethodGet
	if send != nil {
		method = http.MethodPost
	}
	body, err := ex.sendRequest(method, address, header, send)
	if err == nil {
		defer body.Close()
		var data []byte
		if data, err = ex.readRest(body); err == nil {
			if ex.Said = findError(data); ex.Said == nil {
				err = json.Unmarshal(data, into)
			}
		}
	}
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

// Post sends a document as JSON. The caller closes the body of the answer, which is only returned with status 200.
func (ex *Exchange) Post(address string, header http.Header, document any) (io.ReadCloser, error) {
	return ex.sendRequest(http.MethodPost, address, header, document)
}

// Copy returns a reader of a reply that also copies it to the client whose request was forwarded. If f is nil, it
// returns body.
func (ex *Exchange) Copy(body io.Reader, f *adapters.Forwarded) io.Reader {
	if f == nil {
		return body
	}
	return io.TeeReader(body, f.Begin(ex.contentType))
}

var errStatus = errors.New("the server answered with an error")

// sendRequest sends one request, with a document as JSON if it is not nil, and records the answer's status, and the
// error of another one than 200.
func (ex *Exchange) sendRequest(method, address string, header http.Header, document any) (io.ReadCloser, error) {
	var body bytes.Buffer
	if document != nil {
		encoder := json.NewEncoder(&body)
		encoder.SetEscapeHTML(false) // code contains many of the escaped characters, and servers count bytes
		if err := encoder.Encode(document); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ex.ctx, method, address, &body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("Content-Type", "application/json")
	resp, err := ex.client.http.Do(req)
	if err != nil {
		return nil, err
	}
	ex.Status, ex.host = resp.StatusCode, req.URL.Host
	ex.contentType = resp.Header.Get("Content-Type")
	if resp.StatusCode == http.StatusOK {
		left := int64(wireFactor * maxReply)
		if method == http.MethodGet { // a list of models, in one document
			left = maxLine
		}
		return &limitedBody{ReadCloser: tee{resp.Body, ex}, left: left, ex: ex}, nil
	}
	defer resp.Body.Close()
	ex.RetryAfter = retryAfter(resp.Header, time.Now())
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil && len(said) == 0 {
		return nil, err
	}
	ex.Said = ParseServerError(said)
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode/100 == 3 {
		ex.Said = &ServerError{Message: "the server redirects to " + to + ": put that into base_url if it is right"}
	}
	return nil, errStatus
}
