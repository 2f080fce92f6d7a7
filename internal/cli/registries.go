package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/config"
	"company/internal/depaccess"
	mirrors "company/internal/depproxy"
	"company/internal/feed"
	"company/internal/health"
	"company/internal/image"
	"company/internal/safetext"
)

// openRegistries opens the operator's package registries, behind caches that
// all offices of this user share. With container.deps: off there are none.
func (h *officeApp) openRegistries(ctx context.Context, cfg config.Config) (*mirrors.Stores, error) {
	if cfg.Container.Deps == "off" {
		return nil, nil
	}
	up, err := mirrors.LoadClientSettings(ctx)
	if err != nil {
		return nil, err
	}
	for _, note := range up.Notes {
		h.log.Info("registry", "note", note)
	}
	dir, err := image.CacheDir("")
	if err != nil {
		return nil, err
	}
	trust := config.OpenTrust(os.LookupEnv)
	stores, err := mirrors.OpenStores(filepath.Join(dir, "registries"), up, cfg.Container.Logins, trust.MayUseLogins)
	if err != nil {
		return nil, err
	}
	stores.Each(func(s *mirrors.Store) { s.SetLogger(h.log) })
	h.closers = append(h.closers, func() error { stores.Close(); return nil })
	return stores, nil
}

// dependencyAccess says what runs may fetch of the registries; nil where there are
// none.
func (h *officeApp) dependencyAccess(stores *mirrors.Stores) *depaccess.Service {
	if stores == nil {
		return nil
	}
	return &depaccess.Service{
		Stores: stores, Desk: h.orch, Runs: h.office.RunsFolder, Logger: h.log, Unwritten: h.projector.noteRunFile,
		Told: func(run company.RunID, line string) {
			h.publishItem(feed.Item{Task: run.Task(), Run: run, Kind: "registry", Mark: feed.Info, Text: safetext.EscapeLine(line, 200)})
		},
	}
}

// setupEnv are the values of container.setup_env. They go to the preparation
// of images and nowhere else.
func setupEnv(cfg config.Config, lookup func(string) (string, bool)) (map[string]image.Secret, error) {
	out := map[string]image.Secret{}
	for _, name := range cfg.Container.SetupEnv {
		v, ok := lookup(name)
		if !ok {
			return nil, company.E(company.EConfig, "container.setup_env names "+name+", which is not set").
				Fix("export " + name + " where company runs, or take it out of container.setup_env")
		}
		out[name] = image.NewSecret(v)
	}
	return out, nil
}

// checkRegistries tells which registries dependencies come from, and what of
// the operator's settings is not followed. Nobody is asked.
func checkRegistries(ctx context.Context, cfg config.Config) []doctorResult {
	if cfg.Container.Deps == "off" {
		return singleResult("registries", health.Result{OK: true, Found: "none (container.deps: off)"})
	}
	up, err := mirrors.LoadClientSettings(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return singleResult("registries", errorResult(err))
	}
	var found []string
	for _, e := range mirrors.Ecosystems() {
		if up.Serves(e) {
			found = append(found, e)
		}
	}
	all := len(found) == len(mirrors.Ecosystems())
	if up.Serves(mirrors.Debian) { // there is none on a host that is no Debian, which is no fault
		found = append(found, mirrors.Debian+" (for container.setup)")
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
