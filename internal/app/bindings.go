package app

import (
	"context"
	"net/url"
	"reflect"
	"slices"

	"company/internal/company"
	"company/internal/config"
)

// BindAgents returns the agents of a config, and the models that they may ask.
func BindAgents(c config.Config) company.Bindings {
	bind := func(a config.Agent) company.AgentBinding {
		return company.AgentBinding{Profile: a.Model, MaxTurns: a.MaxTurns, Persona: a.Persona}
	}
	b := company.Bindings{
		Manager: bind(c.Agents.Manager), Worker: bind(c.Agents.Worker.Agent()), Reviewer: bind(c.Agents.Reviewer), Merger: bind(c.Agents.Merger),
		Models: map[string]company.ModelBinding{},
	}
	if c.Agents.SecondReviewer.Model != "" {
		b.SecondReviewer = bind(c.Agents.SecondReviewer)
	}
	for _, first := range AgentModels(c) {
		for _, name := range FallbackChain(c, first) {
			m := c.Models[name]
			b.Models[name] = company.ModelBinding{
				Adapter: m.Adapter, Model: m.Model, Fallback: m.Fallback, ContextTokens: m.ContextTokens, MaxOutput: m.MaxOutput,
				Temperature: m.Temperature, Tools: m.Tools, Images: m.Images,
			}
		}
	}
	return b
}

// RebindAgents is what a task takes from a config when it goes on with the agents of the config.
func RebindAgents(c config.Config) *company.Rebinding {
	return &company.Rebinding{Agents: BindAgents(c), EscalateTo: c.Agents.Worker.EscalateTo}
}

// bindCommand gives a command the agents of the config as it is now, where the command begins or
// reopens a task and names no agents itself, or says that the config was mended.
func (a *App) bindCommand(ctx context.Context, c company.Command) (company.Command, error) {
	var take func(config.Config) company.Command
	switch c := c.(type) {
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
		return c, nil
	}
	loaded, err := a.configNow(ctx)
	if err != nil {
		return nil, err
	}
	return take(loaded.Config), nil
}

// ListAgentModels lists the models that a config gives each agent, and the hosts that answer
// for them. A key in an address would not be a host.
func ListAgentModels(l config.Loaded, getenv func(string) string) []company.AgentModels {
	uses := map[string]company.ModelUse{}
	for _, p := range ModelProfiles(l, "", getenv) {
		use := company.ModelUse{Adapter: p.Adapter, Model: p.Model}
		if address, err := url.Parse(p.BaseURL); err == nil {
			use.Host = address.Host
		}
		uses[p.Name] = use
	}
	list := func(agent string, profiles ...string) company.AgentModels {
		a := company.AgentModels{Agent: agent}
		for _, first := range profiles {
			for _, name := range FallbackChain(l.Config, first) {
				a.Models = append(a.Models, uses[name])
			}
		}
		return a
	}
	var out []company.AgentModels
	for _, role := range AllRoles {
		out = append(out, list(string(role), l.Config.Agent(role).Model))
	}
	if second := l.Config.Agents.SecondReviewer.Model; second != "" {
		out = append(out, list("second_reviewer", second))
	}
	if more := l.Config.Agents.Worker.EscalateTo; len(more) > 0 {
		out = append(out, list("escalate_to", more...))
	}
	return out
}

// noteAgents records that the config names other models than the office last knew, where a
// command begins or reopens a task (ADP-6). The command itself does not depend on it.
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
		return // who needs this config is told so
	}
	agents := ListAgentModels(loaded, a.envValue)
	if known := a.View().Office.Agents; len(known) == 0 || reflect.DeepEqual(known, agents) {
		return // it is not sent in vain: a replay counts commands
	}
	if _, err := a.orch.Do(ctx, company.Company, company.NoteAgents{Agents: agents}); err != nil {
		a.log.Warn("a change of the models is not recorded", "err", err)
	}
}

// configNow is the office's config as it is now.
func (a *App) configNow(ctx context.Context) (config.Loaded, error) {
	if a.configs == nil {
		return a.loaded, nil
	}
	return a.configs.ConfigFor(ctx, "")
}
