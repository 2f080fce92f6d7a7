package officeaccess

import (
	"context"
	"slices"

	officeapp "company/internal/app"
	"company/internal/lib/healthcheck"
	"company/internal/office/config"
	"company/internal/surface/diagnose"
)

// Checker returns a Checker with the state of this process.
func (ent *Entrance) Checker() *diagnose.Checker {
	return &diagnose.Checker{Env: ent.Console.LookupEnv, Logger: ent.Console.Log, Version: ent.Version,
		Commit: officeapp.BuildCommit(ent.Commit), Connect: ent.Reach}
}

// FindDaemon returns the Docker daemon for a read-only command. It uses the environment's daemon
// if there is no office or its config does not load.
func (ent *Entrance) FindDaemon(ctx context.Context) officeapp.Daemon {
	loaded := config.Loaded{}
	if paths, err := ent.FindOffice(); err == nil {
		loaded, _ = ent.LoadConfig(ctx, paths) // a read-only command works without it
	}
	return officeapp.DaemonOf(loaded.Config, ent.Console.LookupEnv, ent.Console.Log)
}

// Subject returns the inputs of the checks: this machine, the office and the checkout.
func (ent *Entrance) Subject(ctx context.Context) diagnose.Subject {
	subject := diagnose.Subject{}
	if subject.Paths, subject.PathsErr = ent.FindOffice(); subject.PathsErr == nil {
		subject.Config, subject.ConfigErr = ent.LoadConfig(ctx, subject.Paths)
	} else {
		subject.ConfigErr = subject.PathsErr
	}
	if subject.ConfigErr != nil {
		subject.Config.Config = config.Default()
	}
	subject.Checkout, subject.CheckoutErr = ent.FindCheckout(subject.Paths)
	if subject.ConfigErr == nil && subject.CheckoutErr == nil && subject.Checkout != subject.Paths.Repo {
		// same config as a submission from here
		if subject.Config, subject.ConfigErr = ent.loadProjectConfig(
			ctx, subject.Paths, subject.Checkout); subject.ConfigErr != nil {
			subject.Config.Config = config.Default()
		}
	}
	return subject
}

// FindFaults runs the checks of doctor, and sets the file of each config line that they propose.
func (ent *Entrance) FindFaults(ctx context.Context, options diagnose.Options) []healthcheck.Finding {
	subject := ent.Subject(ctx)
	return ent.placeLines(ctx, subject, diagnose.Run(ctx, ent.Checker().Checks(subject, options)))
}

// placeLines sets the file to which each proposed line would be written. A line gets no file if
// its setting already applies or its key is set elsewhere.
func (ent *Entrance) placeLines(
	ctx context.Context, subject diagnose.Subject, findings []healthcheck.Finding,
) []healthcheck.Finding {
	for i := range findings {
		lines := slices.Clone(findings[i].Lines)
		for n, l := range lines {
			if p, err := ent.PlanLine(ctx, subject.Paths, subject.Checkout, false, l); err == nil && !p.Holds {
				lines[n] = p.Line
			}
		}
		findings[i].Lines = lines
	}
	return findings
}
