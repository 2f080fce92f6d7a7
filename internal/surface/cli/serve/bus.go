package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/office"
	"company/internal/surface/cli/command"
)

// NewBus returns the "company bus" command.
func NewBus(env *command.Environment) *cobra.Command {
	cmd := command.NewGroup("bus", "Convert the office's storage", "  company bus convert --to file")
	var to string
	convert := &cobra.Command{
		Use: "convert --to <driver>", Short: "Convert the office's records to another bus driver",
		Example: "  company bus convert --to file\n  company bus convert --to nats",
		Long: `Copies all records to another driver, verifies each copy and the ledger's chain, then
switches the office over and removes the old records. The switch is atomic, even
across a power failure. If the command is interrupted, run it again to finish.

No company may be running in the office. The disk needs space for a second copy.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runBusConvert(c.Context(), env, to) },
	}
	convert.Flags().StringVar(&to, "to", "", "driver: "+strings.Join(officeapp.BusDriverNames(), " or "))
	_ = convert.RegisterFlagCompletionFunc(
		"to", cobra.FixedCompletions(officeapp.BusDriverNames(), cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(convert)
	return cmd
}

// openLockedOffice opens the office and takes its lock. It returns ENotFound if there is no office, and an
// error if another process holds it.
func openLockedOffice(
	ctx context.Context, env *command.Environment, change func(office.Paths) office.Paths,
) (off *office.Office, closeAll func() error, err error) {
	paths, err := env.FindOffice()
	if err != nil {
		return nil, nil, err
	}
	if !paths.Exists() {
		return nil, nil, company.E(company.ENotFound, "there is no office here yet: "+paths.Root).
			Fix("name one with --office, or create one: company submit \"…\"")
	}
	off, lock, err := env.TakeLock(ctx, change(paths), officeapp.HeldForRewriting)
	if err != nil {
		return nil, nil, err
	}
	return off, func() error { return errors.Join(lock.Release(), off.Close()) }, nil
}

func runBusConvert(ctx context.Context, env *command.Environment, to string) (err error) {
	if to == "" {
		return company.E(company.EUsage, "missing --to").Fix("company bus convert --to file")
	}
	off, closeAll, err := openLockedOffice(ctx, env, func(p office.Paths) office.Paths { return p })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	done, err := officeapp.ConvertBus(ctx, off, to, env.Log, func(step string) {
		switch step {
		case "copy":
			env.PrintNote("copying the records")
		case "verify":
			env.PrintNote("verifying the copy")
		}
	})
	if err != nil {
		return err
	}
	if env.Output == "json" {
		err = env.PrintJSON(env.Out, done)
	} else {
		_, err = fmt.Fprintln(env.Out, done.RenderText())
	}
	loaded, loadErr := env.LoadConfig(ctx, off.Paths)
	if loadErr == nil && loaded.Config.Bus.Driver != to {
		env.PrintNote("the config still sets bus.driver to %s: run company config set bus.driver %s before you start company again",
			loaded.Config.Bus.Driver, to)
	}
	return err
}
