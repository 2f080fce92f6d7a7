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
	cmd := command.NewGroup("bus", "How this office keeps its records", "  company bus convert --to file")
	var to string
	convert := &cobra.Command{
		Use: "convert --to <driver>", Short: "Take the records of this office to another driver of the bus",
		Example: "  company bus convert --to file\n  company bus convert --to nats",
		Long: `Writes all records anew with another driver, beside the old ones, reads them again
and compares each, and the chain of the ledger. Then the office changes over at
once, and the old records go. Ended in the middle, by a power cut too, the office is
as it was before or as it is afterwards; the same command finishes it. No company
may work here meanwhile. The disk needs room for the records twice.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runBusConvert(c.Context(), env, to) },
	}
	convert.Flags().StringVar(&to, "to", "", "the driver: "+strings.Join(officeapp.BusDriverNames(), " or "))
	_ = convert.RegisterFlagCompletionFunc(
		"to", cobra.FixedCompletions(officeapp.BusDriverNames(), cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(convert)
	return cmd
}

// openLockedOffice opens the office and takes its lock. It returns ENotFound if there is no office, and an
// error if another process holds it.
func openLockedOffice(
	ctx context.Context, env *command.Environment,
) (off *office.Office, closeAll func() error, err error) {
	paths, err := env.FindOffice()
	if err != nil {
		return nil, nil, err
	}
	if !paths.Exists() {
		return nil, nil, company.E(company.ENotFound, "there is no office here yet: "+paths.Root).
			Fix("name one with --office, or begin one: company submit \"…\"")
	}
	if off, err = env.OpenOffice(ctx, paths); err != nil {
		return nil, nil, err
	}
	lock, held, err := office.TakeLock(ctx, off.Paths, office.LockPatience)
	if err == nil && lock == nil {
		err = officeapp.HeldForRewriting(held)
	}
	if err != nil {
		return nil, nil, errors.Join(err, off.Close())
	}
	return off, func() error { return errors.Join(lock.Release(), off.Close()) }, nil
}

func runBusConvert(ctx context.Context, env *command.Environment, to string) (err error) {
	if to == "" {
		return company.E(company.EUsage, "company bus convert needs the driver").Fix("company bus convert --to file")
	}
	off, closeAll, err := openLockedOffice(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	done, err := officeapp.ConvertBus(ctx, off, to, env.Log, func(step string) {
		switch step {
		case "copy":
			env.PrintNote("the records are written anew, beside")
		case "verify":
			env.PrintNote("each is read again and compared")
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
		env.PrintNote("bus.driver is %s in the config: company config set bus.driver %s before the next company works here",
			loaded.Config.Bus.Driver, to)
	}
	return err
}
