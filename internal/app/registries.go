package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"

	"company/internal/agentrun/depaccess"
	"company/internal/company"
	"company/internal/container/image"
	"company/internal/ecosystem"
	mirrors "company/internal/ecosystem/depproxy"
	"company/internal/lib/safetext"
	"company/internal/lib/secret"
	"company/internal/office/config"
	"company/internal/present/feed"
)

// OpenRegistries opens the operator's package registries with caches that all offices of this user
// share. With container.deps: off it returns nil.
func OpenRegistries(
	ctx context.Context, cfg config.Config, env func(string) (string, bool), log *slog.Logger,
) (*mirrors.Stores, error) {
	if cfg.Container.Deps == "off" {
		return nil, nil
	}
	up, err := mirrors.LoadClientSettings(ctx)
	if err != nil {
		return nil, err
	}
	for _, note := range up.Notes {
		log.Info("registry", "note", note)
	}
	dir, err := image.CacheDir("")
	if err != nil {
		return nil, err
	}
	trust := config.OpenTrust(env)
	stores, err := mirrors.OpenStores(filepath.Join(dir, "registries"), up, cfg.Container.Logins, trust.MayUseLogins)
	if err != nil {
		return nil, err
	}
	stores.Each(func(s *mirrors.Store) { s.SetLogger(log) })
	return stores, nil
}

// dependencyAccess returns the service that runs use to fetch from the registries, or nil if there
// are none.
func (a *App) dependencyAccess(stores *mirrors.Stores) (*depaccess.Service, error) {
	if stores == nil {
		return nil, nil
	}
	return depaccess.New(depaccess.Config{
		Stores: stores, Coordinator: company.CoordinatorOf(a.orch), Runs: a.office.RunsFolder, Logger: a.log, Watcher: a,
	})
}

// WatchFetch publishes the fetches of runs from registries.
func (a *App) WatchFetch(run company.RunID, line string) {
	a.publishItem(
		feed.Item{Task: run.Task(), Run: run, Kind: "registry", Mark: feed.Info, Text: safetext.EscapeLine(line, 200)})
}

// SetupEnv returns the values of container.setup_env. They are used only to prepare images.
func SetupEnv(cfg config.Config, lookup func(string) (string, bool)) (map[string]secret.Value, error) {
	out := map[string]secret.Value{}
	for _, name := range cfg.Container.SetupEnv {
		v, ok := lookup(name)
		if !ok {
			return nil, company.E(company.EConfig, "container.setup_env names "+name+", which is not set").
				Fix("export " + name + " where company runs, or remove it from container.setup_env")
		}
		out[name] = secret.New(v)
	}
	return out, nil
}

// Logins describes the settings of the operator's own package registry clients.
type Logins struct {
	Hosts     []string // hosts with a login
	GoPrivate string   // private Go modules
}

// LoadLogins reads the settings of the operator's own clients.
func LoadLogins(ctx context.Context) (Logins, error) {
	up, err := mirrors.LoadClientSettings(ctx)
	if err != nil {
		return Logins{}, err
	}
	return Logins{Hosts: append([]string{}, up.LoginHosts()...), GoPrivate: up.Registries[ecosystem.Go].Private}, nil
}

// RenderText describes how a repository could use the logins, for the person's decision.
func (l Logins) RenderText() string {
	text := ""
	if len(l.Hosts) > 0 {
		text += "could have packages with your logins at: " + safetext.Escape(strings.Join(l.Hosts, ", ")) + "\n"
	}
	if l.GoPrivate != "" {
		text += "could have the Go modules that you call private: " + safetext.EscapeLine(l.GoPrivate, 300) + "\n"
	}
	if text == "" {
		text = "no package registry of this host is set to a login now, and GOPRIVATE is empty\n"
	}
	return text
}
