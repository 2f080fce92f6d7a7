package app

import (
	"cmp"
	"context"
	"net/url"
	"reflect"
	"slices"

	"company/internal/company"
	"company/internal/office/config"
)

// BindAgents returns the agents of a config and the models that they may use.
func BindAgents(cfg config.Config) company.Bindings {
	bind := func(a config.Agent) company.AgentBinding {
		return company.AgentBinding{Profile: a.Model, MaxTurns: a.MaxTurns, Persona: a.Instructions(), Title: a.Title,
			Capabilities: append([]string(nil), a.Capabilities...)} // an empty list is none, as in the ledger
	}
	bindings := company.Bindings{
		Manager: bind(cfg.Agents.Manager), Worker: bind(cfg.Agents.Worker.Agent()), Reviewer: bind(cfg.Agents.Reviewer),
		Merger: bind(cfg.Agents.Merger),
		Models: map[string]company.ModelBinding{},
	}
	if cfg.Agents.SecondReviewer.Model != "" {
		bindings.SecondReviewer = bind(cfg.Agents.SecondReviewer)
	}
	for _, first := range AgentModels(cfg) {
		for _, name := range FallbackChain(cfg, first) {
			model := cfg.Models[name]
			bindings.Models[name] = company.ModelBinding{
				Adapter: model.Adapter, Model: cmp.Or(model.Model, model.Program), Fallback: model.Next(),
				ContextTokens: model.ContextTokens,
				MaxOutput:     model.MaxOutput,
				Temperature:   model.Temperature, Tools: model.Tools, Images: model.Images, Bin: model.Bin,
			}
		}
	}
	return bindings
}

// RebindAgents returns the agents that a task takes from a config when it is resumed with the
// config's agents.
func RebindAgents(c config.Config) *company.Rebinding {
	return &company.Rebinding{Agents: BindAgents(c), EscalateTo: c.Agents.Worker.EscalateTo}
}

// bindCommand adds the agents of the current config to a command that names none. It does so for a
// new task, a retry, and an approval that reloads the config.
func (a *App) bindCommand(ctx context.Context, command company.Command) (company.Command, error) {
	var take func(config.Config) company.Command
	switch c := command.(type) {
	case company.Submit:
		if c.Settings.Agents.IsZero() {
			take = func(now config.Config) company.Command {
				c.Settings.Agents, c.Settings.EscalateTo = BindAgents(now), slices.Clone(now.Agents.Worker.EscalateTo)
				return c
			}
		}
	case company.Retry:
		if c.Rebind == nil {
			take = func(now config.Config) company.Command { c.Rebind = RebindAgents(now); return c }
		}
	case company.Answer:
		if c.Rebind == nil && c.Option == company.OptApprove && a.View().TakesConfig(c.Approval) {
			take = func(now config.Config) company.Command { c.Rebind = RebindAgents(now); return c }
		}
	}
	if take == nil {
		return command, nil
	}
	loaded, err := a.configNow(ctx)
	if err != nil {
		return nil, err
	}
	return take(freeTurns(loaded)), nil
}

// freeTurns returns the config. If its worker is another program and nobody has limited its turns, the limit is the
// program's own, because the default is for the company's own workers.
func freeTurns(loaded config.Loaded) config.Config {
	cfg := loaded.Config
	if cfg.Models[cfg.Agents.Worker.Model].Adapter == company.AdapterProgram &&
		loaded.Origin["agents.worker.max_turns"] == config.OriginDefault {
		cfg.Agents.Worker.MaxTurns = 0
	}
	return cfg
}

// ListAgentModels lists the configured models of each agent, with the hosts of their servers. It
// lists hosts only, because an address may contain a key.
func ListAgentModels(loaded config.Loaded, getenv func(string) string) []company.AgentModels {
	uses := map[string]company.ModelUse{}
	for _, profile := range ModelProfiles(loaded, "", getenv) {
		use := company.ModelUse{Adapter: profile.Adapter, Model: profile.Model}
		if address, err := url.Parse(profile.BaseURL); err == nil {
			use.Host = address.Host
		}
		uses[profile.Name] = use
	}
	list := func(agent string, profiles ...string) company.AgentModels {
		agentModels := company.AgentModels{Agent: agent}
		for _, first := range profiles {
			for _, name := range FallbackChain(loaded.Config, first) {
				agentModels.Models = append(agentModels.Models, uses[name])
			}
		}
		return agentModels
	}
	var out []company.AgentModels
	for _, role := range AllRoles {
		out = append(out, list(string(role), loaded.Config.Agent(role).Model))
	}
	if second := loaded.Config.Agents.SecondReviewer.Model; second != "" {
		out = append(out, list("second_reviewer", second))
	}
	if more := loaded.Config.Agents.Worker.EscalateTo; len(more) > 0 {
		out = append(out, list("escalate_to", more...))
	}
	return out
}

// noteAgents records a change of the configured models when a command creates or reopens a task
// (ADP-6). Its failure does not affect the command.
func (a *App) noteAgents(ctx context.Context, c company.Command) {
	switch c := c.(type) {
	case company.Submit, company.Retry:
	case company.Answer:
		if c.Option != company.OptApprove || !a.View().TakesConfig(c.Approval) {
			return
		}
	default:
		return
	}
	loaded, err := a.configNow(ctx)
	if err != nil {
		return // users of this config get the error
	}
	agents := ListAgentModels(loaded, a.envValue)
	if known := a.View().Office.Agents; len(known) == 0 || reflect.DeepEqual(known, agents) {
		return // no needless command, because a replay counts commands
	}
	if _, err := a.orch.Do(ctx, company.Company, company.NoteAgents{Agents: agents}); err != nil {
		a.log.Warn("a change of the models is not recorded", "err", err)
	}
}

// configNow returns the office's current config.
func (a *App) configNow(ctx context.Context) (config.Loaded, error) {
	if a.configs == nil {
		return a.loaded, nil
	}
	return a.configs.ConfigFor(ctx, "")
}
