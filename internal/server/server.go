// Package server answers the commands of other processes of the same user on
// the office's socket: HTTP with JSON, no port. It owns the wire form of the
// API and its client. It promises that a command is answered after it is in
// the ledger, and that a feed misses no event. It decides nothing: every
// request is a command to the company or a look at its state.
package server

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
	"company/internal/orchestrator"
)

// Office is what the server serves: the open office of this process.
type Office interface {
	View() *company.State
	Now() time.Time // the office's time
	DoID(ctx context.Context, id, actor string, c company.Command) ([]company.Event, error)
	Follow(ctx context.Context, from uint64, fn func(orchestrator.Item) error) error
	Doings() []Doing
}

// Doing is what an agent is at in this moment. The ledger does not know it.
type Doing struct {
	Run   company.RunID `json:"run"`
	Turn  int           `json:"turn"`
	Doing string        `json:"doing"`
	Time  time.Time     `json:"time"`
}

// Hello says who answers.
type Hello struct {
	Version string `json:"version"`
	Office  string `json:"office"`
	PID     int    `json:"pid"`
	Epoch   uint64 `json:"epoch"`
	Serving bool   `json:"serving"` // it stays when its own task has ended
}

// Wire is a command on its way: its kind and its fields.
type Wire struct {
	ID      string          `json:"id"` // makes a repeat harmless
	Kind    string          `json:"kind"`
	Command json.RawMessage `json:"command"`
}

// wired is one kind of command on the wire.
type wired struct {
	kind string
	is   func(company.Command) bool
	read func(json.RawMessage) (company.Command, error)
}

func wire[T company.Command](kind string) wired {
	return wired{
		kind: kind,
		is:   func(c company.Command) bool { _, ok := c.(T); return ok },
		read: func(b json.RawMessage) (company.Command, error) {
			var c T
			err := decodeBytes(b, &c)
			return c, err
		},
	}
}

// commands that people may send; what the company's own hands bring in is not
// among them.
var commands = []wired{
	wire[company.Submit]("submit"), wire[company.Answer]("answer"), wire[company.Cancel]("cancel"), wire[company.Stop]("stop"),
	wire[company.Resume]("resume"), wire[company.Pause]("pause"), wire[company.RaiseBudget]("raise_budget"), wire[company.SettlePR]("settle_pr"), wire[company.HearPR]("hear_pr"),
	wire[company.Staff]("staff"), wire[company.AddProject]("add_project"), wire[company.RemoveProject]("remove_project"),
}

// kindOf names a command on the wire.
func kindOf(c company.Command) (string, error) {
	for _, w := range commands {
		if w.is(c) {
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
	office  Office
	hello   Hello
	log     *slog.Logger
	http    *http.Server
	stopped chan struct{}
	busy    sync.WaitGroup // requests under way
}

// New makes a server. It serves after Start.
func New(o Office, h Hello, log *slog.Logger) *Server {
	s := &Server{office: o, hello: h, log: log, stopped: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/hello", s.sayHello)
	mux.HandleFunc("GET /v1/state", s.state)
	mux.HandleFunc("GET /v1/held", s.held)
	mux.HandleFunc("POST /v1/commands", s.command)
	mux.HandleFunc("GET /v1/feed", s.feed)
	mux.HandleFunc("GET /v1/agents", s.agents)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.busy.Add(1)
		defer s.busy.Done()
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
	s.busy.Wait()
}

func (s *Server) sayHello(w http.ResponseWriter, _ *http.Request) {
	h := s.hello
	h.Epoch = s.office.View().Office.Epoch
	reply(w, http.StatusOK, h)
}

func (s *Server) state(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, s.office.View())
}

// Held is what a stop is about: it is small however long the history is.
type Held struct {
	Stopped bool            `json:"stopped"`
	Epoch   uint64          `json:"epoch"` // 0: nothing ever began
	Runs    []company.RunID `json:"runs"`  // that somebody holds
}

// HeldIn is what a state says of it.
func HeldIn(s *company.State) Held {
	h := Held{Stopped: s.Office.Stopped, Epoch: s.Office.Epoch, Runs: []company.RunID{}}
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

func (s *Server) held(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, HeldIn(s.office.View()))
}

func (s *Server) agents(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, s.office.Doings())
}

// Done is the answer to a command.
type Done struct {
	Events []company.Event `json:"events"`
	Task   company.TaskID  `json:"task,omitempty"` // of a submission, also of a repeated one
}

func (s *Server) command(w http.ResponseWriter, r *http.Request) {
	var in Wire
	if err := decode(http.MaxBytesReader(w, r.Body, maxBody), &in); err != nil {
		fail(w, company.E(company.EInvalid, "the request is not what was expected").Wrap(err))
		return
	}
	i := slices.IndexFunc(commands, func(w wired) bool { return w.kind == in.Kind })
	if i < 0 {
		fail(w, company.E(company.EInvalid, fmt.Sprintf("there is no command %q", in.Kind)))
		return
	}
	c, err := commands[i].read(in.Command)
	if err != nil {
		fail(w, company.E(company.EInvalid, "the command's fields are not what was expected").Wrap(err))
		return
	}
	evs, err := s.office.DoID(r.Context(), in.ID, company.President, c)
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, Done{Events: evs, Task: s.office.View().SubmittedBy(company.President, in.ID)})
}

// feed streams items as lines of JSON until the client goes away.
func (s *Server) feed(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.ParseUint(r.URL.Query().Get("from"), 10, 64)
	if err != nil {
		fail(w, company.E(company.EInvalid, "from is the number of an event"))
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
	_ = s.office.Follow(r.Context(), from, func(it orchestrator.Item) error {
		if err := enc.Encode(it); err != nil {
			return err
		}
		return flush.Flush()
	})
}

func decode(r io.Reader, v any) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return decodeBytes(b, v)
}

// decodeBytes reads one JSON value with known fields and nothing after it.
func decodeBytes(b []byte, v any) error {
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

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client is gone, or it has it
}

// status of an error code; what is not here is 500.
var status = map[company.Code]int{
	company.EInvalid: 400, company.EUsage: 400, company.EConfig: 400, company.ENotFound: 404, company.EConflict: 409,
	company.EStale: 409, company.EStopped: 409, company.EProtected: 403, company.EBudget: 409, company.EPlan: 400,
}

func fail(w http.ResponseWriter, err error) {
	var e *company.Error
	if !errors.As(err, &e) {
		e = company.E(company.EInternal, err.Error())
	} else {
		c := *e
		c.Message = err.Error()
		c.Why, c.Op = "", ""
		e = &c
	}
	st := status[e.Code]
	if st == 0 {
		st = http.StatusInternalServerError
	}
	reply(w, st, e)
}
