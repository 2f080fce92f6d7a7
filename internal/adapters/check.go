package adapters

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/health"
)

// Available is a model whose server can be asked, for nothing, whether it
// serves it.
type Available interface {
	// Available is nil when it does, with a short description of the finding,
	// else an *Error.
	Available(ctx context.Context) (string, error)
	// Address is where the server is looked for.
	Address() string
}

// checkFor bounds what Check asks a server.
const checkFor = 10 * time.Second

// Check says what stands between a profile and its first request: mistakes in
// it, a key that is NOT SET (a key itself is never shown), a server that is not
// there, a model that it has not. A server on this machine is asked always, one
// elsewhere when online says so. Nothing is generated, and nothing is paid for.
func (r Registry) Check(ctx context.Context, p Profile, deps Deps, online bool) health.Result {
	found := p.Adapter
	if p.Model != "" {
		found += " " + p.Model
	}
	if p.KeyEnv != "" {
		found += ", " + p.KeyEnv + " " + p.Key.String()
	}
	said, err := r.Probe(ctx, p, deps, online)
	if said != "" {
		found += ", " + said
	}
	if err != nil {
		return failedCheck(found, err)
	}
	return health.Result{OK: true, Found: found}
}

// Probe is Check for those who need the error: a *company.Error that has the
// *Error behind it where a server was asked. said names the place, in both
// cases.
func (r Registry) Probe(ctx context.Context, p Profile, deps Deps, online bool) (said string, err error) {
	m, err := r.Open(p, deps)
	if err != nil {
		return "", err
	}
	defer func() { _ = Close(m) }() // nothing was sent that could be lost
	a, ok := unwrapModel(m).(Available)
	switch {
	case !ok:
		return "", nil
	case !online && !isLocalAddress(a.Address()):
		return "at " + a.Address() + ", not asked", nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkFor)
	defer cancel()
	if said, err = a.Available(ctx); err != nil {
		return "at " + a.Address(), Explain(err, m.Info())
	}
	said = "at " + a.Address() + ", " + said
	teller, ok := a.(ToolTeller)
	if !ok {
		return said, nil
	}
	can, err := teller.Tools(ctx)
	switch {
	case err != nil:
		return said, Explain(err, m.Info())
	case !can && p.Tools == ToolsYes:
		return said, Explain(&Error{Kind: BadRequest, Message: m.Info().Model + " does not support tools", Fix: toolsFix}, m.Info())
	case !can || p.Tools == ToolsNo:
		return said + ", tools in text", nil
	}
	return said + ", tools", nil
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
	if KindOf(err) == Unreachable {
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
