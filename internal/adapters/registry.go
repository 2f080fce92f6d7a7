package adapters

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/secret"
)

// Profile is one named model of company.yaml, as a driver needs it.
type Profile struct {
	Name    string // the profile's own name: default, strong, ...
	Adapter string // the driver's name in the Registry
	Model   string // passed to the server as it is
	BaseURL string // empty: the driver's standard address
	Key     secret.Value
	KeyEnv  string // the variable the key comes from, for hints only

	ContextTokens int      // 0: what the driver knows of the model
	MaxOutput     int      // 0: the driver's default
	Price         Price    // not Known: Deps.Prices is asked
	Temperature   *float64 // nil: the server's own
	Tools         ToolUse  // "": ToolsAuto
	Images        ImageUse // "": ImagesAuto
	// Unchosen: this profile is the default of an empty configuration. A driver
	// may take another model where this one is missing.
	Unchosen bool
	// EchoReasoning sends a model's reasoning back to it with its reply. Some
	// servers want that, others refuse it.
	EchoReasoning bool
	// Script is the path of the script of `adapter: scripted`.
	Script string
	// Fallback names the profiles to ask, in order, when this one fails.
	Fallback []string
}

// Deps is what the wiring gives to every driver.
type Deps struct {
	Log *slog.Logger // nil: nothing is logged
	// Prices looks up the list price of an adapter's model at an address ("" is
	// the driver's standard one). nil: no price is known.
	Prices func(adapter, baseURL, model string) Price
	Policy Policy // the zero value means DefaultPolicy
	// How long a reply may take to its first piece, between two, and to its end; 0: the
	// driver's default.
	FirstToken, Idle, Whole time.Duration
	Clock                   Clock // nil: WallClock
}

// Factory makes one bare model: no retries, no fallback. It must not talk to
// the model's server.
type Factory func(Profile, Deps) (Model, error)

// Registry is the table of adapters by name; a new adapter is one line in the
// wiring's table.
type Registry map[string]Factory

// Open makes the bare model of one profile, fitted to it (see WithToolMode). Mistakes in the profile are
// EConfig errors, a missing key is EModelAuth.
func (r Registry) Open(p Profile, deps Deps) (Model, error) {
	factory, ok := r[p.Adapter]
	if !ok {
		return nil, company.E(company.EConfig, fmt.Sprintf("model profile %q: there is no adapter %q", p.Name, p.Adapter)).
			Fix("adapters are: " + strings.Join(slices.Sorted(maps.Keys(r)), ", "))
	}
	if p.Model == "" && p.Script == "" {
		return nil, company.E(company.EConfig, fmt.Sprintf("model profile %q names no model", p.Name)).Fix("add `model:` to the profile")
	}
	if p.KeyEnv != "" && !p.Key.Set() {
		return nil, company.E(company.EModelAuth, fmt.Sprintf("model profile %q has no key", p.Name)).
			Because(p.KeyEnv + " is NOT SET").Fix("export " + p.KeyEnv + "=...")
	}
	if p.ContextTokens < 0 || p.MaxOutput < 0 || p.Price.InputMicro < 0 || p.Price.CacheMicro < 0 || p.Price.WriteMicro < 0 || p.Price.OutMicro < 0 {
		return nil, company.E(company.EConfig, fmt.Sprintf("model profile %q has a negative number", p.Name))
	}
	if !p.Price.Known && deps.Prices != nil {
		p.Price = deps.Prices(p.Adapter, p.BaseURL, p.Model)
	}
	m, err := factory(p, deps)
	if err != nil {
		return nil, fmt.Errorf("open model profile %s: %w", p.Name, err)
	}
	return seeing{WithToolMode(m, p.Tools, p.Temperature), p.Images}, nil
}

// Models opens the profiles of an office when they are first used, each once,
// and closes them together. It may be used by many goroutines.
type Models struct {
	registry Registry
	profiles map[string]Profile
	deps     Deps

	mu     sync.Mutex
	bare   map[string]Model
	closed bool
}

// NewModels checks nothing yet: a profile that no agent uses needs no key.
func NewModels(registry Registry, profiles []Profile, deps Deps) *Models {
	if len(deps.Policy.Unreachable) == 0 && deps.Policy.MaxWait == 0 {
		deps.Policy = DefaultPolicy()
	}
	if deps.Clock == nil {
		deps.Clock = WallClock{}
	}
	ms := &Models{registry: registry, profiles: map[string]Profile{}, deps: deps, bare: map[string]Model{}}
	for _, p := range profiles {
		ms.profiles[p.Name] = p
	}
	return ms
}

// Open gives the model of the named profile with retries and its fallbacks.
// Each bare model of the chain is first passed through the wrappers, innermost
// first: what must see every single request (a budget's meter) goes there.
// Fallbacks of fallbacks follow depth first, each profile once. Don't close
// what you get; Close closes all.
func (ms *Models) Open(name string, wrap ...func(Model) Model) (Model, error) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.closed {
		return nil, company.E(company.EStopped, "the models are closed")
	}
	names, err := ms.profileChain(name, nil)
	if err != nil {
		return nil, err
	}
	var chain []Model
	for _, n := range names {
		m, ok := ms.bare[n]
		if !ok {
			if m, err = ms.registry.Open(ms.profiles[n], ms.deps); err != nil {
				return nil, err
			}
			ms.bare[n] = m
		}
		for _, w := range wrap {
			m = w(m)
		}
		chain = append(chain, Retry(m, ms.deps.Policy, ms.deps.Clock))
	}
	return Fallback(chain[0], chain[1:]...), nil
}

// profileChain lists a profile and its fallbacks.
func (ms *Models) profileChain(name string, seen []string) ([]string, error) {
	p, ok := ms.profiles[name]
	if !ok {
		return nil, company.E(company.EConfig, fmt.Sprintf("there is no model profile %q", name)).
			Fix("profiles are: " + strings.Join(slices.Sorted(maps.Keys(ms.profiles)), ", "))
	}
	if slices.Contains(seen, name) {
		return seen, nil
	}
	seen = append(seen, name)
	for _, next := range p.Fallback {
		var err error
		if seen, err = ms.profileChain(next, seen); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// Close closes every opened model. It may be called twice.
func (ms *Models) Close() error {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.closed = true
	var errs []error
	for name, m := range ms.bare {
		if err := Close(m); err != nil {
			errs = append(errs, fmt.Errorf("close model profile %s: %w", name, err))
		}
	}
	clear(ms.bare)
	return errors.Join(errs...)
}

// Close closes a model that has something to close.
func Close(m Model) error {
	if c, ok := m.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
