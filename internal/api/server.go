// Package api serves HTTP with JSON. It answers processes of the same user on the office's socket,
// and browsers and programs with a token over TCP. It owns the wire format of the API, its client,
// and the access control. No data of an office is sent over TCP without a token. A command is
// answered after it is in the ledger. A feed misses no event. No answer has the state of the whole
// office. The package decides nothing: every request is a command to the company or a view of its
// state.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/lib/safetext"
	"company/internal/lib/secretscan"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/upkeep"
)

// Office is the office that the server serves, open in this process.
type Office interface {
	Source() view.Source // data for views of the current state
	DoID(ctx context.Context, id, actor string, c company.Command) ([]company.Event, error)
	Follow(ctx context.Context, r feed.Range, fn func(feed.Item) error) error
	// StreamTranscript calls emit for the entries of a run's transcript. With follow it continues
	// until the run ends.
	StreamTranscript(ctx context.Context, run company.RunID, follow bool, emit func(agent.TranscriptEntry) error) error
	// StreamRecord calls emit for each entry of the record from which a finished task is replayed.
	StreamRecord(ctx context.Context, id company.TaskID, emit func(replay.Entry) error) error
	// Verify reads the whole ledger and every blob, and returns the damage.
	Verify(ctx context.Context) (view.Verification, error)
	// CheckEvidence compares the claims of a task with what shows them.
	CheckEvidence(ctx context.Context, id string) (view.EvidenceCheck, error)
	// FindLeftovers lists the items that company cleanup would remove. recent is its --all.
	FindLeftovers(ctx context.Context, recent, unmerged bool) (upkeep.Report, error)
	// StartWork starts the work of the office in this process, unless it has started. It returns the
	// tasks that recovery: ask has paused.
	StartWork(ctx context.Context) (paused []company.TaskID, err error)
	// RequestEnd asks this process to end. It returns EConflict if the process ends only by itself.
	RequestEnd() error
}

// ServerInfo describes the serving process.
type ServerInfo struct {
	Version string `json:"version"`
	Office  string `json:"office"`
	PID     int    `json:"pid"`
	Epoch   uint64 `json:"epoch"`
	Serving bool   `json:"serving"` // company serve, which runs until it is stopped
	AtWork  bool   `json:"at_work"` // work has started in the process
	// Busy is set if the process works on a task, or a task can continue without a person.
	Busy bool `json:"busy"`
	// Others is the number of other requests that the process answers now.
	Others int `json:"others,omitempty"`
	// Foreground is set if the process ends with the command that started it.
	Foreground bool `json:"foreground,omitempty"`
	// Passing is set if that command does no work. The process then starts none for others.
	Passing bool `json:"passing,omitempty"`
	// ReadOnly is set if the config did not load. The process then answers reads and refuses commands.
	ReadOnly bool `json:"read_only,omitempty"`
	// Config is the hash of the config with which the process was started.
	Config company.Hash `json:"config,omitempty"`
	// Setup is a hash of the program, the config and the environment with which the process was started.
	// It is empty over TCP.
	Setup string `json:"setup,omitempty"`
	// Runtime is the container runtime. It is empty if no work has started.
	Runtime string `json:"container_runtime,omitempty"`
	// Address is the TCP address: scheme, host and port. It is empty without one. Asking on the
	// socket is the only way to verify that a port belongs to this office.
	Address string `json:"address,omitempty"`
}

// CommandEnvelope is an encoded command with its kind.
type CommandEnvelope struct {
	ID      string          `json:"id"` // makes repeats harmless
	Kind    string          `json:"kind"`
	Command json.RawMessage `json:"command"`
}

// commandKind returns the kind of a command.
func commandKind(command company.Command) (string, error) {
	for _, commandCodec := range commandCodecs {
		if commandCodec.matches(command) {
			return commandCodec.kind, nil
		}
	}
	return "", company.E(company.EInternal, fmt.Sprintf("%T is not a command of people", command))
}

// timeHeader has the office's time in every answer. The wall clock may differ, and ages use the
// office's time.
const timeHeader = "Office-Time"

// maxBody limits a request on the wire, in bytes. An instruction may have 256 KiB.
const maxBody = 1 << 20

// maxSubmission limits a submission on the wire, with its files in base64.
const maxSubmission = company.MaxAttachedBytes/3*4 + 2*maxBody

// boundBodies limits the body size of each request.
func boundBodies(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bound := int64(maxBody)
		switch r.URL.Path {
		case "/api/v1/commands", "/api/v1/submissions":
			bound = maxSubmission
		}
		r.Body = http.MaxBytesReader(w, r.Body, bound)
		h.ServeHTTP(w, r)
	})
}

// bodyBound returns the size limit for a command of a kind, in bytes.
func bodyBound(kind string) int {
	if kind == "submit" {
		return maxSubmission
	}
	return maxBody
}

// tooLarge returns the error for a command that exceeds its size limit.
func tooLarge(bound int64) *company.Error {
	return company.E(company.EInvalid,
		fmt.Sprintf("the command is larger than the limit of %d MiB", bound>>20)).
		Fix("shorten its text")
}

// Server serves one office.
type Server struct {
	office   Office
	desk     Desk // may be nil
	info     ServerInfo
	log      *slog.Logger
	secrets  *secretscan.Scanner // masks what is shown
	http     *http.Server
	tcp      *tcpServer // nil if there is only the socket
	stopped  chan struct{}
	inFlight sync.WaitGroup // running requests
	usage    usage

	ending context.Context // done when the server stops; ends streams and long reads
	end    context.CancelFunc

	limits    tcpLimits
	beatEvery time.Duration
}

// New returns a server. Call Start to serve requests. secrets masks what is shown; it may be nil.
func New(o Office, h ServerInfo, log *slog.Logger, secrets *secretscan.Scanner) *Server {
	server := &Server{office: o, info: h, log: log, secrets: secrets, stopped: make(chan struct{}),
		limits: defaultTCPLimits, beatEvery: beatEvery, usage: usage{ended: time.Now()}}
	server.ending, server.end = context.WithCancel(context.Background())
	server.http = &http.Server{Handler: boundBodies(server.newHandler(nil)), ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	return server
}

// newHandler returns the handler without a size limit for requests. The page, if any, serves paths
// outside the API.
func (s *Server) newHandler(page http.Handler) http.Handler {
	mux := http.NewServeMux()
	for _, route := range Routes() {
		mux.HandleFunc(route.Method+" /api/v1/"+route.Path,
			func(w http.ResponseWriter, r *http.Request) { route.serve(s, w, r) })
	}
	mux.HandleFunc("GET /metrics", s.serveMetrics)
	mux.HandleFunc("GET /sse/global", s.serveEvents)
	mux.HandleFunc("GET /sse/runs/{id}", s.serveRunEvents)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		ofPage := page != nil && !isAPIPath(r.URL.Path)
		if ofPage && readsOnly(r) {
			page.ServeHTTP(w, r)
			return
		}
		problem := NewProblem(
			company.E(company.ENotFound, "there is no "+safetext.EscapeLine(r.Method, 20)+" "+
				safetext.EscapeLine(r.URL.Path, 100)).Fix(s.sameVersion()))
		if allowed := allowedMethods(mux, r, ofPage); allowed != "" {
			w.Header().Set("Allow", allowed)
			problem.Status = http.StatusMethodNotAllowed
		}
		writeProblem(w, problem)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = shownWriter{w, s.secrets}
		s.inFlight.Add(1)
		defer s.inFlight.Done()
		defer s.usage.beginRequest()()
		w.Header().Set(timeHeader, s.office.Source().Now.Format(time.RFC3339Nano))
		if readsOnly(r) {
			// The request has been read. The deadline would end an answer that takes long.
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
			ctx, cancel := context.WithCancelCause(r.Context())
			defer cancel(nil)
			defer context.AfterFunc(s.ending, func() { cancel(errEnding) })()
			r = r.WithContext(ctx)
		}
		if err := s.compareVersions(r); err != nil {
			writeError(w, err)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// readsOnly reports whether a request is read-only, by its method.
func readsOnly(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

// allowedMethods returns the value of the header Allow for the path of a request, or "" if the
// path is unknown.
func allowedMethods(mux *http.ServeMux, r *http.Request, ofPage bool) string {
	if ofPage {
		return "GET, HEAD"
	}
	var all []string
	for method, names := range map[string]string{http.MethodGet: "GET, HEAD", http.MethodPost: "POST"} {
		if _, pattern := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "/" &&
			pattern != "" {
			all = append(all, names)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// Start serves on listener until Stop.
func (s *Server) Start(listener net.Listener) {
	go func() {
		defer close(s.stopped)
		if err := s.http.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("socket closed", "err", err)
		}
	}()
}

// errEnding is the error of a read request that is cancelled when the server stops.
var errEnding = company.E(company.EHeld, "the company that was at work has ended").Fix("try again")

// orEnding returns err, or errEnding if the server's stop cancelled the request.
func orEnding(r *http.Request, err error) error {
	if cause := context.Cause(r.Context()); errors.Is(cause, errEnding) {
		return cause
	}
	return err
}

// lastAnswers limits how long a stopping server waits for the answers to its last commands.
const lastAnswers = 2 * time.Second

// Stop stops the server and waits for all requests. The office may be closed afterwards. Read
// requests are cancelled at once. Running commands are answered first, often including the one
// that ended the last task.
func (s *Server) Stop() {
	s.end()
	ctx, cancel := context.WithTimeout(context.Background(), lastAnswers)
	var over sync.WaitGroup
	if s.tcp != nil {
		s.tcp.bounded.endWrites(lastAnswers)
		over.Go(func() { endServer(ctx, s.tcp.http); <-s.tcp.stopped })
	}
	endServer(ctx, s.http)
	<-s.stopped
	over.Wait()
	cancel()
	s.inFlight.Wait()
}

// endServer lets running requests finish until ctx ends. Then it closes their connections, which
// cancels their contexts.
func endServer(ctx context.Context, h *http.Server) {
	_ = h.Shutdown(ctx) // the next line closes the remaining connections
	_ = h.Close()
}

// versionHeader has the version for which a page was built.
const versionHeader = "Company-Client"

// compareVersions returns EConflict if a client names a version other than this process's. It
// permits hello requests. For clients that name no version, such as the command line, only the
// fields of their requests are checked.
func (s *Server) compareVersions(r *http.Request) error {
	version := r.Header.Get(versionHeader)
	if version == "" || version == s.info.Version || r.URL.Path == "/api/v1/hello" || !isAPIPath(r.URL.Path) {
		return nil
	}
	return company.E(company.EConflict,
		"this page is of company "+safetext.EscapeLine(version, 40)+", and the office is served by company "+s.info.Version).
		Fix("reload the page; if that does not help, stop company and start the newer version")
}

func (s *Server) serveInfo(w http.ResponseWriter, r *http.Request) {
	serverInfo, src := s.info, s.source()
	if cameByToken(r.Context()) {
		serverInfo.Setup = "" // only local clients need it
	}
	serverInfo.Epoch, serverInfo.Runtime = src.State.Office.Epoch, src.Runtime
	serverInfo.AtWork, serverInfo.Busy = src.AtWork, src.AtWork && src.IsBusy()
	serverInfo.Others = s.usage.countRunning() - 1
	writeJSON(w, serverInfo)
}

// source returns the data for views of the current state. Before work has started it omits the
// agents' last activities.
func (s *Server) source() view.Source {
	src := s.office.Source()
	if !src.AtWork {
		src.Activities = nil
	}
	return src
}

// WorkStart is the answer to a request that starts the work of an office.
type WorkStart struct {
	Paused []company.TaskID `json:"paused"` // tasks that recovery: ask has paused
}

func (s *Server) serveWork(w http.ResponseWriter, r *http.Request) {
	paused, err := s.office.StartWork(context.WithoutCancel(r.Context())) // a client that leaves does not undo it
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, WorkStart{Paused: append([]company.TaskID{}, paused...)})
}

func (s *Server) serveEnd(w http.ResponseWriter, r *http.Request) {
	src, unless := s.source(), EndUnless(r.URL.Query().Get("unless"))
	if src.AtWork && (unless == UnlessAtWork || unless == UnlessBusy && src.IsBusy()) {
		writeError(w, company.E(company.EConflict, "the company is at work").Fix("ask it to end without a condition"))
		return
	}
	if err := s.office.RequestEnd(); err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, struct{}{})
}

// handler serves one operation of the API.
type handler = func(*Server, http.ResponseWriter, *http.Request)

// onlyLocal rejects requests with a token. It returns a handler for operations on the process of the office.
func onlyLocal(serve handler) handler {
	return func(s *Server, w http.ResponseWriter, r *http.Request) {
		if cameByToken(r.Context()) {
			writeForbidden(w, company.E(company.EAccess, "a token cannot start or end the company").
				Because("only programs of the office's user on its machine can").Fix("use company on that machine"))
			return
		}
		serve(s, w, r)
	}
}

// sameVersion returns a hint for a process that requests an unknown operation.
func (s *Server) sameVersion() string {
	return fmt.Sprintf("the office is served by company %s (process %d): use that version, or stop it and start yours",
		s.info.Version, s.info.PID)
}

// CommandResult is the answer to a command.
type CommandResult struct {
	Events []company.Event `json:"events"`         // empty if the command changed nothing
	Task   company.TaskID  `json:"task,omitempty"` // task of a submission, also of a repeat
}

// readCommand reads a command that people may send.
func (s *Server) readCommand(r *http.Request) (id string, command company.Command, err error) {
	var envelope CommandEnvelope
	if err := decodeReader(r.Body, &envelope); err != nil {
		if large := new(http.MaxBytesError); errors.As(err, &large) {
			return "", nil, tooLarge(large.Limit)
		}
		return "", nil, company.E(company.EInvalid, "invalid request").Wrap(err).Fix(s.sameVersion())
	}
	i := slices.IndexFunc(commandCodecs, func(w commandCodec) bool { return w.kind == envelope.Kind })
	if i < 0 {
		return "", nil, company.E(company.EInvalid, fmt.Sprintf("unknown command %q", envelope.Kind)).Fix(s.sameVersion())
	}
	if command, err = commandCodecs[i].decode(envelope.Command); err != nil {
		return "", nil, company.E(company.EInvalid, "invalid fields of the command").Wrap(err).
			Fix(s.sameVersion())
	}
	if id, err = commandID(envelope.ID, r.Header.Values("Idempotency-Key")); err != nil {
		return "", nil, err
	}
	if edit, ok := command.(company.EditPlan); ok {
		if edit.Plan, err = s.restorePlan(edit.Plan, s.source().State.Tasks[edit.Task]); err != nil {
			return "", nil, err
		}
		command = edit
	}
	return id, command, nil
}

// commandID returns the id of a command, from its envelope, the header Idempotency-Key, or both.
func commandID(inBody string, keys []string) (string, error) {
	if len(keys) == 0 {
		return inBody, nil
	}
	if len(keys) > 1 || keys[0] == "" || inBody != "" && inBody != keys[0] {
		return "", company.E(company.EInvalid, "the request has more than one id for its command, or an empty one").
			Fix("send one Idempotency-Key, and no other id in the body")
	}
	return keys[0], nil
}

func (s *Server) serveCommand(w http.ResponseWriter, r *http.Request) {
	id, command, err := s.readCommand(r)
	if err != nil {
		writeError(w, err)
		return
	}
	if err := limitCommand(r.Context(), command); err != nil {
		writeForbidden(w, err)
		return
	}
	evs, err := s.office.DoID(r.Context(), id, company.President, command)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(
		w, CommandResult{Events: append([]company.Event{}, evs...),
			Task: s.office.Source().State.SubmittedBy(company.President, id)})
}

// serveTrial returns the events that a command would produce now. It writes nothing.
func (s *Server) serveTrial(w http.ResponseWriter, r *http.Request) {
	_, command, err := s.readCommand(r)
	if err != nil {
		writeError(w, err)
		return
	}
	if err := limitCommand(r.Context(), command); err != nil {
		writeForbidden(w, err)
		return
	}
	command, st, err := s.office.Source().WithArchives(command)
	if err != nil {
		writeError(w, err)
		return
	}
	evs, err := company.Decide(st, company.Meta{ID: "trial", Actor: company.President, Now: st.Time}, command)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, CommandResult{Events: append([]company.Event{}, evs...)})
}

func decodeReader(r io.Reader, v any) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return decodeStrict(b, v)
}

// decodeStrict decodes one JSON value. It rejects unknown fields and trailing data.
func decodeStrict(b []byte, v any) error {
	if len(b) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected data after the value")
	}
	return nil
}
