package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/config"
	"company/internal/diagnose"
	"company/internal/office"
	"company/internal/safetext"
)

// doctorTimeout is how long all checks together may take.
const doctorTimeout = 1800 * time.Millisecond

func newDoctor(a *app) *cobra.Command {
	var online, orphans bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check that this machine and this office can work",
		Example: "  company doctor\n  company doctor --quiet\n  company doctor --online -o json",
		Long: `Each check tells what it found, what is needed, and how to put it right. ! is a
warning: work goes on, but look at it; ? could not be checked. Nothing outside of
this machine is asked without --online. With --quiet only what is not in order
is shown.

--list-orphans lists containers of ours that no company looks after any more.
It removes none: those of this office go with its next start.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if orphans {
				return a.listOrphans(c.Context())
			}
			return a.runDoctor(c.Context(), online)
		},
	}
	c.Flags().BoolVar(&online, "online", false, "also ask the models' servers and the git remote")
	c.Flags().BoolVar(&orphans, "list-orphans", false, "list containers without a company, and check nothing")
	return c
}

func (a *app) runDoctor(ctx context.Context, online bool) error {
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	all, code := []diagnose.Result{}, exitComplete
	for _, r := range diagnose.Run(ctx, a.checker().Checks(a.findSubject(ctx), online)) {
		if r.Status != "pass" || !a.quiet {
			all = append(all, r)
		}
		switch {
		case r.Unknown && code == exitComplete:
			code = exitIncomplete
		case !r.Unknown && !r.OK && !r.Warn:
			code = exitError
		}
	}
	if a.output == "json" {
		if err := a.printJSON(a.out, map[string]any{"schema_version": 1, "ok": code == exitComplete, "checks": all}); err != nil {
			return err
		}
	} else {
		for _, v := range all {
			fmt.Fprintf(a.out, "%s %-16s %s\n", v.Mark(), v.Name, safetext.EscapeLine(v.Found, 300))
			if !v.OK && v.Needed != "" {
				fmt.Fprintf(a.out, "    needed: %s\n", safetext.EscapeLine(v.Needed, 300))
			}
			if !v.OK && v.Fix != "" {
				fmt.Fprintf(a.out, "    fix:    %s\n", safetext.EscapeLine(v.Fix, 300))
			}
		}
	}
	if code != exitComplete {
		return &exitCode{code: code}
	}
	return nil
}

// findSubject is the object of the checks: this machine, and the office and the
// checkout that the command finds.
func (a *app) findSubject(ctx context.Context) diagnose.Subject {
	s := diagnose.Subject{}
	if s.Paths, s.PathsErr = a.findOffice(); s.PathsErr == nil {
		s.Config, s.ConfigErr = a.loadConfig(ctx, s.Paths)
	} else {
		s.ConfigErr = s.PathsErr
	}
	if s.ConfigErr != nil {
		s.Config.Config = config.Default()
	}
	s.Checkout, s.CheckoutErr = a.findCheckout(s.Paths)
	return s
}

// checker has what checks need of this process.
func (a *app) checker() *diagnose.Checker {
	return &diagnose.Checker{Env: a.env, Logger: a.log, Version: Version, Opener: opener{a}}
}

// opener opens offices as this command does.
type opener struct{ app *app }

func (o opener) OpenFolders(ctx context.Context, paths office.Paths) (*office.Office, error) {
	return o.app.openOffice(ctx, paths)
}

func (o opener) OpenOffice(ctx context.Context, off *office.Office, lock *office.Lock, loaded config.Loaded) (*officeapp.App, error) {
	return officeapp.Open(ctx, o.app.openOptions(off, lock, loaded))
}
