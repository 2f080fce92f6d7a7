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

// faultProxy runs in front of a fake or real forge. It records requests and injects faults.
type faultProxy struct {
	done chan struct{} // closed when the test ends

	mu       sync.Mutex
	faults   []*Fault
	requests []*Request
	waiting  int
}

func newFaultProxy() *faultProxy { return &faultProxy{done: make(chan struct{})} }

// Request is a received request.
type Request struct {
	Method, Path string
	Code         int  // 0 if the connection was cut
	Auth         bool // it carried a login
}

// Fault describes a misbehaviour of a forge.
type Fault struct {
	Method, Path string // the matching requests; Path is a substring
	Times        int    // how many requests fail; 0 means one
	Code         int    // status of the answer; 0 cuts the connection
	Header       map[string]string
	Body         string
	After        bool          // carry out the request before failing
	Delay        time.Duration // before the answer
}

// AddFault adds a fault.
func (f *faultProxy) AddFault(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault.Times = max(1, fault.Times)
	f.faults = append(f.faults, &fault)
}

// Requests returns the recorded requests of a method whose path contains part.
func (f *faultProxy) Requests(method, part string) []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Request
	for _, request := range f.requests {
		if (method == "" || request.Method == method) && strings.Contains(request.Path, part) {
			out = append(out, *request)
		}
	}
	return out
}

// DelayedRequests returns how many faults have reached their delay.
func (f *faultProxy) DelayedRequests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting
}

// ClearFaults removes all faults.
func (f *faultProxy) ClearFaults() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// ClearRequests removes the recorded requests.
func (f *faultProxy) ClearRequests() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = nil
}

// wrapHandler records requests and injects faults.
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
		f.requests = append(f.requests, asked) // recorded before the client can continue
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
		// A client that disconnects is noticed only after its request was read.
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
