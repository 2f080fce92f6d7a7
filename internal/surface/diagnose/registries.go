package diagnose

import (
	"context"
	"strings"

	"company/internal/ecosystem"
	mirrors "company/internal/ecosystem/depproxy"
	"company/internal/lib/healthcheck"
	"company/internal/office/config"
)

// checkRegistries reports the registries that dependencies come from, and the operator's settings
// that are ignored. It sends no request.
func checkRegistries(ctx context.Context, cfg config.Config) []healthcheck.Finding {
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
	result := healthcheck.Result{OK: true, Found: strings.Join(found, ", ") + ", as this host's own clients are set"}
	if logins := up.LoginHosts(); len(logins) > 0 {
		result.Found += "; with your login, for repositories of company trust --logins: " + strings.Join(logins, ", ")
	}
	if !all {
		result = healthcheck.Result{Warn: true,
			Found: "only " + strings.Join(found, ", ") + ": " + strings.Join(up.Notes, "; "),
			Fix:   "set the client's registry, or nothing: projects of other kinds need it"}
	}
	return singleResult("registries", result)
}
