package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/office"
	"company/internal/surface/cli/command"
)

// NewMigrate returns the "company migrate" command.
func NewMigrate(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "migrate", Short: "Bring the office's records to the format of this version",
		Example: "  company migrate",
		Long: `Runs all pending migrations, or none. Other commands refuse an office with pending
migrations (E_MIGRATION). The records are rewritten beside the old ones, the chain of
the ledger is verified, and only then they replace the old ones. If the command is
interrupted, run it again to finish.

No company may be working in the office. The disk needs space for two more copies.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runMigrate(c.Context(), env) },
	}
}

func runMigrate(ctx context.Context, env *command.Environment) (err error) {
	off, closeAll, err := openLockedOffice(ctx, env, office.Paths.ForMigration)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	done, err := officeapp.Migrate(ctx, off, env.Log, func(step string) {
		if step == "rewrite" {
			env.PrintNote("rewriting the records")
		}
	})
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, done)
	}
	_, err = fmt.Fprintln(env.Out, done.RenderText())
	return err
}
