// Package api answers other processes of the same user on the office's socket, and over
// TCP browsers and programs that have a token: HTTP with JSON. It owns the wire form of the
// API, its client, and who may use it. It promises that nothing of an office goes over TCP
// without a token, that a command is answered after it is in the ledger, that a feed
// misses no event, and that no answer carries the state of the whole office. It
// decides nothing: every request is a command to the company or a view of its
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
	"company/internal/feed"
	"company/internal/replay"
	"company/internal/safetext"
	"company/internal/upkeep"
	"company/internal/view"
)

// Office is what the server serves: the open office of this process.
type Office interface {
	Source() view.Source // of the views of this moment
	DoID(ctx context.Context, id, actor string, c company.Command) ([]company.Event, error)
	Follow(ctx context.Context, r feed.Range, fn func(feed.Item) error) error
	// StreamTranscript gives the entries of a run's transcript; follow: also those
	// to come, until the run ends.
	StreamTranscript(ctx context.Context, run company.RunID, follow bool, emit func(agent.TranscriptEntry) error) error
	// StreamRecord gives the record that a finished task is replayed from.
	StreamRecord(ctx context.Context, id company.TaskID, emit func(replay.Entry) error) error
	// Verify reads the whole ledger and every blob, and returns the damage.
	Verify(ctx context.Context) (view.Verification, error)
	// FindLeftovers reports what company cleanup would remove; recent is its --all.
	FindLeftovers(ctx context.Context, recent, unmerged bool) (upkeep.Report, error)
}

// ServerInfo describes the answering process.
type ServerInfo struct {
	Version string `json:"version"`
	Office  string `json:"office"`
	PID     int    `json:"pid"`
	Epoch   uint64 `json:"epoch"`
	Serving bool   `json:"serving"` // it stays when its own task has ended
	// Runtime is what containers are made with; empty: no company is at work.
	Runtime string `json:"container_runtime,omitempty"`
	// Address is where it answers over TCP: scheme, host and port; empty: nowhere. Asked on the
	// socket, it is the one way to know that a port is this office's.
	Address string `json:"address,omitempty"`
}

// CommandEnvelope is a command on its way: its kind and its fields.
type CommandEnvelope struct {
	ID      string          `json:"id"` // makes a repeat harmless
	Kind    string          `json:"kind"`
	Command json.RawMessage `json:"command"`
}

// commandKind names a command on the wire.
func commandKind(c company.Command) (string, error) {
	for _, w := range commandCodecs {
		if w.matches(c) {
			return w.kind, nil
		}
	}
	return "", company.E(company.EInternal, fmt.Sprintf("%T is no command of people", c))
}

// timeHeader holds the office's time, in every answer: the wall clock may be
// another, and ages are of the office's time.
const timeHeader = "Office-Time"

// maxBody bounds a request on the wire, in bytes. An instruction may be 256 KiB.
// In process there is no such bound.
const maxBody = 1 << 20

// maxSubmission bounds a submission on the wire: its files travel as base64.
const maxSubmission = company.MaxAttachedBytes/3*4 + 2*maxBody

// boundBodies bounds the body of each request.
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

// bodyBound is how long a command of a kind may be when a client sends it.
func bodyBound(kind string) int {
	if kind == "submit" {
		return maxSubmission
	}
	return maxBody
}

// tooLarge is the error of a command that passes the bound of its request.
func tooLarge(bound int64) *company.Error {
	return company.E(company.EInvalid, fmt.Sprintf("the command is larger than the %d MiB that fit into a request", bound>>20)).
		Because("another process holds the office").Fix("shorten its text")
}

// Server serves one office.
type Server struct {
	office   Office
	desk     Desk // nil without one
	info     ServerInfo
	log      *slog.Logger
	http     *http.Server
	tcp      *tcpServer // nil: the socket alone
	atWork   bool       // a company is at work behind it
	stopped  chan struct{}
	inFlight sync.WaitGroup // requests under way

	ending context.Context // done when the server stops: what streams or reads for long ends
	end    context.CancelFunc

	limits    tcpLimits
	beatEvery time.Duration
}

// New makes a server. It serves after Start.
func New(o Office, h ServerInfo, log *slog.Logger) *Server {
	s := &Server{office: o, info: h, log: log, stopped: make(chan struct{}), atWork: true, limits: defaultTCPLimits, beatEvery: beatEvery}
	s.ending, s.end = context.WithCancel(context.Background())
	s.http = &http.Server{Handler: boundBodies(s.newHandler(nil)), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	return s
}

// newHandler answers requests of any size. Paths outside the API are the page's, where
// there is one.
func (s *Server) newHandler(page http.Handler) http.Handler {
	mux := http.NewServeMux()
	for _, route := range Routes() {
		mux.HandleFunc(route.Method+" /api/v1/"+route.Path, func(w http.ResponseWriter, r *http.Request) { route.serve(s, w, r) })
	}
	mux.HandleFunc("GET /metrics", s.serveMetrics)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		ofPage := page != nil && !isAPIPath(r.URL.Path)
		if ofPage && readsOnly(r) {
			page.ServeHTTP(w, r)
			return
		}
		p := problemOf(company.E(company.ENotFound, "there is no "+safetext.EscapeLine(r.Method, 20)+" "+safetext.EscapeLine(r.URL.Path, 100)).Fix(s.sameVersion()))
		if allowed := allowedMethods(mux, r, ofPage); allowed != "" {
			w.Header().Set("Allow", allowed)
			p.Status = http.StatusMethodNotAllowed
		}
		writeProblem(w, p)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.inFlight.Add(1)
		defer s.inFlight.Done()
		w.Header().Set(timeHeader, s.office.Source().Now.Format(time.RFC3339Nano))
		if readsOnly(r) {
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

// readsOnly reports whether a request changes nothing, by its method.
func readsOnly(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

// allowedMethods lists the methods that the path of a request has, as the header Allow names
// them; empty: the path is unknown.
func allowedMethods(mux *http.ServeMux, r *http.Request, ofPage bool) string {
	if ofPage {
		return "GET, HEAD"
	}
	var all []string
	for method, names := range map[string]string{http.MethodGet: "GET, HEAD", http.MethodPost: "POST"} {
		if _, pattern := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "/" && pattern != "" {
			all = append(all, names)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// Start serves on l until Stop.
func (s *Server) Start(l net.Listener) {
	go func() {
		defer close(s.stopped)
		if err := s.http.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("socket closed", "err", err)
		}
	}()
}

// errEnding is the answer to a request that reads on when the server stops.
var errEnding = company.E(company.EHeld, "the company that was at work has ended").Fix("do it again")

// orEnding is err, or errEnding where the stop of the server broke the request off.
func orEnding(r *http.Request, err error) error {
	if cause := context.Cause(r.Context()); errors.Is(cause, errEnding) {
		return cause
	}
	return err
}

// lastAnswers is how long a server that stops has for the answers to its last commands.
const lastAnswers = 2 * time.Second

// Stop ends the server and every request, and waits for them: the office may be closed
// behind it. What only reads ends at once. Commands under way are answered first: the one
// that ended the last task is often among them.
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

// endServer has a server answer requests under way until ctx ends, and then ends its
// connections, and with them the contexts of the requests.
func endServer(ctx context.Context, h *http.Server) {
	_ = h.Shutdown(ctx) // connections left at its end are closed by the next line
	_ = h.Close()
}

// versionHeader is where a page names the version that it was built of.
const versionHeader = "Company-Client"

// compareVersions refuses the request of a client that names another version than that of
// this process, hello apart. A client that names none is held by the fields of its requests
// alone, as the command line is. EConflict.
func (s *Server) compareVersions(r *http.Request) error {
	version := r.Header.Get(versionHeader)
	if version == "" || version == s.info.Version || r.URL.Path == "/api/v1/hello" || !isAPIPath(r.URL.Path) {
		return nil
	}
	return company.E(company.EConflict, "this page is of company "+safetext.EscapeLine(version, 40)+", and the office is served by company "+s.info.Version).
		Fix("load the page again; where that is no help, end the company and start the newer one")
}

func (s *Server) serveInfo(w http.ResponseWriter, _ *http.Request) {
	h := s.info
	h.Epoch = s.office.Source().State.Office.Epoch
	writeJSON(w, h)
}

// source is what the views of this moment are made from. Where no company is at
// work, the last activities of agents are left out.
func (s *Server) source() view.Source {
	src := s.office.Source()
	src.Runtime = s.info.Runtime
	if src.AtWork = s.atWork; !s.atWork {
		src.Activities = nil
	}
	return src
}

// sameVersion is what helps a process that asks for what this one does not know.
func (s *Server) sameVersion() string {
	return fmt.Sprintf("the office is served by company %s (process %d): use that version, or end it and start yours", s.info.Version, s.info.PID)
}

// CommandResult is the answer to a command.
type CommandResult struct {
	Events []company.Event `json:"events"`         // none: it was so already
	Task   company.TaskID  `json:"task,omitempty"` // of a submission, also of a repeated one
}

// readCommand reads a command that people may send.
func (s *Server) readCommand(r *http.Request) (id string, c company.Command, err error) {
	var in CommandEnvelope
	if err := decodeReader(r.Body, &in); err != nil {
		if large := new(http.MaxBytesError); errors.As(err, &large) {
			return "", nil, tooLarge(large.Limit)
		}
		return "", nil, company.E(company.EInvalid, "the request is not what was expected").Wrap(err).Fix(s.sameVersion())
	}
	i := slices.IndexFunc(commandCodecs, func(w commandCodec) bool { return w.kind == in.Kind })
	if i < 0 {
		return "", nil, company.E(company.EInvalid, fmt.Sprintf("there is no command %q", in.Kind)).Fix(s.sameVersion())
	}
	if c, err = commandCodecs[i].decode(in.Command); err != nil {
		return "", nil, company.E(company.EInvalid, "the command's fields are not what was expected").Wrap(err).Fix(s.sameVersion())
	}
	if id, err = commandID(in.ID, r.Header.Values("Idempotency-Key")); err != nil {
		return "", nil, err
	}
	return id, c, nil
}

// commandID is the id of a command, which stands in its envelope, in the header
// Idempotency-Key, or in both.
func commandID(inBody string, keys []string) (string, error) {
	if len(keys) == 0 {
		return inBody, nil
	}
	if len(keys) > 1 || keys[0] == "" || inBody != "" && inBody != keys[0] {
		return "", company.E(company.EInvalid, "the request has more than one id for its command, or an empty one").Fix("send one Idempotency-Key, and no other id in the body")
	}
	return keys[0], nil
}

func (s *Server) serveCommand(w http.ResponseWriter, r *http.Request) {
	id, c, err := s.readCommand(r)
	if err != nil {
		writeError(w, err)
		return
	}
	if err := limitCommand(r.Context(), c); err != nil {
		writeForbidden(w, err)
		return
	}
	evs, err := s.office.DoID(r.Context(), id, company.President, c)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, CommandResult{Events: append([]company.Event{}, evs...), Task: s.office.Source().State.SubmittedBy(company.President, id)})
}

// serveTrial tells what a command would do, as the core decides it now. Nothing
// is written.
func (s *Server) serveTrial(w http.ResponseWriter, r *http.Request) {
	_, c, err := s.readCommand(r)
	if err != nil {
		writeError(w, err)
		return
	}
	if err := limitCommand(r.Context(), c); err != nil {
		writeForbidden(w, err)
		return
	}
	c, st, err := s.office.Source().WithArchives(c)
	if err != nil {
		writeError(w, err)
		return
	}
	evs, err := company.Decide(st, company.Meta{ID: "trial", Actor: company.President, Now: st.Time}, c)
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

// decodeStrict reads one JSON value with known fields and nothing after it.
func decodeStrict(b []byte, v any) error {
	if len(b) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client is gone, or it has it
}
