// Package relay answers the requests to a model that a program in a sandbox makes, from the server of a model profile.
//
// It promises that the program gets no key, that every request is reserved and journaled before it is sent and settled
// afterwards, and that nothing passes whose cost has no bound (hosted tools, addresses, ids of files, other models).
// The reply is copied as it comes. Who may use it, and when, is up to the gateway.
package relay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agent/budget"
	"company/internal/company"
	"company/internal/lib/safetext"
)

const (
	maxBody     = 32 << 20 // bytes of a request, inflated
	maxRequests = 8        // at a time
	maxTold     = 100      // members and tools that are told to be left out

	countPath = "/v1/messages/count_tokens"
)

// wirePaths holds the path at which requests of a wire are answered.
var wirePaths = map[adapters.Wire]string{
	adapters.WireChat: "/v1/chat/completions", adapters.WireResponses: "/v1/responses",
	adapters.WireMessages: "/v1/messages",
}

// Config configures the relay of one run. All parts but OnPause and OnRefused are required.
type Config struct {
	Models    agent.ModelOpener // opens the model that is asked
	Allowance *budget.Allowance // pays for the requests
	Log       *agent.ProgramLog
	MaxTurns  int           // replies to requests with tools
	Hold      time.Duration // the longest time that a request waits silently for money or for the model's server
	Halt      func() error  // as in agent.Job
	// OnPause is called before a request with tools is sent while no other one waits. The program waits, too.
	OnPause   func()
	OnRefused func(detail string)
}

// Relay serves one run. It is an http.Handler.
type Relay struct {
	cfg    Config
	info   adapters.Info
	wires  []adapters.Wire // in which the model can be asked
	ctx    context.Context // ends all requests
	cancel context.CancelCauseFunc
	slots  chan struct{}
	active sync.WaitGroup
	learnt adapters.Learnt // of the server, by the requests of this run

	reading sync.Mutex // held while a request is checked, which takes memory

	mu      sync.Mutex
	closed  bool
	ended   error     // why it serves no more
	endedAt time.Time // zero while it does
	open    int       // requests that wait for the model
	tooled  int       // of them, those with tools
	newest  time.Time // when a request last began or ended
	asked   int       // requests so far that asked the model
	told    map[string]bool
	since   time.Time // of the first wait for the server without a reply since, zero without one
}

// ErrTurns ends a relay whose run is out of turns.
var ErrTurns = errors.New("the run is out of turns")

// errClosed is the cause with which Close ends requests.
var errClosed = errors.New("the run has ended")

// New opens the model. It returns an error if requests cannot be passed on to it.
func New(ctx context.Context, cfg Config) (*Relay, error) {
	model, err := cfg.Models.OpenModel(func(m adapters.Model) adapters.Model { return m })
	if err != nil {
		return nil, err
	}
	forwarder := adapters.FindForwarder(model)
	if forwarder == nil {
		info := model.Info()
		return nil, company.E(company.EConfig,
			fmt.Sprintf("requests of a program cannot be passed on to %s %s", info.Adapter, info.Model)).
			Fix("name a profile with adapter openai or anthropic in via; Ollama serves adapter openai at base_url " +
				"http://127.0.0.1:11434/v1").NeedsPerson()
	}
	adapters.Prepare(ctx, model)
	r := &Relay{cfg: cfg, info: model.Info(), wires: forwarder.Wires(), slots: make(chan struct{}, maxRequests),
		told: map[string]bool{}}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	return r, nil
}

// Info describes the model.
func (r *Relay) Info() adapters.Info { return r.info }

// Close ends all requests, settles them and waits for that.
func (r *Relay) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel(errClosed)
	r.active.Wait()
}

// State describes a relay at one moment.
type State struct {
	Open    int       // requests that wait for the model
	Newest  time.Time // when a request began or ended, zero without any
	Asked   int       // requests so far that asked the model
	Ended   error     // why it serves no more, nil while it does
	EndedAt time.Time
}

// State returns the current state.
func (r *Relay) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return State{Open: r.open, Newest: r.newest, Asked: r.asked, Ended: r.ended, EndedAt: r.endedAt}
}

// endServing records why no more requests are served. The first reason counts.
func (r *Relay) endServing(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended, r.endedAt = err, time.Now()
	}
}

// ServeHTTP answers one request. Its path is the one behind the base URL.
func (r *Relay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if err := r.countRequest(); err != nil {
		writeError(w, r.wires[0], http.StatusBadRequest, err.Error())
		return
	}
	defer r.active.Done()
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-r.ctx.Done():
		writeError(w, r.wires[0], http.StatusBadRequest, errClosed.Error())
		return
	case <-request.Context().Done():
		return
	}
	switch request.Method + " " + request.URL.Path {
	case "GET /v1/models":
		r.listModels(w)
	case "POST " + countPath:
		r.countTokens(w, request)
	case "POST " + wirePaths[adapters.WireChat]:
		r.answerRequest(w, request, adapters.WireChat)
	case "POST " + wirePaths[adapters.WireResponses]:
		r.answerRequest(w, request, adapters.WireResponses)
	case "POST " + wirePaths[adapters.WireMessages]:
		r.answerRequest(w, request, adapters.WireMessages)
	default:
		what := fmt.Sprintf("%s %.200q is not served to programs", request.Method, request.URL.Path)
		if r.cfg.OnRefused != nil {
			r.cfg.OnRefused(what)
		}
		writeError(w, r.wires[0], http.StatusNotFound, what)
	}
}

// countRequest counts a request. It returns why it is not served.
func (r *Relay) countRequest() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return errClosed
	case r.ended != nil:
		return r.ended
	}
	r.active.Add(1)
	r.newest = time.Now()
	return nil
}

// answerRequest passes one request on.
func (r *Relay) answerRequest(w http.ResponseWriter, request *http.Request, wire adapters.Wire) {
	if !slices.Contains(r.wires, wire) {
		writeError(w, wire, http.StatusNotFound, r.info.Model+" is asked at "+wirePaths[r.wires[0]])
		return
	}
	document, err := r.readRequest(w, request, wire)
	if err == nil {
		r.tellLeft(document.left)
		err = r.beginAsking(document.tools)
	}
	if err != nil {
		writeError(w, wire, http.StatusBadRequest, err.Error())
		return
	}
	defer r.endAsking(document.tools)
	if r.cfg.OnPause != nil && document.tools && r.State().Open == 1 {
		r.cfg.OnPause()
	}
	c := &call{relay: r, document: document, w: w}
	c.finishCall(request.Context(), c.askModel(request.Context()))
}

// readRequest reads and checks a request.
func (r *Relay) readRequest(w http.ResponseWriter, request *http.Request, wire adapters.Wire) (rewritten, error) {
	data, err := r.readBody(w, request)
	if err != nil {
		return rewritten{}, err
	}
	r.reading.Lock()
	defer r.reading.Unlock()
	return rewriteRequest(wire, data, request.Header)
}

// beginAsking lets a request ask the model. It returns why it may not.
func (r *Relay) beginAsking(tools bool) error {
	if err := r.cfg.Halt(); err != nil {
		r.endServing(err)
		return err
	}
	if !r.takeTurn(tools) {
		r.endServing(ErrTurns)
		return ErrTurns
	}
	return nil
}

// takeTurn counts a request that asks the model, unless the run is out of turns.
func (r *Relay) takeTurn(tools bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if tools && r.cfg.Log.Turns()+r.tooled >= r.cfg.MaxTurns {
		return false
	}
	r.open++
	r.asked++
	if tools {
		r.tooled++
	}
	r.emitAsking()
	return true
}

// endAsking counts a request that has its answer.
func (r *Relay) endAsking(tools bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open--
	if tools {
		r.tooled--
	}
	r.newest = time.Now()
	if r.open > 0 { // the program still waits for the model
		r.emitAsking()
	}
}

// emitAsking shows that the model is being asked.
func (r *Relay) emitAsking() {
	r.cfg.Log.Emit(agent.Event{Kind: agent.TurnStarted, Turn: r.cfg.Log.Turns() + 1})
}

// tellLeft tells once of each member and tool that it was left out.
func (r *Relay) tellLeft(left []string) {
	r.mu.Lock()
	var fresh []string
	for _, what := range left {
		if !r.told[what] && len(r.told) < maxTold {
			r.told[what] = true
			fresh = append(fresh, what)
		}
	}
	r.mu.Unlock()
	if len(fresh) > 0 {
		r.cfg.Log.Emit(agent.Event{Kind: agent.Noted,
			Text: safetext.EscapeLine("left out of its requests to the model: "+strings.Join(fresh, ", "), 300)})
	}
}

// Waits ends a relay while the company waits for something that may take long.
type Waits struct {
	what    string
	worst   company.Amount // that an allowance lacks, zero for a wait for the server
	until   time.Time      // of the next attempt at the server
	longest time.Duration  // of all waits for the server
}

func (w *Waits) Error() string { return "the company waits for " + w.what }

// Await serves again after the relay has ended with a *Waits. It first waits for what that names: room in the budget,
// or the next attempt at the server. It returns an error if the server is away for too long or the budget is refused.
func (r *Relay) Await(ctx context.Context) error {
	r.mu.Lock()
	var waits *Waits
	errors.As(r.ended, &waits)
	since := r.since
	r.mu.Unlock()
	switch {
	case waits == nil:
		return nil
	case waits.worst != company.Amount{}:
		if err := r.cfg.Allowance.Reserve(ctx, waits.worst); err != nil {
			return err
		}
		r.cfg.Allowance.Settle(waits.worst, company.Amount{})
	case waits.longest > 0 && waits.until.Sub(since) > waits.longest:
		return adapters.Explain(&adapters.Error{Kind: adapters.Overloaded, Message: waits.what}, r.info)
	default:
		timer := time.NewTimer(time.Until(waits.until))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.endedAt = nil, time.Time{}
	return nil
}
