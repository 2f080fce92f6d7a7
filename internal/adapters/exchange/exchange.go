// Package exchange is one HTTP exchange with a model's server, whatever its
// wire protocol: the transport's view of it, the clocks and the size that bound
// it, and the *adapters.Error that a failure is. It promises that a key is in
// no error, that a server which hangs, floods or redirects is met by the same
// rules everywhere, and that a server's own message decides the reaction. It
// knows no protocol: drivers bring that.
package exchange

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"company/internal/secret"
)

// Defaults of Config.
const (
	DefaultFirstToken = 5 * time.Minute
	DefaultIdle       = 300 * time.Second
	DefaultWhole      = time.Hour
	maxReply          = 10 << 20 // bytes of one reply without its framing
	// maxParts is how many calls, texts and thoughts one reply may consist of. Each costs
	// memory, and time for each of the others, also where it is empty.
	maxParts = 1024
	// maxLooked is how much of a reply may be looked through again.
	maxLooked = 16 * maxReply
	// wireFactor is how many bytes may travel for one of the reply's own: a
	// stream of single tokens has some hundred bytes of framing around each.
	wireFactor = 256
	// tailGrace is how long a whole reply may wait for what follows it (usage,
	// the end mark): some servers never end their streams.
	tailGrace = 10 * time.Second
	// mostSilences is how many times as long as it may be silent a server is waited for
	// that sends keep-alives and nothing of a reply.
	mostSilences = 3
)

// Config of a Client. The zero value of a field means its default.
type Config struct {
	Key secret.Value // taken out of whatever servers say
	// FirstToken is from the request to the first piece of the reply (default 5m), Idle
	// between two pieces (default 300s). A keep-alive begins either anew, up to three
	// times as long.
	FirstToken, Idle time.Duration
	// Whole is how long a reply may take from the request to its end, however it drips;
	// default 1h. A slow model writes its longest reply within that.
	Whole  time.Duration
	Bearer bool // every request carries the key as a bearer token
	// Body, when set, wraps the body of each reply with status 200.
	Body func(req *http.Request, body Body, ex *Exchange) Body
}

// Body is a reply's body.
type Body interface {
	Read(p []byte) (int, error)
	Close() error
}

// Client is the HTTP side of one model. Its http.Client belongs to exchanges
// that Begin began.
type Client struct {
	HTTP      *http.Client
	Log       *slog.Logger
	cfg       Config
	transport *http.Transport
}

// NewClient connects to nothing yet.
func NewClient(cfg Config) *Client {
	cfg.FirstToken = cmp.Or(cfg.FirstToken, DefaultFirstToken)
	cfg.Idle = cmp.Or(cfg.Idle, DefaultIdle)
	cfg.Whole = cmp.Or(cfg.Whole, DefaultWhole)
	// Proxy and CA settings are the operator's own, from the environment.
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	return &Client{cfg: cfg, transport: transport, Log: slog.New(slog.DiscardHandler), HTTP: &http.Client{
		Transport: &recorder{next: transport, cfg: cfg},
		// A redirect would carry the conversation to a host that is not
		// configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close drops the idle connections. Calls under way are ended by their
// contexts.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// The causes with which an exchange's own clock ends it.
var (
	errFirstToken = errors.New("no first piece of the reply in time")
	errIdle       = errors.New("the reply fell silent")
	errKeptAlive  = errors.New("keep-alives and nothing of a reply")
	errTail       = errors.New("a whole reply, and then silence")
	errWhole      = errors.New("the reply did not come to its end in time")
)

// Exchange is what the transport saw of one request. SDKs lose headers, take a
// cut stream for a finished one and know one shape of error each, so the facts
// are taken here, below them.
type Exchange struct {
	Status     int
	RetryAfter time.Duration
	Said       *ServerError // the server's error, whatever its shape and status

	ctx    context.Context
	cancel context.CancelCauseFunc
	client *Client
	timer  *time.Timer
	whole  *time.Timer
	began  time.Time
	first  time.Time   // of the first piece of the reply; zero: none came
	newest time.Time   // of the newest piece, or of the request
	size   int         // of the reply, as far as its driver understood it, in bytes
	unread int         // bytes that came since and were no keep-alives
	sent   atomic.Bool // a part of the request went out
	ending bool        // the reply is whole
	over   atomic.Bool // no clock runs any more
	tooBig atomic.Bool // the reply is larger than allowed
	failed error       // of the transport: SDKs may wrap it without its chain
}

type key struct{}

// Begin starts an exchange and its clock for the first piece of the reply.
// Requests are made under the context that it returns; End must be called.
func (c *Client) Begin(ctx context.Context) (context.Context, *Exchange) {
	ctx, cancel := context.WithCancelCause(ctx)
	ex := &Exchange{cancel: cancel, client: c, began: time.Now()}
	ex.newest = ex.began
	ex.ctx = httptrace.WithClientTrace(context.WithValue(ctx, key{}, ex), &httptrace.ClientTrace{WroteHeaders: func() { ex.sent.Store(true) }})
	ex.resetTimer(c.cfg.FirstToken, errFirstToken)
	ex.whole = ex.startTimer(c.cfg.Whole, errWhole)
	return ex.ctx, ex
}

// startTimer starts a clock that ends the exchange with a cause.
func (ex *Exchange) startTimer(d time.Duration, cause error) *time.Timer {
	return time.AfterFunc(d, func() {
		if !ex.over.Load() {
			ex.cancel(cause)
		}
	})
}

// resetTimer starts the clock anew. It is used by one goroutine.
func (ex *Exchange) resetTimer(d time.Duration, cause error) {
	if ex.timer != nil {
		ex.timer.Stop()
	}
	ex.timer = ex.startTimer(d, cause)
}

// Size is how much of a reply there is.
type Size struct {
	Bytes  int // without the framing, and all that is kept
	Parts  int // calls, texts, thoughts
	Looked int // bytes that were looked through again
}

// Over reports whether a reply may not be so large. Drivers take nothing more of such a reply: one
// line of it can hold a million parts.
func (s Size) Over() bool { return s.Bytes > maxReply || s.Parts > maxParts || s.Looked > maxLooked }

// Grew says that a piece of the reply came, and how large the reply is now. One over a limit
// ends the exchange.
func (ex *Exchange) Grew(size Size) {
	ex.noteFirst()
	ex.size, ex.unread = size.Bytes, 0
	if !ex.ending {
		ex.resetTimer(ex.client.cfg.Idle, errIdle)
	}
	if size.Over() {
		ex.cancel(ex.markTooBig())
	}
}

// KeptAlive says that a keep-alive of so many bytes came: the server is at work, and has nothing
// to show. It is waited for longer, within bounds: one may send them for ever.
func (ex *Exchange) KeptAlive(size int) {
	ex.unread = max(0, ex.unread-size)
	if ex.ending {
		return
	}
	limit, cause := ex.silenceLimit(), errIdle
	if ex.first.IsZero() {
		cause = errFirstToken
	}
	if left := time.Until(ex.newest.Add(mostSilences * limit)); left < limit {
		limit, cause = left, errKeptAlive
	}
	ex.resetTimer(limit, cause)
}

// silenceLimit is how long the server may be silent now.
func (ex *Exchange) silenceLimit() time.Duration {
	if ex.first.IsZero() {
		return ex.client.cfg.FirstToken
	}
	return ex.client.cfg.Idle
}

// markTooBig notes that the reply is too large: SDKs lose the errors of a body.
func (ex *Exchange) markTooBig() error {
	ex.tooBig.Store(true)
	return errTooBig
}

// Ending says that the reply is whole but for what may follow it. What follows does not put the
// end off.
func (ex *Exchange) Ending() {
	ex.noteFirst()
	if ex.ending {
		return
	}
	ex.ending = true
	ex.resetTimer(min(tailGrace, ex.client.cfg.Idle), errTail)
}

func (ex *Exchange) noteFirst() {
	ex.newest = time.Now()
	if ex.first.IsZero() {
		ex.first = ex.newest
	}
}

// FirstPiece is how long the server took to the first piece of the reply; 0: none came.
// It is used by the goroutine that reads the reply.
func (ex *Exchange) FirstPiece() time.Duration {
	if ex.first.IsZero() {
		return 0
	}
	return ex.first.Sub(ex.began)
}

// Stop ends the clocks and reports whether the exchange came to an end that
// was neither the caller's nor a clock's, but for the clock of Ending.
func (ex *Exchange) Stop() bool {
	ex.stopTimers()
	cause := context.Cause(ex.ctx)
	return !ex.tooBig.Load() && (cause == nil || errors.Is(cause, errTail))
}

// End frees what the exchange holds. It may be called at any time.
func (ex *Exchange) End() {
	ex.stopTimers()
	ex.cancel(nil)
}

func (ex *Exchange) stopTimers() {
	ex.over.Store(true)
	ex.timer.Stop()
	ex.whole.Stop()
}
