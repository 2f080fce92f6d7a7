package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"company/internal/adapters"
	"company/internal/lib/lazyregexp"
)

const maxMessage = 1 << 10

// The causes of exchanges that ended because of the server.
var (
	errSaid = errors.New("the server ended the reply with an error")
	errCut  = errors.New("the reply was cut off")
)

// keyRE matches abbreviated keys in servers' messages, because even a part of a key is not shown.
var keyRE = lazyregexp.New(`\bsk-[A-Za-z0-9_*.-]{4,}`)

// Failure combines the transport's record and the driver's error err into one error of the exchange. If the
// caller cancelled, it returns the caller's cause.
func (ex *Exchange) Failure(err error) error {
	e := ex.classifyError(err)
	var known *adapters.Error
	if errors.As(e, &known) {
		known.Message = ex.client.Hide(known.Message)
		if ex.Said.isUnloadable() && known.Kind == adapters.BadRequest {
			known.Fix = "the server has the model and cannot load it: its log says more; get the model again, or use another"
		}
	}
	return e
}

// Hide shortens a server's message and removes keys, and text that looks like a key.
func (c *Client) Hide(words string) string {
	return Clip(keyRE.ReplaceAllString(c.cfg.Key.Redact(words), "[key]"))
}

// markUnfinished wraps the cause of an end without an answer, and adds the progress of the exchange.
func (ex *Exchange) markUnfinished(cause error) error {
	return &adapters.Unfinished{Cause: cause, Unsent: ex.Status == 0 && !ex.sent.Load(),
		Received: adapters.AddTokens(ex.size, ex.unread)}
}

func (ex *Exchange) classifyError(err error) error {
	cfg := ex.client.cfg
	cause := context.Cause(ex.ctx)
	var timer *ended
	switch {
	case ex.tooBig.Load():
		return &adapters.Error{Kind: adapters.MalformedReply, Status: ex.Status,
			Message: fmt.Sprintf("the reply is larger than %d bytes, or has more than %d parts", maxReply, maxParts),
			Err:     errTooBig, Unanswered: true}
	case errors.As(cause, &timer):
		return &adapters.Error{Kind: adapters.TimedOut, Status: ex.Status, Message: timer.reason,
			Err: ex.markUnfinished(cause), Unanswered: true, Endless: timer.whole && !ex.first.IsZero()}
	case cause != nil:
		return ex.markUnfinished(cause) // the caller cancelled
	case ex.Said != nil && ex.Status == http.StatusOK:
		return &adapters.Error{Kind: kindInStream(ex.Said), Status: ex.Status, Message: ex.Said.Message,
			RetryAfter: ex.Said.Wait, Err: ex.markUnfinished(errSaid), Unanswered: true}
	case ex.Status != 0 && ex.Status != http.StatusOK:
		fault := &adapters.Error{Kind: kindOfStatus(ex.Status, ex.Said), Status: ex.Status, RetryAfter: ex.RetryAfter}
		if ex.Said != nil {
			fault.Message, fault.RetryAfter = ex.Said.Message, cmp.Or(ex.RetryAfter, ex.Said.Wait)
		}
		// The time-out of a gateway does not show whether the model worked, and for a call that its server could not read
		// it did.
		if ex.Status == http.StatusGatewayTimeout || ex.Status == http.StatusRequestTimeout ||
			fault.Kind == adapters.MalformedReply {
			fault.Unanswered, fault.Err = true, ex.markUnfinished(errSaid)
		}
		return fault
	case ex.Status == http.StatusOK:
		return &adapters.Error{Kind: adapters.MalformedReply, Status: ex.Status,
			Message: "the reply was cut off or is not in the protocol", Err: ex.markUnfinished(cmp.Or(err, errCut)),
			Unanswered: true}
	}
	e := &adapters.Error{Kind: adapters.Unreachable, Message: err.Error(), Err: errors.New(cfg.Key.Redact(err.Error()))}
	var op *net.OpError
	var dns *net.DNSError
	isDNS := errors.As(err, &dns)
	if isDNS && dns.IsNotFound {
		e.Kind, e.Message = adapters.UnknownHost, "no DNS server knows the host "+dns.Name
	}
	if isDNS || errors.As(err, &op) && op.Op == "dial" {
		return e
	}
	// The connection broke after the request may have been sent.
	e.Unanswered, e.Err = true, ex.markUnfinished(e.Err)
	return e
}
