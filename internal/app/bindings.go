package app

import (
	"context"
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

// configNow is the office's config as it is now.
func (a *App) configNow(ctx context.Context) (config.Loaded, error) {
	if a.configs == nil {
		return a.loaded, nil
	}
	return a.configs.ConfigFor(ctx, "")
}
