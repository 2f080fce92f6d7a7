package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"company/internal/adapters"
	"company/internal/adapters/anthropic"
	"company/internal/adapters/ollama"
	"company/internal/adapters/openai"
	"company/internal/adapters/scripted"
	"company/internal/budget"
	"company/internal/bus"
	"company/internal/bus/file"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/config"
	"company/internal/container"
	"company/internal/container/docker"
	"company/internal/folder"
	"company/internal/forge"
	"company/internal/forge/gitea"
	"company/internal/forge/github"
	"company/internal/forge/local"
	"company/internal/office"
)

// This file is the one place that knows drivers. A new one is a line here.

// ModelDrivers is the table of model adapters.
var ModelDrivers = adapters.Registry{
	"anthropic": anthropic.Factory,
	"ollama":    ollama.Factory,
	"openai":    openai.Factory,
	"scripted":  scripted.Factory,
}

// StandardAddress is where an adapter's own server is, for profiles that name
// no other: Ollama's programs read OLLAMA_HOST, and so does the company.
func StandardAddress(adapter string, getenv func(string) string) string {
	if adapter == "ollama" {
		return ollama.AddressOf(getenv("OLLAMA_HOST"))
	}
	return ""
}

// DefaultModel is the model that is used where nobody chose one: on Ollama,
// llama3 or the first installed one that can call tools.
func DefaultModel(ctx context.Context, getenv func(string) string) (string, error) {
	return ollama.Default(ctx, getenv("OLLAMA_HOST"))
}

// busDriver is a kind of bus.
type busDriver struct {
	open    func(ctx context.Context, own *folder.Folder, log *slog.Logger) (bus.Bus, error)
	records string // the folder of its records in that of the bus
	// salvage opens a damaged bus to read what can be read of it.
	salvage func(ctx context.Context, own *folder.Folder, log *slog.Logger) (bus.Bus, []BusDamage, error)
}

var busDrivers = map[string]busDriver{
	"nats": {func(ctx context.Context, own *folder.Folder, log *slog.Logger) (bus.Bus, error) {
		return nats.Open(ctx, nats.Options{Folder: own, Logger: log})
	}, "jetstream", salvageNATS},
	"file": {func(ctx context.Context, own *folder.Folder, log *slog.Logger) (bus.Bus, error) {
		return file.Open(ctx, file.Options{Folder: own, Logger: log})
	}, "wal", salvageFile},
}

// busRecords is where each driver has its records.
func busRecords() map[string]string {
	out := map[string]string{}
	for name, d := range busDrivers {
		out[name] = d.records
	}
	return out
}

func salvageNATS(ctx context.Context, own *folder.Folder, log *slog.Logger) (bus.Bus, []BusDamage, error) {
	b, found, err := nats.Salvage(ctx, nats.Options{Folder: own, Logger: log})
	damage := make([]BusDamage, len(found))
	for i, d := range found {
		damage[i] = BusDamage{File: d.File, Offset: d.Offset, Bytes: d.Bytes, Why: "a record does not match its checksum", Mended: d.Mended, Known: true, after: d.After}
		switch {
		case d.Mended:
			damage[i].Why = "one bit of a record had changed"
		case d.Stream == nats.LedgerStream:
			damage[i].Lost = []string{bus.Ledger}
		default:
			damage[i].Lost = []string{bus.JournalPrefix + "*"}
		}
	}
	return b, damage, err
}

func salvageFile(ctx context.Context, own *folder.Folder, log *slog.Logger) (bus.Bus, []BusDamage, error) {
	b, found, err := file.Salvage(ctx, file.Options{Folder: own, Logger: log})
	damage := make([]BusDamage, len(found))
	for i, d := range found {
		damage[i] = BusDamage{File: d.File, Offset: d.Offset, Bytes: d.Bytes, Why: d.Why, Mended: d.Mended, Lost: d.Lost, Known: d.Known, after: d.After}
	}
	return b, damage, err
}

// scanFileBus calls fn for what the log of the file driver holds, without its lock.
func scanFileBus(own *folder.Folder, fn func(BusRecord) error) error {
	return file.Scan(own, func(e file.Entry) error {
		r := BusRecord{SchemaVersion: 1, Kind: e.Kind, File: e.File, Offset: e.Offset, Seq: e.Seq, Time: e.Time, Subject: e.Subject, ID: e.ID}
		r.setData(e.Data)
		return fn(r)
	}, func(name string, offset, bytes int64) error {
		return fn(BusRecord{SchemaVersion: 1, Kind: BusUnreadable, File: name, Offset: offset, Bytes: bytes})
	})
}

// openBus opens the bus of an office with the driver that a config names, if it is
// the office's.
func openBus(ctx context.Context, off *office.Office, c config.Config, log *slog.Logger) (bus.Bus, error) {
	d, ok := busDrivers[c.Bus.Driver]
	if !ok {
		return nil, company.E(company.EConfig, "there is no bus driver "+c.Bus.Driver)
	}
	if err := finishRepair(off); err != nil {
		return nil, err
	}
	if err := off.SettleBusDriver(c.Bus.Driver, busRecords()); err != nil {
		return nil, err
	}
	return d.open(ctx, off.BusFolder, log)
}

// Daemon is the Docker daemon that containers and images are asked of.
type Daemon struct {
	Host    string        // its address; empty: DOCKER_HOST, else the usual socket
	Cleanup time.Duration // for one removal; 0: the driver's own
	Logger  *slog.Logger
}

// DaemonOf is the daemon of a config. DOCKER_HOST goes before container.docker_host, as
// it does before the contexts of Docker's own client.
func DaemonOf(c config.Config, env func(string) (string, bool), log *slog.Logger) Daemon {
	d := Daemon{Host: c.Container.DockerHost, Cleanup: c.Container.CleanupTimeout, Logger: log}
	if host, ok := env("DOCKER_HOST"); ok && host != "" {
		d.Host = ""
	}
	return d
}

// OpenRuntime connects to the daemon.
func (d Daemon) OpenRuntime(ctx context.Context) (container.Runtime, error) {
	return d.openDocker(ctx)
}

func (d Daemon) openDocker(ctx context.Context) (*docker.Runtime, error) {
	return docker.Open(ctx, docker.Options{Host: d.Host, Cleanup: d.Cleanup, Log: d.Logger})
}

// ListContainers are the containers with our labels, of every office.
func (d Daemon) ListContainers(ctx context.Context) (list []container.Info, err error) {
	rt, err := d.openDocker(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	return rt.ListAll(ctx)
}

// tokenNames are the variables that the forges' own tools keep tokens in.
func tokenNames() []string {
	return slices.Concat(github.Driver.TokenEnvs, github.Driver.OtherTokenEnvs, gitea.Driver.TokenEnvs, gitea.Driver.OtherTokenEnvs)
}

// OpenForges picks a forge per remote. Pages are kept in pulls/ of the state
// folder.
func OpenForges(state *folder.Folder, c config.Config, log *slog.Logger, env func(string) (string, bool)) *forge.Selector {
	return &forge.Selector{
		Resolve: resolveRemotes(c, env),
		Settings: forge.Settings{Kind: c.Forge.Kind, URL: c.Forge.URL, TokenEnv: c.Forge.TokenEnv,
			App: forge.App{ID: int64(c.Forge.AppID), Installation: int64(c.Forge.InstallationID), KeyEnv: c.Forge.PrivateKeyEnv}},
		Drivers: map[string]forge.Driver{"github": github.Driver, "gitea": gitea.Driver},
		Local:   &local.Forge{Office: state, Dir: PullsDir}, Log: log,
		Env: func(name string) string {
			v, _ := env(name)
			return v
		},
	}
}

func ModelDeps(c config.Config, log *slog.Logger) adapters.Deps {
	policy := adapters.DefaultPolicy()
	policy.MaxWait = c.Limits.ModelWait
	silence := c.Limits.ModelSilence
	return adapters.Deps{Log: log, Prices: budget.ListPrice, Policy: policy, FirstToken: silence, Idle: silence}
}
