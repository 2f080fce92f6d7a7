package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/company"
	"company/internal/config"
	"company/internal/office"
	"company/internal/safetext"
)

const (
	// DialTimeout is how long the holder of an office has to answer.
	DialTimeout = 5 * time.Second
	// TakeOverTimeout is the same for one that cannot answer yet, or not any more: it
	// opens the office, or puts away its containers first.
	TakeOverTimeout = 30 * time.Second
)

// FindOffice finds the office. It makes nothing.
func (env *Environment) FindOffice() (office.Paths, error) {
	if officeapp.IsAddress(env.RepoDir) {
		return office.Paths{}, company.E(company.EUsage, "--repo takes an address with company submit alone").Because("other commands are about the office you stand in").
			Fix("leave --repo out; company project list shows where the clone is")
	}
	return office.Find(office.FindOptions{Dir: env.RepoDir, Office: env.OfficeDir, Env: env.LookupEnv})
}

// LoadConfig gives the config of an office.
func (env *Environment) LoadConfig(ctx context.Context, p office.Paths) (config.Loaded, error) {
	return env.loadProjectConfig(ctx, p, "")
}

// loadProjectConfig gives the config for work on a project: where that is not the
// office's own, its company.yaml counts for gates and container. A command reads
// a config once.
func (env *Environment) loadProjectConfig(ctx context.Context, p office.Paths, project string) (config.Loaded, error) {
	if project == p.Repo {
		project = ""
	}
	key := [2]string{p.Root, project}
	if loaded, ok := env.configs[key]; ok {
		return loaded, nil
	}
	loaded, err := env.readConfig(ctx, p, project)
	if err == nil {
		if env.configs == nil {
			env.configs = map[[2]string]config.Loaded{}
		}
		env.configs[key] = loaded
	}
	return loaded, err
}

// readConfig reads a config as it is now.
func (env *Environment) readConfig(ctx context.Context, p office.Paths, project string) (config.Loaded, error) {
	flags := map[string]string{}
	for _, kv := range env.ConfigFlags {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return config.Loaded{}, company.E(company.EUsage, fmt.Sprintf("--set %q is not key=value", kv)).Fix("--set workers.max=5")
		}
		flags[k] = v
	}
	o := env.LoadOptions(p, flags)
	o.Project = project
	return config.Load(ctx, o)
}

func (env *Environment) LoadOptions(p office.Paths, flags map[string]string) config.LoadOptions {
	return config.LoadOptions{OfficeDir: p.Root, Env: env.LookupEnv, Environ: env.Environ, Flags: flags}
}

// LoadReady is the office and a config that it can work with.
func (env *Environment) LoadReady(ctx context.Context) (office.Paths, config.Loaded, error) {
	paths, err := env.FindOffice()
	if err != nil {
		return office.Paths{}, config.Loaded{}, err
	}
	loaded, err := env.LoadConfig(ctx, paths)
	if err != nil {
		return office.Paths{}, config.Loaded{}, err
	}
	return paths, loaded, loaded.CheckSupported()
}

// OpenOrDial takes the office's lock, or reaches its holder; when neither
// succeeds within the patience, it returns EHeld. Exactly one of the two is
// returned.
func (env *Environment) OpenOrDial(ctx context.Context, paths office.Paths, patience time.Duration) (h *officeapp.App, remote *client.Office, err error) {
	off, err := env.OpenOffice(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	began := time.Now()
	for {
		lock, held, err := office.TryLock(paths)
		if err != nil {
			return nil, nil, errors.Join(err, off.Close())
		}
		if lock != nil {
			loaded, err := env.LoadConfig(ctx, paths)
			if err != nil {
				return nil, nil, errors.Join(err, lock.Release(), off.Close())
			}
			h, err := officeapp.Open(ctx, env.openOptions(off, lock, loaded))
			return h, nil, err
		}
		c, err := client.Dial(ctx, held)
		if c != nil || err != nil {
			return nil, c, errors.Join(err, off.Close())
		}
		if time.Since(began) > waitFor(held, patience) {
			_ = off.Close()
			return nil, nil, office.HeldError(held)
		}
		select {
		case <-ctx.Done():
			_ = off.Close()
			return nil, nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// openOptions is what this process opens an office with.
func (env *Environment) openOptions(off *office.Office, lock *office.Lock, loaded config.Loaded) officeapp.Options {
	return officeapp.Options{
		Office: off, Lock: lock, Config: loaded, Env: env.LookupEnv, Clocks: env.Clocks, Version: Version, Logger: env.Log,
		Configs: projectConfigs{env, off.Paths},
	}
}

// projectConfigs reads the configs of an office's projects, for each task anew:
// people change them while an office works.
type projectConfigs struct {
	env   *Environment
	paths office.Paths
}

func (c projectConfigs) ConfigFor(ctx context.Context, project string) (config.Loaded, error) {
	if project == c.paths.Repo {
		project = ""
	}
	return c.env.readConfig(ctx, c.paths, project)
}

// waitFor is how long the office may be held without an answer: for the
// patience, and for longer where the holder does not listen, since it opens the
// office or ends. Every command is such a holder for a moment.
func waitFor(held *office.Holder, patience time.Duration) time.Duration {
	if held == nil || held.Socket == "" {
		return max(patience, TakeOverTimeout)
	}
	return patience
}

// OpenOffice opens the folders of an office, and tells people what they are to
// know of them.
func (env *Environment) OpenOffice(ctx context.Context, paths office.Paths) (*office.Office, error) {
	off, err := office.Open(ctx, paths)
	if err != nil {
		return nil, err
	}
	for _, line := range off.Notices {
		env.PrintNote("%s", safetext.EscapeLine(line, 600))
	}
	return off, nil
}

// ConnectOffice gives the office for a command that only looks or sends one command.
// It makes no office where there is none.
func (env *Environment) ConnectOffice(ctx context.Context) (*client.Office, office.Paths, error) {
	paths, err := env.FindOffice()
	if err != nil {
		return nil, paths, err
	}
	if !paths.Exists() {
		return client.None(paths), paths, nil
	}
	// The process that has the office has looked at its folders, and asked git.
	if remote, err := client.Dial(ctx, office.FindHolder(paths)); remote != nil || err != nil {
		return remote, paths, err
	}
	h, remote, err := env.OpenOrDial(ctx, paths, DialTimeout)
	if err != nil || remote != nil {
		return remote, paths, err
	}
	return client.Local(h), paths, nil
}

// IsFeedCut says that a feed was cut by the end of the other process.
func IsFeedCut(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
