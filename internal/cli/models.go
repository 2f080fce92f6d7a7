package cli

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"company/internal/adapters"
	"company/internal/config"
	"company/internal/office"
)

// standardKeys are the variables that hold the keys of an adapter's own
// service, for profiles that name neither a variable nor another address.
var standardKeys = map[string]string{"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}

// envValue is a variable of the environment; empty where it is not set.
func (a *app) envValue(name string) string {
	v, _ := a.env(name)
	return v
}

// modelProfiles are the models of a config as their drivers need them. Keys come
// from the environment and from nowhere else.
func modelProfiles(l config.Loaded, root string, getenv func(string) string) []adapters.Profile {
	var out []adapters.Profile
	for _, name := range slices.Sorted(maps.Keys(l.Config.Models)) {
		m := l.Config.Models[name]
		p := adapters.Profile{
			Name: name, Adapter: m.Adapter, Model: m.Model, BaseURL: m.BaseURL, KeyEnv: m.APIKeyEnv,
			ContextTokens: m.ContextTokens, MaxOutput: m.MaxOutput, Fallback: m.Fallback,
			Temperature: m.Temperature, Tools: adapters.ToolUse(m.Tools),
			Unchosen: l.Origin["models."+name+".adapter"] == config.OriginDefault && l.Origin["models."+name+".model"] == config.OriginDefault,
		}
		if p.BaseURL == "" {
			if p.KeyEnv == "" {
				p.KeyEnv = standardKeys[m.Adapter]
			}
			p.BaseURL = standardAddress(m.Adapter, getenv)
		}
		if p.KeyEnv != "" {
			p.Key = adapters.NewSecret(getenv(p.KeyEnv))
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

// checkModels is doctor's look at each profile that a role uses, or that one
// falls back to.
func (a *app) checkModels(ctx context.Context, p office.Paths, l config.Loaded, online bool) []doctorResult {
	users := map[string][]string{}
	for _, role := range allRoles {
		for i, name := range fallbackChain(l.Config, l.Config.Agent(role).Model) {
			who := string(role)
			if i > 0 {
				who = "fallback of " + l.Config.Agent(role).Model
			}
			if !slices.Contains(users[name], who) {
				users[name] = append(users[name], who)
			}
		}
	}
	var out []doctorResult
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, profile := range modelProfiles(l, p.Root, a.envValue) {
		if users[profile.Name] == nil {
			continue
		}
		wg.Go(func() {
			r := modelDrivers.Check(ctx, profile, modelDeps(l.Config, a.log), online)
			r.Found = "for " + strings.Join(users[profile.Name], ", ") + ": " + r.Found
			mu.Lock()
			defer mu.Unlock()
			out = append(out, doctorResult{Name: "model " + profile.Name, Result: r})
		})
	}
	wg.Wait()
	slices.SortFunc(out, func(a, b doctorResult) int { return strings.Compare(a.Name, b.Name) })
	return out
}
