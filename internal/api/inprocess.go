package api

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
)

// InProcess returns a client of an office without a server. It accepts the same requests as other
// clients, whose answers must come to an end.
func InProcess(o Office) *Client {
	server := New(o, ServerInfo{}, slog.New(slog.DiscardHandler), nil)
	return &Client{way: connection{http: &http.Client{Transport: directTransport{server.newHandler(nil)}}}}
}

// directTransport passes requests to a handler of this process, and its whole answer back.
type directTransport struct{ handler http.Handler }

func (t directTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	a := &answer{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(a, r)
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Header: a.header, Body: io.NopCloser(&a.body), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
	}, nil
}

// answer is the ResponseWriter of a handler.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
func (a *answer) Flush()                      {}
