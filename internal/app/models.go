package app

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/config"
	"company/internal/secret"
)

// standardKeys are the variables that hold the keys of an adapter's own
// service, for profiles that name neither a variable nor another address.
var standardKeys = map[string]string{"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}

// ModelProfiles are the models of a config as their drivers need them. Keys come
// from the environment and from nowhere else.
func ModelProfiles(l config.Loaded, root string, getenv func(string) string) []adapters.Profile {
	var out []adapters.Profile
	for _, name := range slices.Sorted(maps.Keys(l.Config.Models)) {
		m := l.Config.Models[name]
		p := adapters.Profile{
			Name: name, Adapter: m.Adapter, Model: m.Model, BaseURL: m.BaseURL, KeyEnv: m.APIKeyEnv,
			ContextTokens: m.ContextTokens, MaxOutput: m.MaxOutput, Fallback: m.Fallback,
			Temperature: m.Temperature, Tools: adapters.ToolUse(m.Tools), Images: adapters.ImageUse(m.Images),
			Unchosen: l.Origin["models."+name+".adapter"] == config.OriginDefault && l.Origin["models."+name+".model"] == config.OriginDefault,
		}
		if p.BaseURL == "" {
			if p.KeyEnv == "" {
				p.KeyEnv = standardKeys[m.Adapter]
			}
			p.BaseURL = StandardAddress(m.Adapter, getenv)
		}
		if p.KeyEnv != "" {
			p.Key = secret.Trimmed(getenv(p.KeyEnv))
		}
		if m.Script != "" {
			p.Script = m.Script
			if !filepath.IsAbs(p.Script) {
				p.Script = filepath.Join(root, p.Script)
			}
		}
		if m.Price != nil {
			p.Price = adapters.Price{Known: true, InputMicro: int64(m.Price.Input), CacheMicro: int64(m.Price.Cached), WriteMicro: int64(m.Price.Write), OutMicro: int64(m.Price.Output)}
		}
		out = append(out, p)
	}
	return out
}

// AllRoles in the order in which they are shown.
var AllRoles = []company.Role{company.Manager, company.Worker, company.Reviewer, company.Merger}

// FallbackChain is a profile and what it falls back to, in this order.
func FallbackChain(c config.Config, profile string) []string {
	var out []string
	var add func(string)
	add = func(name string) {
		if slices.Contains(out, name) {
			return
		}
		out = append(out, name)
		for _, f := range c.Models[name].Fallback {
			add(f)
		}
	}
	add(profile)
	return out
}

// AgentModels names the profile that each agent asks first, in the order of the roles;
// then come the second reviewer's, where there is one, and those that a stuck subtask may be
// given.
func AgentModels(c config.Config) []string {
	var out []string
	for _, role := range AllRoles {
		out = append(out, c.Agent(role).Model)
	}
	if second := c.Agents.SecondReviewer.Model; second != "" {
		out = append(out, second)
	}
	return append(out, c.Agents.Worker.EscalateTo...)
}

// UnpricedModels names the models, in the order of the roles, without a known
// price: calls of them cost tokens alone.
func UnpricedModels(c config.Config) []string {
	var out []string
	for _, first := range AgentModels(c) {
		for _, name := range FallbackChain(c, first) {
			m := c.Models[name]
			if m.Price == nil && !ModelDeps(c, nil).Prices(m.Adapter, m.BaseURL, m.Model).Known {
				if model := cmp.Or(m.Model, name); !slices.Contains(out, model) {
					out = append(out, model)
				}
			}
		}
	}
	return out
}
