package api

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
)

// InProcess returns a client of an office that this process holds without a running company. It
// accepts the same requests as other clients. Close waits for running requests and then calls end.
func InProcess(o Office, end func()) *Client {
	server := New(o, ServerInfo{}, slog.New(slog.DiscardHandler))
	server.atWork = false
	return &Client{
		way: connection{http: &http.Client{Transport: directTransport{server.newHandler(nil), &server.inFlight}},
			close: func() { server.inFlight.Wait(); end() }}}
}

// directTransport passes requests to a handler of this process.
type directTransport struct {
	handler  http.Handler
	inFlight *sync.WaitGroup
}

func (t directTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body, stream := io.Pipe()
	a := &answer{header: http.Header{}, stream: stream, begun: make(chan struct{})}
	t.inFlight.Go(func() {
		t.handler.ServeHTTP(a, r.WithContext(ctx))
		a.WriteHeader(http.StatusOK)
		_ = stream.Close() // never fails
	})
	select {
	case <-a.begun:
	case <-ctx.Done():
		cancel()
		_ = body.Close()
		return nil, context.Cause(r.Context())
	}
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Header: a.header, Body: directBody{body, cancel}, Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
	}, nil
}

// directBody cancels the request when its reader closes it.
type directBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b directBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// answer is the ResponseWriter of a handler.
type answer struct {
	header http.Header
	stream *io.PipeWriter
	once   sync.Once
	begun  chan struct{}
	status int
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	a.once.Do(func() {
		a.header = a.header.Clone() // the reader has a copy of its own
		a.status = status
		close(a.begun)
	})
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.stream.Write(p)
}

func (a *answer) Flush() {}
