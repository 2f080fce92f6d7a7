package adapters

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/health"
)

// Available is a model whose server can be asked, for nothing, whether it
// serves it.
type Available interface {
	// Available returns what the server's list says of the model, or an *Error.
	Available(ctx context.Context) (Listing, error)
	// Address is where the server is looked for.
	Address() string
}

// Listing is what a server's list says of a model.
type Listing struct {
	Text  string // for people
	State ListState
	Fix   string // how the model gets there, where it is not listed
}

// ListState says how far a server's list answers for a model.
type ListState string

const (
	Listed   ListState = "listed"   // the server has the model, or takes any name
	Unlisted ListState = "unlisted" // it lists others: an alias or a router's variant may be served all the same
	NoList   ListState = "no_list"  // it has no list
)

// Reach says which servers a Check asks.
type Reach int

const (
	ReachLocal   Reach = iota // those on this machine
	ReachServers              // all
	ReachReplies              // all, and each model for a short reply, which is paid for
)

// checkTimeout bounds what Check asks a server.
const checkTimeout = 10 * time.Second

// Check says what stands between a profile and its first request: mistakes in
// it, a key that is NOT SET (a key itself is never shown), a server that is not
// there, a model that it has not. Where the server's list leaves that open, the
// model is asked for a short reply.
func (r Registry) Check(ctx context.Context, p Profile, deps Deps, reach Reach) health.Result {
	found := p.Adapter
	if p.Model != "" {
		found += " " + p.Model
	}
	if p.KeyEnv != "" {
		found += ", " + p.KeyEnv + " " + p.Key.String()
	}
	probed, err := r.Probe(ctx, p, deps, reach)
	if probed.Said != "" {
		found += ", " + probed.Said
	}
	switch {
	case err != nil:
		return failedCheck(found, err)
	case probed.Doubt != "":
		return health.Result{Warn: true, Found: found + ": " + probed.Doubt, Needed: "a model that answers", Fix: probed.Fix}
	}
	return health.Result{OK: true, Found: found}
}

// Probed is what is known of a model before it is used.
type Probed struct {
	Said  string // the server's place and what it says, for people
	Doubt string // why the model may not answer; empty where nothing speaks against it
	Fix   string // what helps against Doubt
}

// Probe is Check for callers that need the error: a *company.Error that has the
// *Error behind it where a server was asked. Said names the place, in both
// cases.
func (r Registry) Probe(ctx context.Context, p Profile, deps Deps, reach Reach) (found Probed, err error) {
	m, err := r.Open(p, deps)
	if err != nil {
		return Probed{}, err
	}
	defer func() { _ = Close(m) }() // nothing was sent that could be lost
	a, ok := unwrapModel(m).(Available)
	switch {
	case !ok:
		return Probed{}, nil
	case reach == ReachLocal && !isLocalAddress(a.Address()):
		return Probed{Said: "at " + a.Address() + ", not asked"}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found.Said = "at " + a.Address()
	list, err := a.Available(ctx)
	unreadable := KindOf(err) == MalformedReply
	if err != nil && !unreadable {
		return found, Explain(err, m.Info())
	}
	if list.Text != "" {
		found.Said += ", " + list.Text
	}
	if list.State != Listed || reach == ReachReplies {
		fault := askForReply(ctx, m)
		switch {
		case fault == nil && unreadable:
			found.Said += ", has a list of models that cannot be read, and replies"
		case fault == nil:
			found.Said += ", and replies"
		case unreadable:
			return found, Explain(err, m.Info())
		case isRefusal(fault, list.State):
			return found, Explain(fault, m.Info())
		case list.State != NoList:
			found.Doubt, found.Fix = fault.Error(), cmp.Or(list.Fix, "see whether it answers: company doctor --online")
		}
	}
	if err := addTools(ctx, &found, a, m.Info(), p.Tools); err != nil {
		return found, Explain(err, m.Info())
	}
	return found, nil
}

// askForReply asks a model for a few tokens, for the longer part of the time that ctx
// has left: a model that is being loaded must not use up its caller's time.
func askForReply(ctx context.Context, m Model) error {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)*2/3)
		defer cancel()
	}
	_, err := m.Chat(ctx, Request{Messages: []Message{{Role: User, Content: "Reply with the word ok."}}, MaxTokens: 16}, nil)
	if err != nil && ctx.Err() != nil {
		err = &Error{Kind: TimedOut, Message: "no reply in time", Err: err}
	}
	return err
}

// isRefusal reports whether a request's failure shows that later ones fail, too. A limit
// of the reply that is too small for the model shows nothing.
func isRefusal(err error, state ListState) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case Auth, Quota, UnknownHost:
		return true
	case BadRequest:
		return e.Status == http.StatusNotFound || state == Unlisted && !strings.Contains(e.Message, "max_")
	}
	return false
}

// addTools adds how the model is given its tools, where its server tells.
func addTools(ctx context.Context, found *Probed, a Available, info Info, use ToolUse) error {
	teller, ok := a.(ToolTeller)
	if !ok {
		return nil
	}
	can, err := teller.Tools(ctx)
	switch {
	case err != nil:
		return err
	case !can && use == ToolsYes:
		return &Error{Kind: BadRequest, Message: info.Model + " does not support tools", Fix: toolsFix}
	case !can || use == ToolsNo:
		found.Said += ", tools in text"
	default:
		found.Said += ", tools"
	}
	return nil
}

// unwrapModel is the driver's own model.
func unwrapModel(m Model) Model {
	for {
		w, ok := m.(interface{ Unwrap() []Model })
		if !ok || len(w.Unwrap()) != 1 {
			return m
		}
		m = w.Unwrap()[0]
	}
}

func failedCheck(found string, err error) health.Result {
	var e *company.Error
	if !errors.As(err, &e) {
		return health.Result{Found: found + ": " + err.Error()}
	}
	why := e.Message
	if e.Why != "" {
		why += ": " + e.Why
	}
	// The place stands before it, and is not named again by each layer of the network.
	if kind := KindOf(err); kind == Unreachable || kind == UnknownHost {
		why = strings.TrimSpace(e.Why[strings.LastIndex(e.Why, ": ")+1:])
	}
	return health.Result{Found: found + ": " + why, Needed: "a model that can be asked", Fix: e.Hint}
}

// isLocalAddress reports whether an address is this machine's own.
func isLocalAddress(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
