package app

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"company/internal/adapters"
	"company/internal/adapters/anthropic"
	"company/internal/adapters/ollama"
	"company/internal/adapters/openai"
	"company/internal/adapters/scripted"
	"company/internal/agent/budget"
	"company/internal/bus"
	"company/internal/bus/file"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/container"
	"company/internal/container/docker"
	"company/internal/container/dockerapi"
	"company/internal/forge"
	"company/internal/forge/gitea"
	"company/internal/forge/github"
	"company/internal/forge/local"
	"company/internal/lib/safedir"
	"company/internal/office"
	"company/internal/office/config"
)

// This file is the only place that knows the drivers. A new driver is one line here.

func init() {
	var forges []string
	for _, driver := range ForgeDrivers {
		forges = append(forges, driver.Kind)
	}
	config.NameDrivers("forge", forges)
	config.NameDrivers("bus", BusDriverNames())
	config.NameDrivers("adapter", slices.Sorted(slices.Values(append(
		slices.Collect(maps.Keys(ModelDrivers)), company.AdapterProgram))))
}

// ModelDrivers holds the model adapters by name.
var ModelDrivers = adapters.Registry{
	"anthropic": anthropic.Factory,
	"ollama":    ollama.Factory,
	"openai":    openai.Factory,
	"scripted":  scripted.Factory,
}

// StandardAddress returns the default address of an adapter's server. For ollama it reads
// OLLAMA_HOST, like Ollama's programs. It returns "" for other adapters.
func StandardAddress(adapter string, getenv func(string) string) string {
	if adapter == "ollama" {
		return ollama.AddressOf(getenv("OLLAMA_HOST"))
	}
	return ""
}

// DefaultModel returns the model for a config without one: on Ollama, llama3 or the first
// installed model that can call tools.
func DefaultModel(ctx context.Context, getenv func(string) string) (string, error) {
	return ollama.Default(ctx, getenv("OLLAMA_HOST"))
}

// BusDrivers lists the drivers of the bus, the default first.
var BusDrivers = []bus.Driver{nats.Driver, file.Driver}

// findBusDriver returns the driver of a name.
func findBusDriver(name string) (bus.Driver, error) {
	for _, driver := range BusDrivers {
		if driver.Name == name {
			return driver, nil
		}
	}
	return bus.Driver{}, company.E(company.EConfig, "unknown bus driver "+name).
		Fix("choose one of " + strings.Join(BusDriverNames(), ", "))
}

// BusDriverNames lists the names of the drivers of the bus, the default first.
func BusDriverNames() (names []string) {
	for _, driver := range BusDrivers {
		names = append(names, driver.Name)
	}
	return names
}

// busRecords returns the records folder of each driver.
func busRecords() map[string]string {
	out := map[string]string{}
	for _, driver := range BusDrivers {
		out[driver.Name] = driver.Records
	}
	return out
}

// openBus opens the bus of an office with the configured driver, if the office uses that driver.
func openBus(ctx context.Context, off *office.Office, cfg config.Config, log *slog.Logger) (bus.Bus, error) {
	driver, err := findBusDriver(cfg.Bus.Driver)
	if err != nil {
		return nil, err
	}
	if err := off.SettleBusDriver(cfg.Bus.Driver, busRecords()); err != nil {
		return nil, err
	}
	return driver.Open(ctx, off.BusFolder, log)
}

// Daemon holds the settings of the Docker daemon for containers and images.
type Daemon struct {
	Host    string        // container.docker_host (empty means the address that Docker's own client uses)
	Cleanup time.Duration // timeout of one removal (0 means the driver's default)
	Allow   []string      // container.allow
	Logger  *slog.Logger
}

// DaemonOf returns the daemon of a config. DOCKER_HOST overrides container.docker_host, which overrides
// the contexts of Docker's own client.
func DaemonOf(c config.Config, env func(string) (string, bool), log *slog.Logger) Daemon {
	daemon := Daemon{Host: c.Container.DockerHost, Cleanup: c.Container.CleanupTimeout,
		Allow: c.Container.Allow, Logger: log}
	if host, ok := env("DOCKER_HOST"); ok && host != "" {
		daemon.Host = ""
	}
	return daemon
}

// OpenRuntime connects to the daemon.
func (d Daemon) OpenRuntime(ctx context.Context) (container.Runtime, error) {
	return d.openDocker(ctx)
}

func (d Daemon) openDocker(ctx context.Context) (*docker.Runtime, error) {
	var allow []dockerapi.Word
	if d.Allow != nil { // without a config all are allowed
		allow = []dockerapi.Word{}
	}
	for _, call := range d.Allow {
		allow = append(allow, dockerapi.Word(call))
	}
	return docker.Open(ctx, docker.Options{Host: d.Host, Allow: allow, Cleanup: d.Cleanup, Log: d.Logger})
}

// ListContainers returns the containers with our labels, of all offices.
func (d Daemon) ListContainers(ctx context.Context) (list []container.Info, err error) {
	rt, err := d.openDocker(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	return rt.ListAll(ctx)
}

// ForgeDrivers lists the forges on the network, the most common one first.
var ForgeDrivers = []forge.Driver{github.Driver, gitea.Driver}

// tokenNames returns the environment variables in which the forges' own tools store tokens.
func tokenNames() (names []string) {
	for _, driver := range ForgeDrivers {
		names = append(append(names, driver.TokenEnvs...), driver.OtherTokenEnvs...)
	}
	return names
}

func webhookKinds() (kinds []forge.Webhook) {
	for _, driver := range ForgeDrivers {
		kinds = append(kinds, driver.Webhook)
	}
	return kinds
}

// OpenForges returns a selector that picks a forge for a remote. Pages are stored in pulls/ of the
// state folder.
func OpenForges(
	state *safedir.Folder, cfg config.Config, log *slog.Logger, env func(string) (string, bool),
) *forge.Selector {
	return &forge.Selector{
		Resolve: resolveRemotes(cfg, env),
		Settings: forge.Settings{Kind: cfg.Forge.Kind, URL: cfg.Forge.URL, TokenEnv: cfg.Forge.TokenEnv,
			App: forge.App{ID: int64(cfg.Forge.AppID), Installation: int64(cfg.Forge.InstallationID),
				KeyEnv: cfg.Forge.PrivateKeyEnv}},
		Drivers: ForgeDrivers,
		Local:   &local.Forge{Office: state, Dir: PullsDir}, Log: log,
		Env: func(name string) string {
			v, _ := env(name)
			return v
		},
	}
}

func ModelDeps(cfg config.Config, log *slog.Logger) adapters.Deps {
	policy := adapters.DefaultPolicy()
	policy.MaxWait = cfg.Limits.ModelWait
	silence := cfg.Limits.ModelSilence
	return adapters.Deps{Log: log, Prices: budget.ListPrice, Policy: policy, FirstToken: silence, Idle: silence}
}
