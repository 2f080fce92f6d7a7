package entrance

import (
	"context"
	"slices"

	officeapp "company/internal/app"
	"company/internal/config"
	"company/internal/diagnose"
	"company/internal/health"
	"company/internal/office"
)

// Checker has what checks need of this process.
func (ent *Entrance) Checker() *diagnose.Checker {
	return &diagnose.Checker{Env: ent.Console.LookupEnv, Logger: ent.Console.Log, Version: ent.Version, Commit: officeapp.BuildCommit(ent.Commit), Opener: opener{ent}}
}

// FindDaemon is the Docker daemon for a command that only looks: the config's, and the
// environment's where there is no office or its config does not load.
func (ent *Entrance) FindDaemon(ctx context.Context) officeapp.Daemon {
	loaded := config.Loaded{}
	if paths, err := ent.FindOffice(); err == nil {
		loaded, _ = ent.LoadConfig(ctx, paths) // what looks alone works without
	}
	return officeapp.DaemonOf(loaded.Config, ent.Console.LookupEnv, ent.Console.Log)
}

// opener opens offices as this command does.
type opener struct{ entrance *Entrance }

func (o opener) OpenFolders(ctx context.Context, paths office.Paths) (*office.Office, error) {
	return o.entrance.OpenOffice(ctx, paths)
}

func (o opener) OpenOffice(ctx context.Context, off *office.Office, lock *office.Lock, loaded config.Loaded) (*officeapp.App, error) {
	return officeapp.Open(ctx, o.entrance.openOptions(off, lock, loaded))
}

// Subject is the object of the checks: this machine, and the office and the checkout
// that the user means.
func (ent *Entrance) Subject(ctx context.Context) diagnose.Subject {
	s := diagnose.Subject{}
	if s.Paths, s.PathsErr = ent.FindOffice(); s.PathsErr == nil {
		s.Config, s.ConfigErr = ent.LoadConfig(ctx, s.Paths)
	} else {
		s.ConfigErr = s.PathsErr
	}
	if s.ConfigErr != nil {
		s.Config.Config = config.Default()
	}
	s.Checkout, s.CheckoutErr = ent.FindCheckout(s.Paths)
	if s.ConfigErr == nil && s.CheckoutErr == nil && s.Checkout != s.Paths.Repo { // as a submission from here has it
		if s.Config, s.ConfigErr = ent.loadProjectConfig(ctx, s.Paths, s.Checkout); s.ConfigErr != nil {
			s.Config.Config = config.Default()
		}
	}
	return s
}

// FindFaults runs the checks of doctor, and places the lines that they propose.
func (ent *Entrance) FindFaults(ctx context.Context, o diagnose.Options) []health.Finding {
	subject := ent.Subject(ctx)
	return ent.placeLines(ctx, subject, diagnose.Run(ctx, ent.Checker().Checks(subject, o)))
}

// placeLines names the file that each proposed line would be written to. A line that holds
// already, or whose key something else sets, gets none.
func (ent *Entrance) placeLines(ctx context.Context, s diagnose.Subject, all []health.Finding) []health.Finding {
	for i := range all {
		lines := slices.Clone(all[i].Lines)
		for n, l := range lines {
			if p, err := ent.PlanLine(ctx, s.Paths, s.Checkout, false, l); err == nil && !p.Holds {
				lines[n] = p.Line
			}
		}
		all[i].Lines = lines
	}
	return all
}
