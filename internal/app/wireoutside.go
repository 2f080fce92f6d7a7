package app

import (
	"context"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/image"
	mirrors "company/internal/ecosystem/depproxy"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/lib/safedir"
	"company/internal/lib/safetext"
	"company/internal/lib/secret"
	"company/internal/office/config"
	"company/internal/present/feed"
	"company/internal/upkeep"
)

// outside holds the external services of an office: Docker, package registries, images, git,
// forges and models.
type outside struct {
	runtime    container.Runtime
	registries *mirrors.Stores
	images     *image.Builder
	git        *gitops.Store
	gitLog     *gitops.OpLog
	author     gitops.Person
	forges     *forge.Selector
	agents     *officeAgents
	setupEnv   map[string]secret.Value
}

// openOutside opens the external services. The office closes them.
func (a *App) openOutside(ctx context.Context, cfg config.Config) (o outside, err error) {
	daemon := DaemonOf(cfg, a.env, a.log)
	if o.runtime, err = daemon.OpenRuntime(ctx); err != nil {
		return o, err
	}
	a.closers = append(a.closers, o.runtime.Close,
		func() error { return upkeep.SweepOnExit(ctx, o.runtime, a.office.ID, a.log) })
	a.runtime = o.runtime
	if o.registries, err = OpenRegistries(ctx, cfg, a.env, a.log); err != nil {
		return o, err
	}
	a.closers = append(a.closers, func() error { o.registries.Close(); return nil })
	o.images,
		err = image.New(
		image.Config{Logger: a.log, Daemon: daemon.Host, Runtime: o.runtime, Registries: o.registries.Public(),
			WithLogins: o.registries.WithLogins(), MaxMemory: maxBuildMemory(cfg), Progress: func(line string) {
				a.activities.recordStep(subject{}, "image: "+safetext.EscapeLine(line, 120), a.Now())
				a.publishItem(feed.Item{Kind: "image", Mark: feed.Info, Text: safetext.EscapeLine(line, 300)})
			}, OnBuilt: func(l image.Layer, _ time.Duration) { a.noteBuiltLayer(l) }})
	if err != nil {
		return o, err
	}
	a.closers = append(a.closers, func() error { o.images.Close(); return nil })
	if err := a.openGit(cfg, &o); err != nil {
		return o, err
	}
	o.agents = &officeAgents{loaded: a.loaded, configs: a.configs, root: a.office.Root, env: a.envValue,
		deps: ModelDeps(cfg, a.log)}
	o.agents.deps.Store = func(name string, data []byte) (string, error) {
		return a.office.LogsFolder.Join(name), a.office.LogsFolder.ReplaceFile(name, data, 0o600)
	}
	a.closers = append(a.closers, o.agents.Close)
	if o.setupEnv, err = SetupEnv(cfg, a.env); err != nil {
		return o, err
	}
	o.forges = OpenForges(a.office.StateFolder, cfg, a.log, a.env)
	return o, nil
}

// openGit opens the office's git store, and the log of git operations.
func (a *App) openGit(cfg config.Config, o *outside) error {
	gitcfg, err := GitConfig(a.office.Paths, cfg, a.env)
	if err != nil {
		return err
	}
	file, err := a.office.LogsFolder.OpenRotating("git.log", maxLogBytes, keptLogs)
	if err != nil {
		return company.E(company.EConfig, "cannot write the office's git log file").Wrap(err).
			Fix("check that you own the folder and that the disk has space")
	}
	o.gitLog = gitops.NewOpLog(safedir.Watch(file, func(err error) { a.projector.NoteOfficeFile("logs/git.log", err) }))
	a.closers = append(a.closers, o.gitLog.Close)
	gitcfg.Log, gitcfg.Folder = o.gitLog, a.office.GitFolder
	o.author = gitcfg.Author
	o.git, err = gitops.Open(gitcfg)
	return err
}
