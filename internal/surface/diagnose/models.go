package diagnose

import (
	"context"
	"slices"
	"strings"
	"sync"

	"company/internal/adapters"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/healthcheck"
	"company/internal/office"
	"company/internal/office/config"
)

// checkModels checks each profile that a role uses, directly or as a fallback.
func (d *Checker) checkModels(
	ctx context.Context, paths office.Paths, loaded config.Loaded, online bool,
) []healthcheck.Finding {
	users := map[string][]string{}
	for n, first := range officeapp.AgentModels(loaded.Config) {
		for i, name := range officeapp.FallbackChain(loaded.Config, first) {
			who := "second reviewer"
			switch roles := len(officeapp.AllRoles); {
			case n < roles:
				who = string(officeapp.AllRoles[n])
			case n > roles || loaded.Config.Agents.SecondReviewer.Model == "":
				who = "stuck worker"
			}
			if i > 0 {
				who = "fallback of " + first
				if loaded.Config.Models[first].Via != "" {
					who = "requests of " + first
				}
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
	var out []healthcheck.Finding
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, profile := range officeapp.ModelProfiles(loaded, paths.Root, d.envValue) {
		if users[profile.Name] == nil {
			continue
		}
		if profile.Adapter == company.AdapterProgram {
			found := "for " + strings.Join(users[profile.Name], ", ") + ": runs " +
				strings.Join(loaded.Config.Models[profile.Name].Bin, " ") + " of the worker's image"
			mu.Lock()
			out = append(out, healthcheck.Finding{Name: "model " + profile.Name,
				Result: healthcheck.Result{OK: true, Found: found}})
			mu.Unlock()
			continue
		}
		wg.Go(func() {
			result := officeapp.ModelDrivers.Check(ctx, profile, officeapp.ModelDeps(loaded.Config, d.Logger), reach)
			result.Found = "for " + strings.Join(users[profile.Name], ", ") + ": " + result.Found
			mu.Lock()
			defer mu.Unlock()
			out = append(out, healthcheck.Finding{Name: "model " + profile.Name, Result: result})
		})
	}
	wg.Wait()
	slices.SortFunc(out, func(a, b healthcheck.Finding) int { return strings.Compare(a.Name, b.Name) })
	return out
}
