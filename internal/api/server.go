// Package api answers the commands of other processes of the same user on
// the office's socket: HTTP with JSON, no port. It owns the wire form of the
// API and its client. It promises that a command is answered after it is in
// the ledger, and that a feed misses no event. It decides nothing: every
// request is a command to the company or a look at its state.
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
	"strconv"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/feed"
	"company/internal/view"
)

// Office is what the server serves: the open office of this process.
type Office interface {
	View() *company.State
	Now() time.Time // the office's time
	DoID(ctx context.Context, id, actor string, c company.Command) ([]company.Event, error)
	Follow(ctx context.Context, from uint64, fn func(feed.Item) error) error
	Activities() []view.Activity
}

// ServerInfo describes the answering process.
type ServerInfo struct {
	Version string `json:"version"`
	Office  string `json:"office"`
	PID     int    `json:"pid"`
	Epoch   uint64 `json:"epoch"`
	Serving bool   `json:"serving"` // it stays when its own task has ended
}

// CommandEnvelope is a command on its way: its kind and its fields.
type CommandEnvelope struct {
	ID      string          `json:"id"` // makes a repeat harmless
	Kind    string          `json:"kind"`
	Command json.RawMessage `json:"command"`
}

// commandCodec is one kind of command on the wire.
type commandCodec struct {
	kind    string
	matches func(company.Command) bool
	decode  func(json.RawMessage) (company.Command, error)
}

func newCodec[T company.Command](kind string) commandCodec {
	return commandCodec{
		kind:    kind,
		matches: func(c company.Command) bool { _, ok := c.(T); return ok },
		decode: func(b json.RawMessage) (company.Command, error) {
			var c T
			err := decodeStrict(b, &c)
			return c, err
		},
	}
}

// commandCodecs that people may send; commands of the company's own parts are
// not among them.
var commandCodecs = []commandCodec{
	newCodec[company.Submit]("submit"), newCodec[company.Answer]("answer"), newCodec[company.Cancel]("cancel"), newCodec[company.Stop]("stop"),
	newCodec[company.Resume]("resume"), newCodec[company.Pause]("pause"), newCodec[company.RaiseBudget]("raise_budget"), newCodec[company.SettlePR]("settle_pr"), newCodec[company.RecordPRFeedback]("hear_pr"),
	newCodec[company.ScaleWorkers]("staff"), newCodec[company.AddProject]("add_project"), newCodec[company.RemoveProject]("remove_project"),
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

// maxBody bounds a request, in bytes. An instruction may be 256 KiB.
const maxBody = 1 << 20

// Server serves one office.
type Server struct {
	office   Office
	info     ServerInfo
	log      *slog.Logger
	http     *http.Server
	stopped  chan struct{}
	inFlight sync.WaitGroup // requests under way
}

// New makes a server. It serves after Start.
func New(o Office, h ServerInfo, log *slog.Logger) *Server {
	s := &Server{office: o, info: h, log: log, stopped: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/hello", s.serveInfo)
	mux.HandleFunc("GET /v1/state", s.serveState)
	mux.HandleFunc("GET /v1/held", s.serveActiveRuns)
	mux.HandleFunc("POST /v1/commands", s.serveCommand)
	mux.HandleFunc("GET /v1/feed", s.serveFeed)
	mux.HandleFunc("GET /v1/agents", s.serveActivities)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.inFlight.Add(1)
		defer s.inFlight.Done()
		w.Header().Set(timeHeader, s.office.Now().Format(time.RFC3339Nano))
		mux.ServeHTTP(w, r)
	})
	s.http = &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	return s
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

// Stop ends the server and every request, and waits for them: the office may
// be closed behind it.
func (s *Server) Stop() {
	_ = s.http.Close() // ends the connections, and with them the requests' contexts
	<-s.stopped
	s.inFlight.Wait()
}

func (s *Server) serveInfo(w http.ResponseWriter, _ *http.Request) {
	h := s.info
	h.Epoch = s.office.View().Office.Epoch
	writeJSON(w, http.StatusOK, h)
}

func (s *Server) serveState(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.office.View())
}

// ActiveRuns is what a stop is about: it is small however long the history is.
type ActiveRuns struct {
	Stopped bool            `json:"stopped"`
	Epoch   uint64          `json:"epoch"` // 0: nothing ever began
	Runs    []company.RunID `json:"runs"`  // that are held
}

// ActiveRunsIn is what a state says of it.
func ActiveRunsIn(s *company.State) ActiveRuns {
	h := ActiveRuns{Stopped: s.Office.Stopped, Epoch: s.Office.Epoch, Runs: []company.RunID{}}
	for _, t := range s.Tasks {
		for id, r := range t.Runs {
			if r.Held {
				h.Runs = append(h.Runs, id)
			}
		}
	}
	slices.Sort(h.Runs)
	return h
}

func (s *Server) serveActiveRuns(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, ActiveRunsIn(s.office.View()))
}

func (s *Server) serveActivities(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.office.Activities())
}

// CommandResult is the answer to a command.
type CommandResult struct {
	Events []company.Event `json:"events"`
	Task   company.TaskID  `json:"task,omitempty"` // of a submission, also of a repeated one
}

func (s *Server) serveCommand(w http.ResponseWriter, r *http.Request) {
	var in CommandEnvelope
	if err := decodeReader(http.MaxBytesReader(w, r.Body, maxBody), &in); err != nil {
		writeError(w, company.E(company.EInvalid, "the request is not what was expected").Wrap(err))
		return
	}
	i := slices.IndexFunc(commandCodecs, func(w commandCodec) bool { return w.kind == in.Kind })
	if i < 0 {
		writeError(w, company.E(company.EInvalid, fmt.Sprintf("there is no command %q", in.Kind)))
		return
	}
	c, err := commandCodecs[i].decode(in.Command)
	if err != nil {
		writeError(w, company.E(company.EInvalid, "the command's fields are not what was expected").Wrap(err))
		return
	}
	evs, err := s.office.DoID(r.Context(), in.ID, company.President, c)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, CommandResult{Events: evs, Task: s.office.View().SubmittedBy(company.President, in.ID)})
}

// serveFeed streams items as lines of JSON until the client goes away.
func (s *Server) serveFeed(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.ParseUint(r.URL.Query().Get("from"), 10, 64)
	if err != nil {
		writeError(w, company.E(company.EInvalid, "from is the number of an event"))
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	if err := flush.Flush(); err != nil {
		return
	}
	enc := json.NewEncoder(w)
	// It ends with the client or with the office: both are no error here.
	_ = s.office.Follow(r.Context(), from, func(it feed.Item) error {
		if err := enc.Encode(it); err != nil {
			return err
		}
		return flush.Flush()
	})
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

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client is gone, or it has it
}

// httpStatus of an error code; others are 500.
var httpStatus = map[company.Code]int{
	company.EInvalid: 400, company.EUsage: 400, company.EConfig: 400, company.ENotFound: 404, company.EConflict: 409,
	company.EStale: 409, company.EStopped: 409, company.EProtected: 403, company.EBudget: 409, company.EPlan: 400,
}

func writeError(w http.ResponseWriter, err error) {
	var e *company.Error
	if !errors.As(err, &e) {
		e = company.E(company.EInternal, err.Error())
	} else {
		c := *e
		c.Message = err.Error()
		c.Why, c.Op = "", ""
		e = &c
	}
	st := httpStatus[e.Code]
	if st == 0 {
		st = http.StatusInternalServerError
	}
	writeJSON(w, st, e)
}
