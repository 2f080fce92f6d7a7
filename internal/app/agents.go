package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/config"
	"company/internal/safetext"
	"company/internal/secret"
)

// officeAgents opens the agents that tasks are bound to. Addresses, keys and prices of models come
// from the office's config, by the names of profiles.
type officeAgents struct {
	loaded  config.Loaded // as the office was opened with
	configs ConfigSource  // as it is now; may be nil
	root    string        // of the office
	env     func(string) string
	deps    adapters.Deps

	mu     sync.Mutex
	closed bool
	opened map[company.Hash]*adapters.Models // by the profiles in them
}

// Driver returns the agent that asks the model of a profile.
func (o *officeAgents) Driver(ctx context.Context, b company.Bindings, profile string) (agent.Driver, error) {
	profiles, same, err := o.findProfiles(ctx, b, profile)
	if err != nil {
		return nil, err
	}
	models, err := o.openModels(profiles)
	if err != nil {
		return nil, err
	}
	loop := agent.Loop{Models: boundModel{models, profile}, Model: b.Describe(profile)}
	if same {
		return loop, nil
	}
	return notedLoop{loop, "the task keeps " + profiles[0].Model + " for the profile " + profile + ", as it was given; company.yaml names other models now"}, nil
}

// notedLoop tells people something when it begins.
type notedLoop struct {
	agent.Loop
	note string
}

func (n notedLoop) Drive(ctx context.Context, j agent.Job) (agent.Outcome, error) {
	if j.OnEvent != nil && j.Now != nil {
		j.OnEvent(agent.Event{Kind: agent.Switched, Time: j.Now().UTC(), Text: safetext.EscapeLine(n.note, 300)})
	}
	return n.Loop.Drive(ctx, j)
}

// findProfiles returns a profile and its fallbacks, each with the model that is bound and with the
// address and the key that the config has for it. The config that the office was opened with counts
// where it has just these models, and else the one of now. same reports whether the config has just
// these models.
func (o *officeAgents) findProfiles(ctx context.Context, b company.Bindings, profile string) (found []adapters.Profile, same bool, err error) {
	found, same, err = bindProfiles(ModelProfiles(o.loaded, o.root, o.env), b, profile)
	if same || o.configs == nil {
		return found, same, err
	}
	now, err := o.configs.ConfigFor(ctx, "")
	if err == nil {
		err = now.CheckKeyFiles()
	}
	if err != nil {
		return nil, false, needPerson(err)
	}
	return bindProfiles(ModelProfiles(now, o.root, o.env), b, profile)
}

// needPerson marks an error of a config: only a person can mend a file.
func needPerson(err error) error {
	var e *company.Error
	if errors.As(err, &e) {
		return e.NeedsPerson()
	}
	return err
}

// bindProfiles gives profiles of a config the models that a task is bound to. same reports whether
// the config names them itself. E_CONFIG: it has no profile of that name and adapter.
func bindProfiles(have []adapters.Profile, b company.Bindings, profile string) (out []adapters.Profile, same bool, err error) {
	same = true
	for _, name := range b.Chain(profile) {
		m, bound := b.Models[name]
		if !bound {
			return nil, false, company.E(company.EConfig, fmt.Sprintf("the task is bound to no model profile %q", name)).NeedsPerson()
		}
		at := slices.IndexFunc(have, func(p adapters.Profile) bool { return p.Name == name })
		switch {
		case at < 0:
			return nil, false, lostProfile(b, name, "the config has no profile of that name any more")
		case have[at].Adapter != m.Adapter:
			return nil, false, lostProfile(b, name, "in the config it is "+have[at].Adapter+" "+have[at].Model+" now")
		}
		p := have[at]
		if p.Model != m.Model {
			same = false
			p.Model, p.Price, p.Unchosen = m.Model, adapters.Price{}, false // the price is of another model
		}
		p.Fallback, p.ContextTokens, p.MaxOutput = m.Fallback, m.ContextTokens, m.MaxOutput
		p.Temperature, p.Tools, p.Images = m.Temperature, adapters.ToolUse(m.Tools), adapters.ImageUse(m.Images)
		out = append(out, p)
	}
	return out, same, nil
}

// lostProfile is the error of a model that the config cannot reach any more.
func lostProfile(b company.Bindings, name, why string) error {
	was := b.Describe(name)
	return company.E(company.EConfig, fmt.Sprintf("model profile %q is not the one that the task was given", name)).
		Because(strings.TrimSpace("the task has "+was.Adapter+" "+was.Model) + ", and " + why).
		Fix("put the profile back, then approve; or approve now, and the task goes on with the agents that the config has by then").NeedsPerson()
}

// openModels returns the models of these profiles, which are opened once.
func (o *officeAgents) openModels(profiles []adapters.Profile) (*adapters.Models, error) {
	named := slices.Clone(profiles)
	for i := range named {
		named[i].Key = secret.Value{} // it is the one of KeyEnv
	}
	key, err := company.HashOf(named)
	if err != nil {
		return nil, company.E(company.EInternal, "the profiles of a task have no name").Wrap(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, company.E(company.EStopped, "the models are closed")
	}
	if o.opened[key] == nil {
		if o.opened == nil {
			o.opened = map[company.Hash]*adapters.Models{}
		}
		o.opened[key] = adapters.NewModels(ModelDrivers, profiles, o.deps)
	}
	return o.opened[key], nil
}

// Close closes all models.
func (o *officeAgents) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	var errs []error
	for _, m := range o.opened {
		errs = append(errs, m.Close())
	}
	clear(o.opened)
	return errors.Join(errs...)
}

// boundModel opens the model of a profile.
type boundModel struct {
	models  *adapters.Models
	profile string
}

func (m boundModel) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return m.models.Open(m.profile, meter)
}
