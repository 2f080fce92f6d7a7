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
	"company/internal/agentrun/program"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/lib/secret"
	"company/internal/office/config"
)

// officeAgents opens the agents that tasks are bound to. The addresses, keys and prices of models
// come from the office's config, by profile name.
type officeAgents struct {
	loaded  config.Loaded // config with which the office was opened
	configs ConfigSource  // source of the current config; may be nil
	root    string        // folder of the office
	env     func(string) string
	deps    adapters.Deps

	mu     sync.Mutex
	closed bool
	opened map[company.Hash]*adapters.Models // by hash of their profiles
}

// Driver returns the agent that uses the model of a profile.
func (o *officeAgents) Driver(ctx context.Context, bindings company.Bindings, profile string) (agent.Driver, error) {
	profiles, same, err := o.findProfiles(ctx, bindings, profile)
	if err != nil {
		return nil, err
	}
	models, err := o.openModels(profiles)
	if err != nil {
		return nil, err
	}
	if bindings.IsProgram(profile) {
		bound := bindings.Models[profile]
		known, ok := program.Find(bound.Model)
		if !ok {
			return nil, lostProfile(bindings, profile, "this version of company knows no such program")
		}
		driver := program.Driver{Program: known, Bin: bound.Bin, Profile: bindings.Describe(profile)}
		if len(bound.Fallback) > 0 {
			driver.Models = boundModel{models, bound.Fallback[0]}
		}
		return driver, nil
	}
	loop := agent.Loop{Models: boundModel{models, profile}, Model: bindings.Describe(profile)}
	if same {
		return loop, nil
	}
	return notedLoop{loop, "the task keeps " + profiles[0].Model + " for the profile " + profile +
		", as it was given; company.yaml names other models now"}, nil
}

// notedLoop publishes a note when it starts.
type notedLoop struct {
	agent.Loop
	note string
}

func (n notedLoop) Drive(ctx context.Context, job agent.Job) (agent.Outcome, error) {
	if job.OnEvent != nil && job.Now != nil {
		job.OnEvent(agent.Event{Kind: agent.Switched, Time: job.Now().UTC(), Text: safetext.EscapeLine(n.note, 300)})
	}
	return n.Loop.Drive(ctx, job)
}

// findProfiles returns a profile and its fallbacks, with the bound models and the config's
// addresses and keys. It uses the config with which the office was opened if that has exactly
// these models, otherwise the current config. same reports whether the config has exactly these
// models.
func (o *officeAgents) findProfiles(
	ctx context.Context, bindings company.Bindings, profile string,
) (found []adapters.Profile, same bool, err error) {
	found, same, err = bindProfiles(ModelProfiles(o.loaded, o.root, o.env), bindings, profile)
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
	return bindProfiles(ModelProfiles(now, o.root, o.env), bindings, profile)
}

// needPerson marks a config error as one that only a person can fix.
func needPerson(err error) error {
	var fault *company.Error
	if errors.As(err, &fault) {
		return fault.NeedsPerson()
	}
	return err
}

// bindProfiles sets the bound models in profiles of a config. same reports whether the config
// already has these models. It returns E_CONFIG if the config has no profile with the name and
// adapter.
func bindProfiles(
	have []adapters.Profile, bindings company.Bindings, profile string,
) (out []adapters.Profile, same bool, err error) {
	same = true
	for _, name := range bindings.Chain(profile) {
		modelBinding, bound := bindings.Models[name]
		if !bound {
			return nil, false, company.E(company.EConfig,
				fmt.Sprintf("the task has no model profile %q", name)).NeedsPerson()
		}
		index := slices.IndexFunc(have, func(p adapters.Profile) bool { return p.Name == name })
		switch {
		case index < 0:
			return nil, false, lostProfile(bindings, name, "the config has no profile of that name any more")
		case have[index].Adapter != modelBinding.Adapter:
			return nil, false, lostProfile(
				bindings, name, "in the config it is "+have[index].Adapter+" "+have[index].Model+" now")
		}
		p := have[index]
		if p.Model != modelBinding.Model {
			same = false
			p.Model = modelBinding.Model
			p.Price = adapters.Price{}
			p.Unchosen = false // the price was for another model
		}
		p.Fallback = modelBinding.Fallback
		p.ContextTokens = modelBinding.ContextTokens
		p.MaxOutput = modelBinding.MaxOutput
		p.Temperature = modelBinding.Temperature
		p.Tools = adapters.ToolUse(modelBinding.Tools)
		p.Images = adapters.ImageUse(modelBinding.Images)
		out = append(out, p)
	}
	return out, same, nil
}

// lostProfile returns the error for a model that the config no longer provides.
func lostProfile(b company.Bindings, name, reason string) error {
	was := b.Describe(name)
	return company.E(company.EConfig, fmt.Sprintf("model profile %q has changed since the task was submitted", name)).
		Because(strings.TrimSpace("the task has "+was.Adapter+" "+was.Model) + ", but " + reason).
		Fix("restore the profile, then approve; or approve now to continue with the agents that the config has " +
			"by then").NeedsPerson()
}

// openModels returns the models of profiles. It opens each set of profiles once.
func (o *officeAgents) openModels(profiles []adapters.Profile) (*adapters.Models, error) {
	named := slices.Clone(profiles)
	for i := range named {
		named[i].Key = secret.Value{} // KeyEnv identifies the key
	}
	key, err := company.HashOf(named)
	if err != nil {
		return nil, company.E(company.EInternal, "cannot name the profiles of a task").Wrap(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, company.E(company.EStopped, "the models are already closed")
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

// boundModel opens the model of a profile when it is needed.
type boundModel struct {
	models  *adapters.Models
	profile string
}

func (m boundModel) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return m.models.Open(m.profile, meter)
}
