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
	maxLogged     = 2000     // requests kept
	maxLoggedBody = 64 << 10 // bytes kept of each
)

// Calls counts the requests for replies that came in, faults included.
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
	Bytes  int    // of the whole body
	Body   []byte // its first 64 KiB
}

// Server speaks the protocols of OpenAI, Ollama and Anthropic on a loopback
// port, all from the same brain.
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

// Option changes what a server is.
type Option func(*Server)

// WithoutTools makes a server whose model takes no tools: it refuses them with
// a 400, and what the brain calls it writes as text. Its brain is asked as if
// there were tools.
func WithoutTools() Option { return func(s *Server) { s.toolless = true } }

// NewServer listens on a free port of 127.0.0.1 and serves until Close.
func NewServer(brain Responder, opts ...Option) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the scripted model: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{
		brain: brain, listener: listener, stop: stop, served: make(chan struct{}),
		calls:  Calls{ByRole: map[company.Role]int{}, ByRun: map[company.RunID]int{}},
		faults: map[faultKey]int{},
	}
	for _, o := range opts {
		o(s)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.handleChat(openAI))
	mux.HandleFunc("POST /v1/messages", s.handleChat(anthropic))
	mux.HandleFunc("POST /api/chat", s.handleChat(ollama))
	mux.HandleFunc("GET /v1/models", s.handleModels)
	mux.HandleFunc("POST /api/show", s.handleShow)
	mux.HandleFunc("GET /api/tags", s.handleTags)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, "not_found", "no such address: "+r.Method+" "+r.URL.Path)
	})
	s.http = &http.Server{
		Handler: mux, ReadHeaderTimeout: 30 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // ErrServerClosed, or the listener is gone: Close reports
	}()
	return s, nil
}

// URL is the base_url of the server.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Close ends the replies under way and waits for them. It may be called twice.
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

// Calls is a copy of the counts so far.
func (s *Server) Calls() Calls {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Calls{Total: s.calls.Total, ByRole: maps.Clone(s.calls.ByRole), ByRun: maps.Clone(s.calls.ByRun)}
}

// Requests is a copy of the log: the last 2000 requests, oldest first.
func (s *Server) Requests() []Logged {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Logged(nil), s.log...)
}

// handleModels lists one name: the server takes any.
func (s *Server) handleModels(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{}})
}

// handleShow tells of any model what this server is.
func (s *Server) handleShow(w http.ResponseWriter, _ *http.Request) {
	capabilities := []string{"completion", "tools", "vision"}
	if s.toolless {
		capabilities = capabilities[:1]
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"capabilities": capabilities, "model_info": map[string]any{"general.architecture": "scripted", "scripted.context_length": 131072},
	})
}

// handleTags lists the model that stands in where none is chosen.
func (s *Server) handleTags(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"models": []any{map[string]any{"name": "scripted:latest", "model": "scripted:latest"}}})
}

// handleChat answers over one protocol.
func (s *Server) handleChat(p protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			p.fail(w, http.StatusRequestEntityTooLarge, "invalid_request_error", "the request cannot be read: "+err.Error())
			return
		}
		x, err := p.read(body)
		if err != nil {
			p.fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
			return
		}
		if s.toolless {
			if len(x.Tools) > 0 {
				p.fail(w, http.StatusBadRequest, "invalid_request_error", x.Model+" does not support tools")
				return
			}
			x = fromText(x)
		}
		s.recordCall(x, body)
		reply := s.brain.Reply(x)
		if reply.Err != "" {
			p.fail(w, http.StatusBadRequest, "script_error", reply.Err)
			return
		}
		delay, writing := reply.Delay, reply.Writing
		if !x.Stream {
			delay, writing = delay+writing, 0
		}
		if delay > 0 && !s.wait(r, delay) {
			return
		}
		answer, err := newAnswer(x, reply)
		if err != nil {
			p.fail(w, http.StatusInternalServerError, "server_error", err.Error())
			return
		}
		if s.toolless {
			answer = answer.asText(x.Fence)
		}
		switch {
		case reply.Fault != nil && s.isFaultDue(x, *reply.Fault):
			s.serveFault(w, r, p, answer, *reply.Fault)
		case x.Stream:
			p.writeStream(w, answer, false, writing, func(d time.Duration) bool { return s.wait(r, d) })
		default:
			writeJSON(w, http.StatusOK, p.whole(answer))
		}
	}
}

// wait is false when the client or the server gave up.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done(): // also ends with the server's own
		return false
	}
}

func (s *Server) recordCall(x Exchange, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls.Total++
	if x.HasHeader {
		s.calls.ByRole[x.Header.Role]++
		s.calls.ByRun[x.Header.Run]++
	}
	s.log = append(s.log, Logged{
		N: s.calls.Total, At: time.Now(), Header: x.Header, Turn: x.Turn,
		Bytes: len(body), Body: append([]byte(nil), body[:min(len(body), maxLoggedBody)]...),
	})
	if len(s.log) > maxLogged {
		s.log = append([]Logged(nil), s.log[len(s.log)-maxLogged:]...)
	}
}

// isFaultDue counts a fault and reports whether this request gets it.
func (s *Server) isFaultDue(x Exchange, f Fault) bool {
	if f.Times == 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := faultKey{x.Header.Run, x.Turn}
	s.faults[key]++
	return s.faults[key] <= f.Times
}

func (s *Server) serveFault(w http.ResponseWriter, r *http.Request, p protocol, a answer, f Fault) {
	switch {
	case f.Hang:
		<-r.Context().Done()
	case f.Garbage:
		w.Header().Set("Content-Type", p.contentType)
		_, _ = io.WriteString(w, "data: {\"choices\": [}\n\n")
	case f.Cut:
		p.writeStream(w, a, true, 0, nil)
		panic(http.ErrAbortHandler) // the connection breaks, as a real one does
	default:
		for key, value := range f.Headers {
			w.Header().Set(key, value)
		}
		if f.Body == "" {
			p.fail(w, f.Status, "server_error", fmt.Sprintf("fault %d as scripted", f.Status))
			return
		}
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, f.Body)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that is gone needs no answer
}

func writeError(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": kind, "code": nil}})
}
