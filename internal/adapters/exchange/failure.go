package exchange

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"company/internal/adapters"
	"company/internal/lazyregexp"
)

const maxMessage = 1 << 10

// keyRE matches what servers print of a key with its middle left out: a part
// of a key is not shown either.
var keyRE = lazyregexp.New(`\bsk-[A-Za-z0-9_*.-]{4,}`)

// Failure makes the one error of an exchange from what the transport saw and
// from err, which the driver's own code came to. When the caller gave up it is
// the caller's cause.
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

// Hide bounds a server's message and removes keys, and what looks like one,
// from it.
func (c *Client) Hide(words string) string {
	return Clip(keyRE.ReplaceAllString(c.cfg.Key.Redact(words), "[key]"))
}

// markUnbegun marks a cause that cut the exchange before anything came.
func (ex *Exchange) markUnbegun(cause error) error {
	if ex.Status == 0 {
		return &adapters.Unbegun{Cause: cause}
	}
	return cause
}

func (ex *Exchange) classifyError(err error) error {
	cfg := ex.client.cfg
	cause := context.Cause(ex.ctx)
	switch {
	case ex.tooBig.Load():
		return &adapters.Error{Kind: adapters.MalformedReply, Status: ex.Status, Message: fmt.Sprintf("the reply is larger than %d bytes, or has more than %d parts", maxReply, maxParts), Err: errTooBig, Unanswered: true}
	case errors.Is(cause, errFirstToken):
		return &adapters.Error{Kind: adapters.TimedOut, Status: ex.Status, Message: fmt.Sprintf("nothing came within %s", cfg.FirstToken), Err: ex.markUnbegun(cause), Unanswered: true}
	case errors.Is(cause, errWhole):
		return &adapters.Error{Kind: adapters.TimedOut, Status: ex.Status, Message: fmt.Sprintf("the reply did not come to its end within %s", cfg.Whole), Err: cause, Unanswered: true}
	case errors.Is(cause, errIdle), errors.Is(cause, errTail):
		return &adapters.Error{Kind: adapters.TimedOut, Status: ex.Status, Message: fmt.Sprintf("the stream was silent for %s", cfg.Idle), Err: cause, Unanswered: true}
	case cause != nil:
		return ex.markUnbegun(cause) // the caller gave up
	case ex.Said != nil && ex.Status == http.StatusOK:
		return &adapters.Error{Kind: kindInStream(ex.Said), Status: ex.Status, Message: ex.Said.Message, Unanswered: true}
	case ex.Status != 0 && ex.Status != http.StatusOK:
		e := &adapters.Error{Kind: KindOfStatus(ex.Status, ex.Said), Status: ex.Status, RetryAfter: ex.RetryAfter}
		if ex.Said != nil {
			e.Message = ex.Said.Message
		}
		// A gateway's time-out says nothing about the model behind it.
		e.Unanswered = ex.Status == http.StatusGatewayTimeout || ex.Status == http.StatusRequestTimeout
		return e
	case ex.Status == http.StatusOK:
		return &adapters.Error{Kind: adapters.MalformedReply, Status: ex.Status, Message: "the reply was cut or is not in the protocol", Err: err, Unanswered: true}
	}
	e := &adapters.Error{Kind: adapters.Unreachable, Message: err.Error(), Err: errors.New(cfg.Key.Redact(err.Error()))}
	var op *net.OpError
	var dns *net.DNSError
	err = errors.Join(ex.failed, err)
	isDNS := errors.As(err, &dns)
	if isDNS && dns.IsNotFound {
		e.Kind, e.Message = adapters.UnknownHost, "no DNS server knows the host "+dns.Name
	}
	if isDNS || errors.As(err, &op) && op.Op == "dial" {
		return e
	}
	e.Unanswered = true // a connection that broke after the request may have been sent
	return e
}
