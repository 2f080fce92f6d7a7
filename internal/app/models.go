package app

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/lib/secret"
	"company/internal/office/config"
)

// standardKeys maps adapters to the variable with the key of their own service. It applies to
// profiles without a variable and without another address.
var standardKeys = map[string]string{"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}

// ModelProfiles converts the models of a config for their drivers. Keys come only from the
// environment.
func ModelProfiles(loaded config.Loaded, root string, getenv func(string) string) []adapters.Profile {
	var out []adapters.Profile
	for _, name := range slices.Sorted(maps.Keys(loaded.Config.Models)) {
		model := loaded.Config.Models[name]
		profile := adapters.Profile{
			Name: name, Adapter: model.Adapter, Model: cmp.Or(model.Model, model.Program),
			BaseURL: model.BaseURL, KeyEnv: model.APIKeyEnv,
			ContextTokens: model.ContextTokens, MaxOutput: model.MaxOutput, Fallback: model.Fallback,
			Temperature: model.Temperature, Tools: adapters.ToolUse(model.Tools), Images: adapters.ImageUse(model.Images),
			Unchosen: loaded.Origin["models."+name+".adapter"] == config.OriginDefault &&
				loaded.Origin["models."+name+".model"] == config.OriginDefault,
			SetIn: loaded.SetIn("models."+name+".base_url", "models."+name+".model"),
		}
		if profile.BaseURL == "" {
			if profile.KeyEnv == "" {
				profile.KeyEnv = standardKeys[model.Adapter]
			}
			profile.BaseURL = StandardAddress(model.Adapter, getenv)
		}
		if profile.KeyEnv != "" {
			profile.Key = secret.Trimmed(getenv(profile.KeyEnv))
		}
		if model.Script != "" {
			profile.Script = model.Script
			if !filepath.IsAbs(profile.Script) {
				profile.Script = filepath.Join(root, profile.Script)
			}
		}
		if model.Price != nil {
			profile.Price = adapters.Price{Known: true, InputMicro: int64(model.Price.Input),
				CacheMicro: int64(model.Price.Cached),
				WriteMicro: int64(model.Price.Write), OutMicro: int64(model.Price.Output)}
		}
		out = append(out, profile)
	}
	return out
}

// AllRoles lists the roles in display order.
var AllRoles = []company.Role{company.Manager, company.Worker, company.Reviewer, company.Merger}

// FallbackChain returns a profile and its fallbacks, in order and without duplicates.
func FallbackChain(cfg config.Config, profile string) []string {
	var out []string
	var add func(string)
	add = func(name string) {
		if slices.Contains(out, name) {
			return
		}
		out = append(out, name)
		for _, f := range cfg.Models[name].Next() {
			add(f)
		}
	}
	add(profile)
	return out
}

// AgentModels lists the first profile of each agent, in the order of the roles. Then come the
// second reviewer's profile, if any, and the profiles for a stuck subtask.
func AgentModels(cfg config.Config) []string {
	var out []string
	for _, role := range AllRoles {
		out = append(out, cfg.Agent(role).Model)
	}
	if second := cfg.Agents.SecondReviewer.Model; second != "" {
		out = append(out, second)
	}
	return append(out, cfg.Agents.Worker.EscalateTo...)
}

// UnpricedModels lists the models without a known price, in the order of the roles. Their calls
// count only tokens.
func UnpricedModels(cfg config.Config) []string {
	var out []string
	for _, first := range AgentModels(cfg) {
		for _, name := range FallbackChain(cfg, first) {
			m := cfg.Models[name]
			if m.Adapter == company.AdapterProgram {
				continue // the profile of its model is in the chain
			}
			if m.Price == nil && !ModelDeps(cfg, nil).Prices(m.Adapter, m.BaseURL, m.Model).Known {
				if model := cmp.Or(m.Model, name); !slices.Contains(out, model) {
					out = append(out, model)
				}
			}
		}
	}
	return out
}
