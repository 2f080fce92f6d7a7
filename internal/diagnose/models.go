package diagnose

import (
	"context"
	"slices"
	"strings"
	"sync"

	"company/internal/adapters"
	officeapp "company/internal/app"
	"company/internal/config"
	"company/internal/health"
	"company/internal/office"
)

// checkModels is doctor's look at each profile that a role uses, or that one
// falls back to.
func (d *Checker) checkModels(ctx context.Context, p office.Paths, l config.Loaded, online bool) []health.Finding {
	users := map[string][]string{}
	for n, first := range officeapp.AgentModels(l.Config) {
		for i, name := range officeapp.FallbackChain(l.Config, first) {
			who := "second reviewer"
			switch roles := len(officeapp.AllRoles); {
			case n < roles:
				who = string(officeapp.AllRoles[n])
			case n > roles || l.Config.Agents.SecondReviewer.Model == "":
				who = "stuck worker"
			}
			if i > 0 {
				who = "fallback of " + first
			}
			if !slices.Contains(users[name], who) {
				users[name] = append(users[name], who)
			}
		}
	}
	reach := adapters.ReachLocal
	if online {
		reach = adapters.ReachReplies
	}
	var out []health.Finding
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, profile := range officeapp.ModelProfiles(l, p.Root, d.envValue) {
		if users[profile.Name] == nil {
			continue
		}
		wg.Go(func() {
			r := officeapp.ModelDrivers.Check(ctx, profile, officeapp.ModelDeps(l.Config, d.Logger), reach)
			r.Found = "for " + strings.Join(users[profile.Name], ", ") + ": " + r.Found
			mu.Lock()
			defer mu.Unlock()
			out = append(out, health.Finding{Name: "model " + profile.Name, Result: r})
		})
	}
	wg.Wait()
	slices.SortFunc(out, func(a, b health.Finding) int { return strings.Compare(a.Name, b.Name) })
	return out
}
