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

// Server speaks the protocols of OpenAI, Ollama and Anthropic on a loopback port. One Responder answers all of
// them.
type Server struct {
	brain    Responder
	toolless bool
	listener net.Listener
	http     *http.Server
	stop     context.CancelFunc // ends replies that hang or wait
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

// WithoutTools returns an option for a model without tool support. The server refuses tools with a 400, and
// writes the brain's calls as text. Its brain is asked as if there were tools.
func WithoutTools() Option { return func(s *Server) { s.toolless = true } }

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
		faults: map[faultKey]int{},
	}
	for _, o := range opts {
		o(server)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", server.handleChat(openAI))
	mux.HandleFunc("POST /v1/messages", server.handleChat(anthropic))
	mux.HandleFunc("POST /api/chat", server.handleChat(ollama))
	mux.HandleFunc("GET /v1/models", server.handleModels)
	mux.HandleFunc("POST /api/show", server.handleShow)
	mux.HandleFunc("GET /api/tags", server.handleTags)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, "not_found", "no such address: "+r.Method+" "+r.URL.Path)
	})
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
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{}})
}

// handleShow describes any model with this server's capabilities.
func (s *Server) handleShow(w http.ResponseWriter, _ *http.Request) {
	capabilities := []string{"completion", "tools", "vision"}
	if s.toolless {
		capabilities = capabilities[:1]
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"capabilities": capabilities,
		"model_info":   map[string]any{"general.architecture": "scripted", "scripted.context_length": 131072},
	})
}

// handleTags lists the model that is used as the default.
func (s *Server) handleTags(w http.ResponseWriter, _ *http.Request) {
	writeJSON(
		w, http.StatusOK,
		map[string]any{"models": []any{map[string]any{"name": "scripted:latest", "model": "scripted:latest"}}})
}

// handleChat returns a handler for one protocol.
func (s *Server) handleChat(p protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			p.fail(w, http.StatusRequestEntityTooLarge, "invalid_request_error", "the request cannot be read: "+err.Error())
			return
		}
		exchange, err := p.read(body)
		if err != nil {
			p.fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
			return
		}
		if s.toolless {
			if len(exchange.Tools) > 0 {
				p.fail(w, http.StatusBadRequest, "invalid_request_error", exchange.Model+" does not support tools")
				return
			}
			exchange = fromText(exchange)
		}
		s.recordCall(exchange, body)
		reply := s.brain.Reply(exchange)
		if reply.Err != "" {
			p.fail(w, http.StatusBadRequest, "script_error", reply.Err)
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
			p.fail(w, http.StatusInternalServerError, "server_error", err.Error())
			return
		}
		if s.toolless {
			answer = answer.asText(exchange.Fence)
		}
		switch {
		case reply.Fault != nil && s.isFaultDue(exchange, *reply.Fault):
			s.serveFault(w, r, p, answer, *reply.Fault)
		case exchange.Stream:
			p.writeStream(w, answer, false, writing, func(d time.Duration) bool { return s.wait(r, d) })
		default:
			writeJSON(w, http.StatusOK, p.whole(answer))
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

func (s *Server) serveFault(w http.ResponseWriter, r *http.Request, p protocol, a answer, fault Fault) {
	switch {
	case fault.Hang:
		<-r.Context().Done()
	case fault.Garbage:
		w.Header().Set("Content-Type", p.contentType)
		_, _ = io.WriteString(w, "data: {\"choices\": [}\n\n")
	case fault.Cut:
		p.writeStream(w, a, true, 0, nil)
		panic(http.ErrAbortHandler) // breaks the connection
	default:
		for key, value := range fault.Headers {
			w.Header().Set(key, value)
		}
		if fault.Body == "" {
			p.fail(w, fault.Status, "server_error", fmt.Sprintf("fault %d as scripted", fault.Status))
			return
		}
		w.WriteHeader(fault.Status)
		_, _ = io.WriteString(w, fault.Body)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func writeError(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": kind, "code": nil}})
}
