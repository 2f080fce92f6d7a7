package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/ecosystem"
	mirrors "company/internal/ecosystem/depproxy"
	"company/internal/lib/healthcheck"
	"company/internal/office/config"
)

// registriesTimeout limits the requests to the registries.
const registriesTimeout = 8 * time.Second

// checkRegistries reports the registries that dependencies come from, and the operator's settings
// that are ignored. It sends no request: askRegistries does.
func checkRegistries(ctx context.Context, cfg config.Config, online bool) []healthcheck.Finding {
	if cfg.Container.Deps == "off" {
		return singleResult("registries", healthcheck.Result{OK: true, Found: "none (container.deps: off)"})
	}
	up, err := mirrors.LoadClientSettings(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return singleResult("registries", ErrorResult(err))
	}
	var found []string
	for _, e := range mirrors.Ecosystems() {
		if up.Serves(e) {
			found = append(found, e)
		}
	}
	all := len(found) == len(mirrors.Ecosystems())
	if up.Serves(ecosystem.Debian) { // a host other than Debian has none, which is fine
		found = append(found, ecosystem.Debian+" (for container.setup)")
	}
	result := healthcheck.Result{OK: true, Found: strings.Join(found, ", ") + ", as configured on this host"}
	if !online {
		result.Found += "; not contacted: --online checks those that the project needs"
	}
	if logins := up.LoginHosts(); len(logins) > 0 {
		result.Found += "; with your login, for repositories trusted with company trust --logins: " + strings.Join(logins, ", ")
	}
	if !all {
		result = healthcheck.Result{Warn: true,
			Found: "only " + strings.Join(found, ", ") + ": " + strings.Join(up.Notes, "; "),
			Fix:   "set the client's registry if a project needs it"}
	}
	return singleResult("registries", result)
}

// askRegistries asks the registries of these kinds whether they answer. It returns a finding for each one that does
// not, or a single finding if all do.
func (d *Checker) askRegistries(
	ctx context.Context, cfg config.Config, repo string, kinds []string,
) []healthcheck.Finding {
	const name = "registry access"
	if cfg.Container.Deps == "off" {
		return nil
	}
	if len(cfg.Container.Setup) > 0 {
		kinds = append(slices.Clone(kinds), ecosystem.Debian)
	}
	up, err := mirrors.LoadClientSettings(ctx)
	if err != nil {
		return nil // ctx has ended
	}
	if !config.OpenTrust(d.Env).MayUseLogins(ctx, repo) {
		up = up.WithoutLogins(cfg.Container.Logins)
	}
	answers, err := up.AskRegistries(ctx, registriesTimeout, kinds)
	if err != nil {
		return singleResult(name, ErrorResult(err))
	}
	var out []healthcheck.Finding
	var hosts []string
	for _, answer := range answers {
		if answer.Why == "" {
			hosts = append(hosts, answer.Host)
			continue
		}
		fix := "check this machine's network, DNS and proxy (HTTPS_PROXY)"
		if answer.WantsLogin {
			fix = "give the " + answer.Kind + " client of this machine a login for " + answer.Host +
				"; company trust --logins lets this repository use it"
		}
		if answer.Kind != ecosystem.Debian {
			fix += "; or work without its packages: company config set --own deps.without '[" + answer.Kind + "]'"
		}
		out = append(out, healthcheck.Finding{Name: name,
			Result: healthcheck.Result{Found: fmt.Sprintf("%s (%s): %s", answer.Host, answer.Kind, answer.Why), Fix: fix}})
	}
	switch {
	case len(out) > 0:
		return out
	case len(kinds) == 0:
		return singleResult(name, healthcheck.Result{OK: true, Found: "the project needs none"})
	case len(hosts) == 0:
		return singleResult(name, healthcheck.Result{OK: true, Found: "none contacted: the registries of " +
			strings.Join(kinds, ", ") + " are local folders, or need a login (company trust --logins)"})
	}
	slices.Sort(hosts)
	found := strings.Join(slices.Compact(hosts), ", ") + ": answered"
	return singleResult(name, healthcheck.Result{OK: true, Found: found})
}
