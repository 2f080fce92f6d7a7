// Package serve has the commands that maintain an office: serve, and cleanup for an office without
// a running company.
package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
	"company/internal/surface/officeaccess"
	"company/internal/surface/terminalio"
)

// New returns the "company serve" command.
func New(env *command.Environment) *cobra.Command {
	background := false
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the office until you stop it",
		Example: "  company serve\n  company serve -o json 2>feed.ndjson\n  company --office ~/office serve",
		Long: `Continues unfinished tasks and waits for more. While it runs, all submissions,
answers and resumes of any project go to this process. The feed is printed to
stderr. The link on stdout opens the page of the office in a browser, once and
within ten minutes. company open prints another. serve.listen sets the address.

Ctrl-C or SIGTERM saves the current work and exits. A second one exits at once.
Nothing is lost either way: the next company process continues the work. Work that
has begun in the background is continued here.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if background {
				return env.RunBackground(c.Context(), os.Stdout, officeaccess.Unused)
			}
			return runServe(c.Context(), env)
		},
	}
	cmd.Flags().BoolVar(&background, "background", false, "have the office for other commands until they no longer use it")
	_ = cmd.Flags().MarkHidden("background")
	return cmd
}

// serveReport is the report that serve prints on stdout when it ends.
type serveReport struct {
	SchemaVersion int       `json:"schema_version"`
	Office        string    `json:"office"`
	From          time.Time `json:"from"`
	Until         time.Time `json:"until"`
	Open          int       `json:"open_tasks"` // unfinished tasks that the next company continues
}

func runServe(ctx context.Context, env *command.Environment) (err error) {
	env.ReportsWork = true
	paths, _, err := env.LoadReady(ctx)
	if err != nil {
		return err
	}
	app, err := env.TakeOver(ctx, paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	out := serveReport{SchemaVersion: 1, Office: app.ID(), From: app.Now()}
	before, err := app.Source().Work()
	if err != nil {
		return err
	}
	paused, err := app.StartWork(ctx)
	if err != nil {
		return err
	}
	work, err := app.Source().Work()
	if err != nil {
		return err
	}
	env.PrintNotes(view.RecoveryNotes(paused))
	env.PrintNote("company %s serves the office %s (%s); Ctrl-C stops it", command.Version, app.ID(), paths.Root)
	if err := env.AnnouncePage(app); err != nil {
		return err
	}
	if work.Stopped {
		env.PrintNote("the office is stopped: nothing starts until company resume")
	} else if rest := work.PausedIDs(); len(rest) > 0 {
		env.PrintNote("paused: %s; continue with: company resume %s", strings.Join(rest, ", "), rest[0])
	}
	defer foreground.StartBell(ctx, env.Entrance, app)()
	err = app.Follow(ctx, feed.Range{From: before.Seq + 1}, func(item feed.Item) error {
		env.PrintProgress(item)
		return nil
	})
	if ctx.Err() != nil {
		err = nil // an interrupt is the normal end
		env.PrintNote("saving current work (Ctrl-C again exits at once)")
	}
	if err := errors.Join(err, app.End()); err != nil {
		return err
	}
	if work, err = app.Source().Work(); err != nil {
		return err
	}
	out.Until, out.Open = app.Now(), len(work.Open)
	if err := printServeReport(env, out); err != nil {
		return err
	}
	if errors.Is(context.Cause(ctx), terminalio.ErrTerminated) {
		return nil // its supervisor requested the end
	}
	return &command.CodedError{Code: command.ExitInterrupt}
}

func printServeReport(env *command.Environment, out serveReport) error {
	if env.Output == "json" {
		return env.PrintJSON(env.Out, out)
	}
	left := "no unfinished tasks"
	if out.Open > 0 {
		left = company.Count(out.Open, "unfinished task") + " left: continue with company serve or company resume"
	}
	_, err := fmt.Fprintf(env.Out, "office %s is closed; %s\n", out.Office, left)
	return err
}
