package diagnose

import (
	"context"
	"strings"

	"company/internal/config"
	mirrors "company/internal/depproxy"
	"company/internal/ecosystem"
	"company/internal/health"
)

// checkRegistries tells which registries dependencies come from, and which of
// the operator's settings are not followed. It sends no request.
func checkRegistries(ctx context.Context, cfg config.Config) []health.Finding {
	if cfg.Container.Deps == "off" {
		return singleResult("registries", health.Result{OK: true, Found: "none (container.deps: off)"})
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
	if up.Serves(ecosystem.Debian) { // there is none on a host that is no Debian, which is no fault
		found = append(found, ecosystem.Debian+" (for container.setup)")
	}
	r := health.Result{OK: true, Found: strings.Join(found, ", ") + ", as this host's own clients are set"}
	if logins := up.LoginHosts(); len(logins) > 0 {
		r.Found += "; with your login, for repositories of company trust --logins: " + strings.Join(logins, ", ")
	}
	if !all {
		r = health.Result{Warn: true, Found: "only " + strings.Join(found, ", ") + ": " + strings.Join(up.Notes, "; "), Fix: "set the client's registry, or nothing: projects of other kinds need it"}
	}
	return singleResult("registries", r)
}
