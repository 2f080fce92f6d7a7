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
	"company/internal/lib/healthcheck"
)

// Available is a model whose server can report for free whether it serves the model.
type Available interface {
	// Available returns the server's information about the model, or an *Error.
	Available(ctx context.Context) (Listing, error)
	// Address returns the address of the server.
	Address() string
}

// Listing describes a model according to its server's list.
type Listing struct {
	Text  string // for people
	State ListState
	Fix   string // a fix, if the model is not listed
}

// ListState tells how a server's list covers a model.
type ListState string

const (
	Listed   ListState = "listed"   // the server has the model, or accepts any name
	Unlisted ListState = "unlisted" // it lists other models, but may still serve an alias or a router's variant
	NoList   ListState = "no_list"  // it has no list
)

// Reach selects the servers that a Check asks.
type Reach int

const (
	ReachLocal   Reach = iota // servers on this machine
	ReachReplies              // all servers, and a short reply from each model, which costs money
)

// checkTimeout limits the requests of a Check to one server.
const checkTimeout = 10 * time.Second

// Check looks for problems before the first request of a profile: configuration mistakes, a key that is NOT SET
// (a key itself is never shown), an unreachable server, a missing model. If the server's list does not decide
// that, the model is asked for a short reply.
func (r Registry) Check(ctx context.Context, profile Profile, deps Deps, reach Reach) healthcheck.Result {
	found := profile.Adapter
	if profile.Model != "" {
		found += " " + profile.Model
	}
	if profile.KeyEnv != "" && profile.Key.Set() { // otherwise the error names it
		found += ", " + profile.KeyEnv + " " + profile.Key.String()
	}
	probed, err := r.Probe(ctx, profile, deps, reach)
	if probed.Said != "" {
		found += ", " + probed.Said
	}
	switch {
	case err != nil:
		return failedCheck(found, err)
	case probed.Doubt != "":
		return healthcheck.Result{Warn: true, Found: found + ": " + probed.Doubt, Needed: "a model that answers",
			Fix: probed.Fix}
	}
	return healthcheck.Result{OK: true, Found: found}
}

// Probed is the result of a Probe.
type Probed struct {
	Said  string // the server's address and information, for people
	Doubt string // why the model may not answer, empty without doubt
	Fix   string // a remedy for Doubt
}

// Probe does the work of Check for callers that need the error. The error is a *company.Error, and wraps the
// *Error if a server was asked. Said names the address even with an error, if a server was asked.
func (r Registry) Probe(ctx context.Context, profile Profile, deps Deps, reach Reach) (found Probed, err error) {
	model, err := r.Open(profile, deps)
	if err != nil {
		return Probed{}, err
	}
	defer func() { _ = Close(model) }() // no data can be lost
	available, ok := unwrapModel(model).(Available)
	switch {
	case !ok:
		return Probed{}, nil
	case reach == ReachLocal && !isLocalAddress(available.Address()):
		return Probed{Said: "at " + available.Address() + ", not asked"}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found.Said = "at " + available.Address()
	list, err := available.Available(ctx)
	unreadable := KindOf(err) == MalformedReply
	if err != nil && !unreadable {
		return found, Explain(err, model.Info())
	}
	if list.Text != "" {
		found.Said += ", " + list.Text
	}
	if list.State != Listed || reach == ReachReplies {
		fault := askForReply(ctx, model)
		switch {
		case fault == nil && unreadable:
			found.Said += ", has a list of models that cannot be read, and replies"
		case fault == nil:
			found.Said += ", and replies"
		case unreadable:
			return found, Explain(err, model.Info())
		case isRefusal(fault, list.State):
			return found, Explain(fault, model.Info())
		case list.State != NoList:
			found.Doubt, found.Fix = fault.Error(), cmp.Or(list.Fix, "see whether it answers: company doctor --online")
		}
	}
	if err := addTools(ctx, &found, available, model.Info(), profile.Tools); err != nil {
		return found, Explain(err, model.Info())
	}
	return found, nil
}

// askForReply asks a model for a few tokens. It uses at most two thirds of the time until ctx's deadline,
// because a loading model must not use up the caller's time.
func askForReply(ctx context.Context, model Model) error {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)*2/3)
		defer cancel()
	}
	_, err := model.Chat(
		ctx, Request{Messages: []Message{{Role: User, Content: "Reply with the word ok."}}, MaxTokens: 16},
		nil)
	if err != nil && ctx.Err() != nil {
		err = &Error{Kind: TimedOut, Message: "no reply in time", Err: err}
	}
	return err
}

// isRefusal reports whether the failure of a request means that later requests fail, too. It ignores a limit of
// the reply that is too small for the model.
func isRefusal(err error, state ListState) bool {
	var fault *Error
	if !errors.As(err, &fault) {
		return false
	}
	switch fault.Kind {
	case Auth, Quota, UnknownHost:
		return true
	case BadRequest:
		return fault.Status == http.StatusNotFound || state == Unlisted && !strings.Contains(fault.Message, "max_")
	}
	return false
}

// addTools adds to found how the model gets its tools, if its server tells.
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

// unwrapModel returns the driver's own model.
func unwrapModel(model Model) Model {
	for {
		w, ok := model.(interface{ Unwrap() []Model })
		if !ok || len(w.Unwrap()) != 1 {
			return model
		}
		model = w.Unwrap()[0]
	}
}

func failedCheck(found string, err error) healthcheck.Result {
	var fault *company.Error
	if !errors.As(err, &fault) {
		return healthcheck.Result{Found: found + ": " + err.Error()}
	}
	reason := fault.Message
	if fault.Why != "" {
		reason += ": " + fault.Why
	}
	// The address is in found already, so drop it from the reasons of each network layer.
	if kind := KindOf(err); kind == Unreachable || kind == UnknownHost {
		reason = strings.TrimSpace(fault.Why[strings.LastIndex(fault.Why, ": ")+1:])
	}
	return healthcheck.Result{Found: found + ": " + reason, Needed: "a model that can be asked", Fix: fault.Hint}
}

// isLocalAddress reports whether an address is on this machine.
func isLocalAddress(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
