package forgetest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// faultProxy is what stands before a forge, a fake one or a real: it notes requests
// and carries out faults.
type faultProxy struct {
	done chan struct{} // closed when the test ends

	mu       sync.Mutex
	faults   []*Fault
	requests []*Request
	waiting  int
}

func newFaultProxy() *faultProxy { return &faultProxy{done: make(chan struct{})} }

// Request is one that came in.
type Request struct {
	Method, Path string
	Code         int  // 0: it was cut
	Auth         bool // it carried a login
}

// Fault is a way in which a forge misbehaves.
type Fault struct {
	Method, Path string // of the requests that meet it; Path is a part of it
	Times        int    // how often; 0: once
	Code         int    // answer with this; 0: cut the connection
	Header       map[string]string
	Body         string
	After        bool          // carry out the request, and only then fail
	Delay        time.Duration // before the answer
}

// AddFault adds a fault.
func (f *faultProxy) AddFault(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault.Times = max(1, fault.Times)
	f.faults = append(f.faults, &fault)
}

// Requests are the requests of a method whose path holds part.
func (f *faultProxy) Requests(method, part string) []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Request
	for _, r := range f.requests {
		if (method == "" || r.Method == method) && strings.Contains(r.Path, part) {
			out = append(out, *r)
		}
	}
	return out
}

// DelayedRequests is how many faults have come to their delay.
func (f *faultProxy) DelayedRequests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting
}

// ClearFaults ends all faults.
func (f *faultProxy) ClearFaults() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// ClearRequests empties what Requests tells.
func (f *faultProxy) ClearRequests() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = nil
}

// wrapHandler notes requests and carries out faults.
func (f *faultProxy) wrapHandler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		var hit *Fault
		for _, one := range f.faults {
			if one.Times > 0 && (one.Method == "" || one.Method == r.Method) && strings.Contains(r.URL.Path, one.Path) {
				one.Times--
				hit = one
				break
			}
		}
		asked := &Request{Method: r.Method, Path: r.URL.Path, Auth: r.Header.Get("Authorization") != ""}
		f.requests = append(f.requests, asked) // before the client can go on
		f.mu.Unlock()
		rec := &recorder{ResponseWriter: w, onHeader: func(code int) {
			f.mu.Lock()
			defer f.mu.Unlock()
			asked.Code = code
		}}
		if hit == nil {
			next.ServeHTTP(rec, r)
			return
		}
		// A client that goes away is noticed once its request is read.
		body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if hit.After {
			next.ServeHTTP(&recorder{ResponseWriter: httptest.NewRecorder()}, r)
		}
		if hit.Delay > 0 {
			f.mu.Lock()
			f.waiting++
			f.mu.Unlock()
			select {
			case <-time.After(hit.Delay):
			case <-f.done:
			case <-r.Context().Done():
			}
		}
		if hit.Code == 0 {
			panic(http.ErrAbortHandler) // the connection is cut
		}
		for k, v := range hit.Header {
			rec.Header().Set(k, v)
		}
		if rec.Header().Get("Content-Type") == "" {
			rec.Header().Set("Content-Type", "application/json; charset=utf-8")
		}
		rec.WriteHeader(hit.Code)
		_, _ = rec.Write([]byte(hit.Body))
	})
}
