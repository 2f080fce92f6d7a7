package cli

import (
	"context"
	"encoding/json"
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
	// dialTimeout is how long the holder of an office has to answer.
	dialTimeout = 5 * time.Second
	// takeOverTimeout is the same for one that cannot answer yet, or not any more: it
	// opens the office, or puts away its containers first.
	takeOverTimeout = 30 * time.Second
)

// findOffice finds the office. It makes nothing.
func (a *app) findOffice() (office.Paths, error) {
	return office.Find(office.FindOptions{Dir: a.repoDir, Office: a.officeDir, Env: a.env})
}

// loadConfig gives the config of an office.
func (a *app) loadConfig(ctx context.Context, p office.Paths) (config.Loaded, error) {
	return a.loadProjectConfig(ctx, p, "")
}

// loadProjectConfig gives the config for work on a project: where that is not the
// office's own, its company.yaml counts for gates and container. A command reads
// a config once.
func (a *app) loadProjectConfig(ctx context.Context, p office.Paths, project string) (config.Loaded, error) {
	if project == p.Repo {
		project = ""
	}
	key := [2]string{p.Root, project}
	if loaded, ok := a.configs[key]; ok {
		return loaded, nil
	}
	loaded, err := a.readConfig(ctx, p, project)
	if err == nil {
		if a.configs == nil {
			a.configs = map[[2]string]config.Loaded{}
		}
		a.configs[key] = loaded
	}
	return loaded, err
}

// readConfig reads a config as it is now.
func (a *app) readConfig(ctx context.Context, p office.Paths, project string) (config.Loaded, error) {
	flags := map[string]string{}
	for _, kv := range a.configFlags {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return config.Loaded{}, company.E(company.EUsage, fmt.Sprintf("--set %q is not key=value", kv)).Fix("--set workers.max=5")
		}
		flags[k] = v
	}
	o := a.loadOptions(p, flags)
	o.Project = project
	return config.Load(ctx, o)
}

func (a *app) loadOptions(p office.Paths, flags map[string]string) config.LoadOptions {
	return config.LoadOptions{OfficeDir: p.Root, Env: a.env, Environ: a.environ, Flags: flags}
}

// loadReady is the office and a config that it can work with.
func (a *app) loadReady(ctx context.Context) (office.Paths, config.Loaded, error) {
	paths, err := a.findOffice()
	if err != nil {
		return office.Paths{}, config.Loaded{}, err
	}
	loaded, err := a.loadConfig(ctx, paths)
	if err != nil {
		return office.Paths{}, config.Loaded{}, err
	}
	return paths, loaded, loaded.CheckSupported()
}

// openOrDial takes the office's lock, or reaches its holder; when neither
// succeeds within the patience, it returns EHeld. Exactly one of the two is
// returned.
func (a *app) openOrDial(ctx context.Context, paths office.Paths, patience time.Duration) (h *officeapp.App, remote *client.Office, err error) {
	off, err := a.openOffice(ctx, paths)
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
			loaded, err := a.loadConfig(ctx, paths)
			if err != nil {
				return nil, nil, errors.Join(err, lock.Release(), off.Close())
			}
			h, err := officeapp.Open(ctx, a.openOptions(off, lock, loaded))
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
func (a *app) openOptions(off *office.Office, lock *office.Lock, loaded config.Loaded) officeapp.Options {
	return officeapp.Options{
		Office: off, Lock: lock, Config: loaded, Env: a.env, Clocks: a.clocks, Version: Version, Logger: a.log,
		Configs: projectConfigs{a, off.Paths},
	}
}

// projectConfigs reads the configs of an office's projects, for each task anew:
// people change them while an office works.
type projectConfigs struct {
	app   *app
	paths office.Paths
}

func (c projectConfigs) ConfigFor(ctx context.Context, project string) (config.Loaded, error) {
	if project == c.paths.Repo {
		project = ""
	}
	return c.app.readConfig(ctx, c.paths, project)
}

// waitFor is how long the office may be held without an answer: for the
// patience, and for longer where the holder does not listen, since it opens the
// office or ends. Every command is such a holder for a moment.
func waitFor(held *office.Holder, patience time.Duration) time.Duration {
	if held == nil || held.Socket == "" {
		return max(patience, takeOverTimeout)
	}
	return patience
}

// openOffice opens the folders of an office, and tells people what they are to
// know of them.
func (a *app) openOffice(ctx context.Context, paths office.Paths) (*office.Office, error) {
	off, err := office.Open(ctx, paths)
	if err != nil {
		return nil, err
	}
	for _, line := range off.Notices {
		a.printNote("%s", safetext.EscapeLine(line, 600))
	}
	return off, nil
}

// connectOffice gives the office for a command that only looks or sends one command.
// It makes no office where there is none.
func (a *app) connectOffice(ctx context.Context) (*client.Office, office.Paths, error) {
	paths, err := a.findOffice()
	if err != nil {
		return nil, paths, err
	}
	if !paths.Exists() {
		return client.None(paths), paths, nil
	}
	h, remote, err := a.openOrDial(ctx, paths, dialTimeout)
	if err != nil || remote != nil {
		return remote, paths, err
	}
	return client.Local(h), paths, nil
}

func (a *app) printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// isFeedCut says that a feed was cut by the end of the other process.
func isFeedCut(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
