package command

import (
	"context"

	officeapp "company/internal/app"
	"company/internal/config"
	"company/internal/diagnose"
	"company/internal/office"
)

// Checker has what checks need of this process.
func (env *Environment) Checker() *diagnose.Checker {
	return &diagnose.Checker{Env: env.LookupEnv, Logger: env.Log, Version: Version, Commit: officeapp.BuildCommit(Commit), Opener: opener{env}}
}

// FindDaemon is the Docker daemon for a command that only looks: the config's, and the
// environment's where there is no office or its config does not load.
func (env *Environment) FindDaemon(ctx context.Context) officeapp.Daemon {
	loaded := config.Loaded{}
	if paths, err := env.FindOffice(); err == nil {
		loaded, _ = env.LoadConfig(ctx, paths) // what looks alone works without
	}
	return officeapp.DaemonOf(loaded.Config, env.LookupEnv, env.Log)
}

// opener opens offices as this command does.
type opener struct{ env *Environment }

func (o opener) OpenFolders(ctx context.Context, paths office.Paths) (*office.Office, error) {
	return o.env.OpenOffice(ctx, paths)
}

func (o opener) OpenOffice(ctx context.Context, off *office.Office, lock *office.Lock, loaded config.Loaded) (*officeapp.App, error) {
	return officeapp.Open(ctx, o.env.openOptions(off, lock, loaded))
}
