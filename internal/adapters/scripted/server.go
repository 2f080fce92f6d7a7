package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/company"
)

const (
	maxRequest    = 64 << 20
	maxLogged     = 2000     // number of requests kept
	maxLoggedBody = 64 << 10 // bytes kept of each
)

// Calls counts the received requests for replies, including faults.
type Calls struct {
	Total  int
	ByRole map[company.Role]int
	ByRun  map[company.RunID]int
}

// Logged is one request in the server's log.
type Logged struct {
	N      int // from 1
	At     time.Time
	Header adapters.Header
	Turn   int
	Bytes  int    // size of the whole body
	Body   []byte // its first 64 KiB
}

// Server speaks OpenAI's protocol on a loopback port, and others that an Option adds. One Responder answers all.
type Server struct {
	brain    Responder
	read     func(Exchange) (Exchange, error)
	write    func(Exchange, Answer) Answer
	listener net.Listener
	http     *http.Server
	routes   map[string]http.HandlerFunc // by pattern
	stop     context.CancelFunc          // ends replies that hang or wait
	served   chan struct{}

	mu     sync.Mutex
	calls  Calls
	log    []Logged
	faults map[faultKey]int
}

type faultKey struct {
	run  company.RunID
	turn int
}

// Option configures a Server.
type Option func(*Server)

// NewServer listens on a free port of 127.0.0.1 and serves until Close.
func NewServer(brain Responder, opts ...Option) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the scripted model: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	server := &Server{
		brain: brain, listener: listener, stop: stop, served: make(chan struct{}),
		calls:  Calls{ByRole: map[company.Role]int{}, ByRun: map[company.RunID]int{}},
		faults: map[faultKey]int{}, routes: map[string]http.HandlerFunc{},
	}
	server.Rewrite(func(x Exchange) (Exchange, error) { return x, nil }, func(_ Exchange, a Answer) Answer { return a })
	server.Speak("POST /v1/chat/completions", openAI)
	server.Handle("GET /v1/models", server.handleModels)
	server.Handle("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, "not_found", "no such address: "+r.Method+" "+r.URL.Path)
	})
	for _, o := range opts {
		o(server)
	}
	mux := http.NewServeMux()
	for pattern, handler := range server.routes {
		mux.HandleFunc(pattern, handler)
	}
	server.http = &http.Server{
		Handler: mux, ReadHeaderTimeout: 30 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		defer close(server.served)
		_ = server.http.Serve(listener) // ErrServerClosed, or the listener is gone: Close reports
	}()
	return server, nil
}

// URL returns the base_url of the server.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Close ends replies under way and waits for them. It may be called twice.
func (s *Server) Close() error {
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("shut the scripted model down: %w", err), s.http.Close())
	}
	<-s.served
	return err
}

// Calls returns a copy of the counts so far.
func (s *Server) Calls() Calls {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Calls{Total: s.calls.Total, ByRole: maps.Clone(s.calls.ByRole), ByRun: maps.Clone(s.calls.ByRun)}
}

// Requests returns a copy of the log: the last 2000 requests, oldest first.
func (s *Server) Requests() []Logged {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Logged(nil), s.log...)
}

// handleModels returns an empty list, because the server accepts any name.
func (s *Server) handleModels(w http.ResponseWriter, _ *http.Request) {
	WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{}})
}

// Handle adds an address, or replaces what answers there. The pattern is one of http.ServeMux.
func (s *Server) Handle(pattern string, handler http.HandlerFunc) { s.routes[pattern] = handler }

// Speak adds an address at which the model answers in a protocol.
func (s *Server) Speak(pattern string, p Protocol) { s.Handle(pattern, s.handleChat(p)) }

// Rewrite changes each request before the Responder sees it, and each answer before it is written.
func (s *Server) Rewrite(read func(Exchange) (Exchange, error), write func(Exchange, Answer) Answer) {
	s.read, s.write = read, write
}

// handleChat returns a handler for one protocol.
func (s *Server) handleChat(p Protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			p.Fail(w, http.StatusRequestEntityTooLarge, "invalid_request_error", "the request cannot be read: "+err.Error())
			return
		}
		exchange, err := p.Read(body)
		if err != nil {
			p.Fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
			return
		}
		if exchange, err = s.read(exchange); err != nil {
			p.Fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
			return
		}
		s.recordCall(exchange, body)
		reply := s.brain.Reply(exchange)
		if reply.Err != "" {
			p.Fail(w, http.StatusBadRequest, "script_error", reply.Err)
			return
		}
		delay, writing := reply.Delay, reply.Writing
		if !exchange.Stream {
			delay, writing = delay+writing, 0
		}
		if delay > 0 && !s.wait(r, delay) {
			return
		}
		answer, err := newAnswer(exchange, reply)
		if err != nil {
			p.Fail(w, http.StatusInternalServerError, "server_error", err.Error())
			return
		}
		answer = s.write(exchange, answer)
		switch {
		case reply.Fault != nil && s.isFaultDue(exchange, *reply.Fault):
			s.serveFault(w, r, p, answer, *reply.Fault)
		case exchange.Stream:
			p.writeStream(w, answer, false, writing, func(d time.Duration) bool { return s.wait(r, d) })
		default:
			WriteJSON(w, http.StatusOK, p.Whole(answer))
		}
	}
}

// wait waits for d. It returns false if the client or the server ended first.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done(): // also cancelled with the server's context
		return false
	}
}

func (s *Server) recordCall(exchange Exchange, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls.Total++
	if exchange.HasHeader {
		s.calls.ByRole[exchange.Header.Role]++
		s.calls.ByRun[exchange.Header.Run]++
	}
	s.log = append(s.log, Logged{
		N: s.calls.Total, At: time.Now(), Header: exchange.Header, Turn: exchange.Turn,
		Bytes: len(body), Body: append([]byte(nil), body[:min(len(body), maxLoggedBody)]...),
	})
	if len(s.log) > maxLogged {
		s.log = append([]Logged(nil), s.log[len(s.log)-maxLogged:]...)
	}
}

// isFaultDue counts a fault and reports whether this request gets it.
func (s *Server) isFaultDue(exchange Exchange, fault Fault) bool {
	if fault.Times == 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := faultKey{exchange.Header.Run, exchange.Turn}
	s.faults[key]++
	return s.faults[key] <= fault.Times
}

func (s *Server) serveFault(w http.ResponseWriter, r *http.Request, p Protocol, a Answer, fault Fault) {
	switch {
	case fault.Hang:
		<-r.Context().Done()
	case fault.Garbage:
		w.Header().Set("Content-Type", p.ContentType)
		_, _ = io.WriteString(w, "data: {\"choices\": [}\n\n")
	case fault.Cut:
		p.writeStream(w, a, true, 0, nil)
		panic(http.ErrAbortHandler) // breaks the connection
	default:
		for key, value := range fault.Headers {
			w.Header().Set(key, value)
		}
		if fault.Body == "" {
			p.Fail(w, fault.Status, "server_error", fmt.Sprintf("fault %d as scripted", fault.Status))
			return
		}
		w.WriteHeader(fault.Status)
		_, _ = io.WriteString(w, fault.Body)
	}
}

// WriteJSON writes a document.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func writeError(w http.ResponseWriter, status int, kind, message string) {
	WriteJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": kind, "code": nil}})
}
