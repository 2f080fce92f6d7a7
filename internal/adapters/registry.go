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
	"sync/atomic"
	"time"

	"company/internal/company"
	"company/internal/lib/secret"
)

// Profile is one named model of company.yaml.
type Profile struct {
	Name    string // the profile's own name: default, strong, ...
	Adapter string // the driver's name in the Registry
	Model   string // sent to the server unchanged
	BaseURL string // empty means the driver's standard address
	Key     secret.Value
	KeyEnv  string // the variable of the key, only for hints
	SetIn   string // the file and line that set the model or its address, only for hints; "" means the defaults

	ContextTokens int      // 0 means the driver's own knowledge of the model
	MaxOutput     int      // 0 means the driver's default
	Price         Price    // if not Known, Deps.Prices is used
	Temperature   *float64 // nil means the server's own
	Tools         ToolUse  // "" means ToolsAuto
	Images        ImageUse // "" means ImagesAuto
	// Unchosen means that this profile is the default of an empty configuration. If its model is missing, a driver
	// may choose another one.
	Unchosen bool
	// EchoReasoning sends a model's reasoning back to it with its reply. Some servers require that, others refuse
	// it.
	EchoReasoning bool
	// Script is the path of the script of `adapter: scripted`.
	Script string
	// Fallback lists the profiles to try, in order, if this one fails.
	Fallback []string
}

// Deps holds the dependencies of all drivers.
type Deps struct {
	Log *slog.Logger // nil disables logging
	// Prices returns the list price of an adapter's model at an address. An empty address means the driver's
	// standard one. If Prices is nil, no price is known.
	Prices func(adapter, baseURL, model string) Price
	Policy Policy // the zero value means DefaultPolicy
	// FirstToken limits the time to the first piece of a reply. Idle limits the time between two pieces, and Whole
	// the time to its end. 0 means the driver's default.
	FirstToken, Idle, Whole time.Duration
	Clock                   Clock // nil means WallClock
	// Store keeps a reply that could not be read, and returns the path of its file. If it is nil, none is kept.
	Store func(name string, data []byte) (path string, err error)
}

// Factory makes one bare model, without retries and fallback. It must not contact the model's server.
type Factory func(Profile, Deps) (Model, error)

// Registry maps names to adapters. A new adapter needs one line in the table of the main program.
type Registry map[string]Factory

// Open makes the bare model of one profile with the profile's settings (see WithToolMode). Mistakes in the
// profile are EConfig errors, and a missing key is EModelAuth.
func (r Registry) Open(profile Profile, deps Deps) (Model, error) {
	factory, ok := r[profile.Adapter]
	if !ok {
		return nil, company.E(company.EConfig,
			fmt.Sprintf("model profile %q: unknown adapter %q", profile.Name, profile.Adapter)).
			Fix("adapters are: " + strings.Join(slices.Sorted(maps.Keys(r)), ", "))
	}
	if profile.Model == "" && profile.Script == "" {
		return nil, company.E(company.EConfig, fmt.Sprintf("model profile %q has no model", profile.Name)).
			Fix("add `model:` to the profile")
	}
	if profile.KeyEnv != "" && !profile.Key.Set() {
		return nil, company.E(company.EModelAuth, fmt.Sprintf("model profile %q has no key", profile.Name)).
			Because(profile.KeyEnv + " is NOT SET").Fix("export " + profile.KeyEnv + "=...")
	}
	if profile.ContextTokens < 0 || profile.MaxOutput < 0 || profile.Price.InputMicro < 0 ||
		profile.Price.CacheMicro < 0 ||
		profile.Price.WriteMicro < 0 || profile.Price.OutMicro < 0 {
		return nil, company.E(company.EConfig, fmt.Sprintf("model profile %q has a negative number", profile.Name))
	}
	if !profile.Price.Known && deps.Prices != nil {
		profile.Price = deps.Prices(profile.Adapter, profile.BaseURL, profile.Model)
	}
	model, err := factory(profile, deps)
	if err != nil {
		return nil, fmt.Errorf("open model profile %s: %w", profile.Name, err)
	}
	return profileModel{WithToolMode(model, profile.Tools, profile.Temperature), profile}, nil
}

// Models opens each profile of an office once, when it is first used, and closes all of them together. It is
// safe for concurrent use.
type Models struct {
	registry Registry
	profiles map[string]Profile
	deps     Deps

	mu     sync.Mutex
	bare   map[string]Model
	closed bool
	// answered holds for each server whether it has answered.
	answered map[string]*atomic.Bool
}

// NewModels does not check the profiles, because an unused profile needs no key.
func NewModels(registry Registry, profiles []Profile, deps Deps) *Models {
	if len(deps.Policy.Unreachable) == 0 && deps.Policy.MaxWait == 0 {
		deps.Policy = DefaultPolicy()
	}
	if deps.Clock == nil {
		deps.Clock = WallClock{}
	}
	ms := &Models{registry: registry, profiles: map[string]Profile{}, deps: deps, bare: map[string]Model{},
		answered: map[string]*atomic.Bool{}}
	for _, p := range profiles {
		ms.profiles[p.Name] = p
	}
	return ms
}

// Open returns the model of the named profile with retries and its fallbacks. Each bare model of the chain is
// first passed through the wrappers, innermost first. A wrapper sees every single request, as a budget's meter
// must. Fallbacks of fallbacks follow depth first, each profile once. The caller must not close the model; Close
// closes all.
func (ms *Models) Open(name string, wrap ...func(Model) Model) (Model, error) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.closed {
		return nil, company.E(company.EStopped, "the models are already closed")
	}
	names, err := ms.profileChain(name, nil)
	if err != nil {
		return nil, err
	}
	var chain []Model
	for i, n := range names {
		model, ok := ms.bare[n]
		if !ok {
			if model, err = ms.registry.Open(ms.profiles[n], ms.deps); err != nil {
				return nil, err
			}
			ms.bare[n] = model
		}
		for _, w := range wrap {
			model = w(model)
		}
		server := ms.profiles[n].Adapter + " " + ms.profiles[n].BaseURL
		if ms.answered[server] == nil {
			ms.answered[server] = new(atomic.Bool)
		}
		chain = append(chain, &retrying{Model: model, policy: ms.deps.Policy, clock: ms.deps.Clock,
			answered: ms.answered[server], isFallback: i > 0, hasFallback: i < len(names)-1})
	}
	return Fallback(chain[0], chain[1:]...), nil
}

// profileChain returns a profile and all its fallbacks, each once.
func (ms *Models) profileChain(name string, seen []string) ([]string, error) {
	profile, ok := ms.profiles[name]
	if !ok {
		return nil, company.E(company.EConfig, fmt.Sprintf("unknown model profile %q", name)).
			Fix("profiles are: " + strings.Join(slices.Sorted(maps.Keys(ms.profiles)), ", "))
	}
	if slices.Contains(seen, name) {
		return seen, nil
	}
	seen = append(seen, name)
	for _, next := range profile.Fallback {
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

// Close closes a model if it is an io.Closer.
func Close(m Model) error {
	if c, ok := m.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
