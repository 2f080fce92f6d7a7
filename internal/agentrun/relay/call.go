package relay

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agent/budget"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// call is one request of the program, with all attempts at its reply.
type call struct {
	relay    *Relay
	document rewritten
	w        http.ResponseWriter
	began    atomic.Bool // the program has a part of the reply

	// The outcome of the newest attempt.
	reply adapters.Response
	err   error

	cancel context.CancelCauseFunc
	mu     sync.Mutex
	waited time.Duration // so far, without the wait under way
	since  time.Time     // of the wait under way
	hold   *time.Timer   // ends it; nil without one
}

// tail is the time that a reply has to come to its end after the program has hung up or ended. A program hangs up as
// soon as it has what it needs, and the count of the tokens comes last.
const tail = time.Second

// askModel asks the model. The reply is written as it comes.
func (c *call) askModel(client context.Context) error {
	r := c.relay
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(client))
	c.cancel = cancel
	defer cancel(nil)
	defer context.AfterFunc(client, func() { c.cutSoon(context.Cause(client)) })()
	defer context.AfterFunc(r.ctx, func() { c.cutSoon(context.Cause(r.ctx)) })()
	defer c.setWaits(nil)
	model, err := r.cfg.Models.OpenModel(func(m adapters.Model) adapters.Model {
		return reserving{budget.Meter(forwarding{m, c}, r.cfg.Allowance, c), c}
	})
	if err != nil {
		return err
	}
	request := c.document.request
	if most := model.Info().MaxOutput; request.MaxTokens > most {
		request.MaxTokens = most
	}
	_, err = model.Chat(ctx, request, c.onEvent)
	if waits := (*Waits)(nil); err != nil && errors.As(context.Cause(ctx), &waits) {
		return waits
	}
	return err
}

// cutSoon cuts the request, after a while if its reply has begun.
func (c *call) cutSoon(cause error) {
	if !c.began.Load() {
		c.cancel(cause)
		return
	}
	time.AfterFunc(tail, func() { c.cancel(cause) })
}

// onEvent shows that the server is asked again later, or another one.
func (c *call) onEvent(event adapters.Event) {
	r, text := c.relay, safetext.EscapeLine(event.Reason, 200)
	switch {
	case event.Waiting > 0:
		r.mu.Lock()
		if r.since.IsZero() {
			r.since = time.Now()
		}
		r.mu.Unlock()
		c.setWaits(&Waits{what: "its model's server: " + text, until: time.Now().Add(event.Waiting),
			longest: event.Longest})
		r.cfg.Log.Emit(agent.Event{Kind: agent.Waiting, Wait: event.Waiting, Longest: event.Longest, Asked: event.Asked,
			Text: text})
	case event.Reason != "":
		r.cfg.Log.Emit(agent.Event{Kind: agent.Switched, Text: text})
	}
}

// setWaits records for what the company waits now, nil for nothing. A wait that the program would not sit out ends the
// call.
func (c *call) setWaits(waits *Waits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hold != nil {
		c.hold.Stop()
		c.waited += time.Since(c.since)
		c.hold = nil
	}
	if waits != nil {
		c.since = time.Now()
		// Money is mostly there at once, so also a late wait has a moment.
		left := max(c.relay.cfg.Hold-c.waited, min(c.relay.cfg.Hold, time.Second))
		c.hold = time.AfterFunc(left, func() { c.cancel(waits) })
	}
}

// reserving notes that an attempt waits for its allowance.
type reserving struct {
	adapters.Model
	c *call
}

func (m reserving) Chat(
	ctx context.Context, req adapters.Request, onEvent func(adapters.Event),
) (adapters.Response, error) {
	m.c.setWaits(&Waits{what: "room in its budget", worst: budget.WorstCase(req, m.Info())})
	return m.Model.Chat(ctx, req, onEvent)
}

// forwarding is a bare model that sends the program's request instead of the one that it is given.
type forwarding struct {
	adapters.Model
	c *call
}

func (m forwarding) Chat(
	ctx context.Context, req adapters.Request, _ func(adapters.Event),
) (adapters.Response, error) {
	c := m.c
	forwarder := adapters.FindForwarder(m.Model)
	if forwarder == nil || !slices.Contains(forwarder.Wires(), c.document.wire) {
		c.reply, c.err = adapters.Response{}, &adapters.Error{Kind: adapters.BadRequest, Status: http.StatusNotFound,
			Message: m.Info().Model + " does not speak the program's wire"}
		return c.reply, c.err
	}
	forwarded := adapters.Forwarded{Wire: c.document.wire, Body: c.document.body, Header: c.document.header,
		Begin: c.beginReply, Learnt: &c.relay.learnt}
	c.reply, c.err = forwarder.Forward(ctx, req, forwarded)
	var fault *adapters.Error
	var cut *adapters.Unfinished
	switch isCut := errors.As(c.err, &cut); {
	case c.began.Load() && errors.As(c.err, &fault):
		final := *fault
		final.Kind = adapters.BadRequest // the program has a part of the reply: nothing is tried again
		return c.reply, &final
	case isCut && !cut.Unsent && ctx.Err() != nil && (!forwarded.WantsStream() || c.isHidden(cut)):
		return c.reply, errCutWhole
	}
	c.reply.Finish = adapters.FinishStop // the program has the reply, so a fallback is of no use
	return c.reply, c.err
}

// isHidden reports whether a stream was cut before a part of its reply came. On the responses wire it begins before the
// model has thought, and thoughts are billed.
func (c *call) isHidden(cut *adapters.Unfinished) bool {
	return c.document.wire == adapters.WireResponses && c.began.Load() && cut.Received == 0
}

// errCutWhole ends a request for a whole reply that was cut. Its server may have written all of it, so it costs the
// worst case.
var errCutWhole = errors.New("relay: a request was cut, and its reply may be whole at the server")

// OpenCall implements budget.CallLog.
func (c *call) OpenCall(
	ctx context.Context, info adapters.Info, _ adapters.Request, worst company.Amount,
) (int, error) {
	c.setWaits(nil)
	return c.relay.cfg.Log.OpenCall(ctx, info.Model, c.document.hash, worst)
}

// CloseCall implements budget.CallLog.
func (c *call) CloseCall(ctx context.Context, n int, usage adapters.Usage, actual company.Amount) error {
	return c.relay.cfg.Log.CloseCall(ctx, n, agent.RelayedCall{Usage: usage, Spent: actual, Model: c.reply.Model,
		FirstByte: c.reply.FirstByte, Turn: c.document.tools && (c.err == nil || c.began.Load()), Err: c.err})
}

// beginReply returns the writer of the reply. A second reply is refused.
func (c *call) beginReply(contentType string) io.Writer {
	return &replyWriter{c: c, contentType: contentType, second: c.began.Load()}
}

// replyWriter writes a reply, piece by piece.
type replyWriter struct {
	c           *call
	contentType string
	second      bool
}

var errSecondReply = errors.New("relay: a part of another reply was sent already")

func (r *replyWriter) Write(piece []byte) (int, error) {
	switch {
	case r.second:
		return 0, errSecondReply
	case !r.c.began.Swap(true):
		r.c.w.Header().Set("Content-Type", cmp.Or(r.contentType, "application/json"))
		r.c.w.WriteHeader(http.StatusOK)
	}
	if _, err := r.c.w.Write(piece); err == nil {
		_ = http.NewResponseController(r.c.w).Flush()
	}
	return len(piece), nil // the program may have hung up, and the reply is read to its end
}

// finishCall answers a request that got no reply, and ends the relay if none can come any more.
func (c *call) finishCall(client context.Context, err error) {
	r := c.relay
	var waits *Waits
	var fault *adapters.Error
	errors.As(err, &waits)
	errors.As(err, &fault)
	switch {
	case err == nil || c.began.Load() && !errors.As(c.err, new(*adapters.Unfinished)): // the program judges what came
		r.mu.Lock()
		r.since = time.Time{}
		r.mu.Unlock()
		r.cfg.Log.Emit(agent.Event{Kind: agent.Replied, Text: safetext.EscapeLine(c.reply.Message.Content, 300),
			Usage: c.reply.Usage})
		return
	case client.Err() != nil && r.ctx.Err() == nil: // the program gave up
		err = nil
	case r.ctx.Err() != nil:
		err = errClosed
	case waits != nil:
		r.endServing(waits)
		err = waits
	case fault != nil && (fault.Kind == adapters.BadRequest || fault.Kind == adapters.TooLong) &&
		fault.Status != http.StatusNotFound: // a program may send a shorter request
	default:
		err = adapters.Explain(err, r.info)
		r.endServing(err)
	}
	r.cfg.Log.Emit(agent.Event{Kind: agent.Noted, Text: "a request of the program got no reply"})
	switch {
	case c.began.Load():
		panic(http.ErrAbortHandler) // the program must not take the part for the whole
	case fault != nil && fault.Message != "" && r.State().Ended == nil:
		writeError(c.w, c.document.wire, max(fault.Status, http.StatusBadRequest), fault.Message)
	case err != nil:
		writeError(c.w, c.document.wire, http.StatusBadRequest, err.Error())
	}
}
