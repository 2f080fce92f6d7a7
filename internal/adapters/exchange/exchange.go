// Package exchange implements one HTTP exchange with a model's server, for all wire protocols: its timeouts and size
// limits, how the reply is cut into events, and the *adapters.Error of a failure. It promises that no error contains a
// key. Servers that hang, flood or redirect meet the same rules everywhere, and a server's own message decides the
// reaction. Drivers implement the protocols.
package exchange

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"company/internal/lib/secret"
)

// Defaults of Config.
const (
	DefaultFirstToken = 5 * time.Minute
	DefaultIdle       = 300 * time.Second
	DefaultWhole      = time.Hour
	maxReply          = 10 << 20 // bytes of one reply, without framing
	// maxParts limits the number of calls, texts and thoughts in one reply. Each part costs memory, and time for
	// every other part, even if it is empty.
	maxParts = 1024
	// maxLooked limits the bytes of a reply that are scanned repeatedly.
	maxLooked = 16 * maxReply
	// wireFactor is the allowed number of bytes on the wire for each byte of the reply. A stream of single tokens
	// has some hundred bytes of framing around each.
	wireFactor = 256
	// tailGrace limits the wait for data after a complete reply (usage, the end mark), because some servers never
	// end their streams.
	tailGrace = 10 * time.Second
	// mostSilences limits the wait for a server that sends only keep-alives, as a multiple of the silence limit.
	mostSilences = 3
)

// Config configures a Client. A zero field means its default.
type Config struct {
	Key secret.Value // removed from all messages of servers
	// FirstToken limits the time from the request to the first piece of the reply (default 5m). Idle limits the
	// time between two pieces (default 300s). A keep-alive restarts either timer, up to three times the limit in
	// all.
	FirstToken, Idle time.Duration
	// Whole limits the time from the request to the end of the reply, however slowly it comes (default 1h). That is
	// enough for the longest reply of a slow model.
	Whole time.Duration
	// Store, if set, keeps a reply that could not be read, and returns the path of its file.
	Store func(name string, data []byte) (path string, err error)
}

// Client is the HTTP side of one model.
type Client struct {
	Log       *slog.Logger
	http      *http.Client
	cfg       Config
	transport *http.Transport
}

// NewClient returns a client. It does not connect.
func NewClient(cfg Config) *Client {
	cfg.FirstToken = cmp.Or(cfg.FirstToken, DefaultFirstToken)
	cfg.Idle = cmp.Or(cfg.Idle, DefaultIdle)
	cfg.Whole = cmp.Or(cfg.Whole, DefaultWhole)
	// Proxy and CA settings come from the operator's environment.
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	return &Client{cfg: cfg, transport: transport, Log: slog.New(slog.DiscardHandler), http: &http.Client{
		Transport: transport,
		// A redirect would send the conversation to a host that is not configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes idle connections. Calls under way end with their contexts.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// ended is the cause with which a timer ends an exchange.
type ended struct {
	reason string // for people
	whole  bool   // the time of the whole reply is over
	tail   bool   // the reply was complete
}

func (e *ended) Error() string { return e.reason }

// Exchange is one request and its answer.
type Exchange struct {
	Status     int
	RetryAfter time.Duration
	Said       *ServerError // the server's error, in any form and with any status

	ctx    context.Context
	cancel context.CancelCauseFunc
	client *Client
	timer  *time.Timer
	whole  *time.Timer
	began  time.Time
	first  time.Time    // time of the first piece of the reply, zero without one
	newest time.Time    // time of the newest piece, or of the request
	size   int          // bytes of the reply that the driver has understood
	unread int          // bytes received since then, without keep-alives
	sent   atomic.Bool  // a part of the request was sent
	ending bool         // the reply is complete
	over   atomic.Bool  // all timers are stopped
	tooBig atomic.Bool  // the reply exceeds a limit
	host   string       // of the server
	raw    bytes.Buffer // the reply as it came

	contentType string // of the reply
}

// Begin starts an exchange and the timer for the first piece of the reply. It returns the context of the exchange.
// End must be called.
func (c *Client) Begin(ctx context.Context) (context.Context, *Exchange) {
	ctx, cancel := context.WithCancelCause(ctx)
	ex := &Exchange{cancel: cancel, client: c, began: time.Now()}
	ex.newest = ex.began
	ex.ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { ex.sent.Store(true) }})
	ex.resetTimer(c.cfg.FirstToken, ex.endBySilence())
	ex.whole = ex.startTimer(c.cfg.Whole,
		&ended{reason: fmt.Sprintf("the reply did not come to its end within %s", c.cfg.Whole), whole: true})
	return ex.ctx, ex
}

// startTimer starts a timer that ends the exchange with a cause.
func (ex *Exchange) startTimer(d time.Duration, cause error) *time.Timer {
	return time.AfterFunc(d, func() {
		if !ex.over.Load() {
			ex.cancel(cause)
		}
	})
}

// resetTimer restarts the timer. It is not safe for concurrent use.
func (ex *Exchange) resetTimer(d time.Duration, cause error) {
	if ex.timer != nil {
		ex.timer.Stop()
	}
	ex.timer = ex.startTimer(d, cause)
}

// Size is the size of a reply so far.
type Size struct {
	Bytes  int // all retained data, without framing
	Parts  int // calls, texts, thoughts
	Looked int // bytes that were scanned repeatedly
}

// Over reports whether a reply exceeds a limit. Drivers then stop reading it, because one line can hold a
// million parts.
func (s Size) Over() bool { return s.Bytes > maxReply || s.Parts > maxParts || s.Looked > maxLooked }

// Grew records a new piece of the reply and the reply's size. A size over a limit ends the exchange.
func (ex *Exchange) Grew(size Size) {
	ex.noteFirst()
	ex.size, ex.unread = size.Bytes, 0
	if !ex.ending {
		ex.resetTimer(ex.client.cfg.Idle, ex.endBySilence())
	}
	if size.Over() {
		ex.cancel(ex.markTooBig())
	}
}

// KeptAlive records a keep-alive of size bytes: the server is working, but has no output yet. It extends the
// wait up to a limit, because a server may send keep-alives for ever.
func (ex *Exchange) KeptAlive(size int) {
	ex.unread = max(0, ex.unread-size)
	if ex.ending {
		return
	}
	limit, cause := ex.silenceLimit(), ex.endBySilence()
	if left := time.Until(ex.newest.Add(mostSilences * limit)); left < limit {
		cause = &ended{reason: fmt.Sprintf("nothing but keep-alives came within %s", mostSilences*limit)}
		limit = left
	}
	ex.resetTimer(limit, cause)
}

// endBySilence returns the cause of an end by silence.
func (ex *Exchange) endBySilence() *ended {
	if ex.first.IsZero() {
		return &ended{reason: fmt.Sprintf("nothing came within %s", ex.client.cfg.FirstToken)}
	}
	return &ended{reason: fmt.Sprintf("the stream was silent for %s", ex.client.cfg.Idle)}
}

// silenceLimit returns the current limit of the server's silence.
func (ex *Exchange) silenceLimit() time.Duration {
	if ex.first.IsZero() {
		return ex.client.cfg.FirstToken
	}
	return ex.client.cfg.Idle
}

// markTooBig records that the reply is too large, because a cancelled connection still returns buffered data.
func (ex *Exchange) markTooBig() error {
	ex.tooBig.Store(true)
	return errTooBig
}

// Ending records that the reply is complete except for trailing data. It starts a timer that trailing data does
// not extend.
func (ex *Exchange) Ending() {
	ex.noteFirst()
	if ex.ending {
		return
	}
	ex.ending = true
	ex.resetTimer(min(tailGrace, ex.client.cfg.Idle), &ended{reason: "a whole reply, and then silence", tail: true})
}

func (ex *Exchange) noteFirst() {
	ex.newest = time.Now()
	if ex.first.IsZero() {
		ex.first = ex.newest
	}
}

// FirstPiece returns the time from the request to the first piece of the reply, 0 without a piece. Only the
// goroutine that reads the reply may call it.
func (ex *Exchange) FirstPiece() time.Duration {
	if ex.first.IsZero() {
		return 0
	}
	return ex.first.Sub(ex.began)
}

// Stop stops the timers. It reports whether the exchange ended by itself, and not by its caller, a size limit or
// a timer. The timer of Ending does not count.
func (ex *Exchange) Stop() bool {
	ex.stopTimers()
	var timer *ended
	cause := context.Cause(ex.ctx)
	return !ex.tooBig.Load() && (cause == nil || errors.As(cause, &timer) && timer.tail)
}

// End releases the resources of the exchange. It may be called at any time.
func (ex *Exchange) End() {
	ex.stopTimers()
	ex.cancel(nil)
}

func (ex *Exchange) stopTimers() {
	ex.over.Store(true)
	ex.timer.Stop()
	ex.whole.Stop()
}
