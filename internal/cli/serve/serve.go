// Package serve is the commands that keep an office: serve, and cleanup for an office
// that no company serves.
package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/console"
	"company/internal/feed"
	"company/internal/view"
)

// New makes company serve.
func New(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Keep the office working until you end it",
		Example: "  company serve\n  company serve -o json 2>feed.ndjson\n  company --office ~/office serve",
		Long: `Keeps the office open: every submission, answer and resume of any project goes
to this process, which works on unfinished tasks and waits for more. The feed
is on stderr. The link on stdout opens the page of the office in a browser, once
and within ten minutes; company open gives another. serve.listen is its address.

An interrupt or SIGTERM puts away what is under way and ends; a second one ends
at once. Either way nothing is lost: the next company goes on with it.`,
		RunE: func(c *cobra.Command, _ []string) error { return runServe(c.Context(), env) },
	}
}

// serveReport is what serve says on stdout when it ends.
type serveReport struct {
	SchemaVersion int       `json:"schema_version"`
	Office        string    `json:"office"`
	From          time.Time `json:"from"`
	Until         time.Time `json:"until"`
	Open          int       `json:"open_tasks"` // that the next company goes on with
}

func runServe(ctx context.Context, env *command.Environment) (err error) {
	env.ReportsWork = true
	paths, _, err := env.LoadReady(ctx)
	if err != nil {
		return err
	}
	h, err := env.TakeOver(ctx, paths)
	if err != nil {
		return err
	}
	defer h.Close()
	out := serveReport{SchemaVersion: 1, Office: h.ID(), From: h.Now()}
	before, err := h.Source().Work()
	if err != nil {
		return err
	}
	paused, err := h.Start(ctx, true)
	if err != nil {
		return err
	}
	work, err := h.Source().Work()
	if err != nil {
		return err
	}
	env.PrintNotes(view.RecoveryNotes(paused))
	env.PrintNote("company %s serves the office %s (%s); end it with Ctrl-C", command.Version, h.ID(), paths.Root)
	if err := env.AnnouncePage(h); err != nil {
		return errors.Join(err, h.Stop())
	}
	if work.Stopped {
		env.PrintNote("the office is stopped: nothing begins until company resume")
	} else if rest := work.PausedIDs(); len(rest) > 0 {
		env.PrintNote("paused: %s; go on with: company resume %s", strings.Join(rest, ", "), rest[0])
	}
	err = h.Follow(ctx, feed.Range{From: before.Seq + 1}, func(it feed.Item) error {
		env.PrintProgress(it)
		return nil
	})
	if ctx.Err() != nil {
		err = nil // that is how it is to end
		env.PrintNote("ending what is under way (once more ends at once)")
	}
	if err := errors.Join(err, h.Stop()); err != nil {
		return err
	}
	if work, err = h.Source().Work(); err != nil {
		return err
	}
	out.Until, out.Open = h.Now(), len(work.Open)
	if err := printServeReport(env, out); err != nil {
		return err
	}
	if errors.Is(context.Cause(ctx), console.ErrTerminated) {
		return nil // its supervisor asked for that
	}
	return &command.CodedError{Code: command.ExitInterrupt}
}

func printServeReport(env *command.Environment, out serveReport) error {
	if env.Output == "json" {
		return env.PrintJSON(env.Out, out)
	}
	left := "nothing is unfinished"
	if out.Open > 0 {
		left = company.Count(out.Open, "unfinished task") + " left: go on with company serve, or company resume"
	}
	_, err := fmt.Fprintf(env.Out, "office %s is closed; %s\n", out.Office, left)
	return err
}
