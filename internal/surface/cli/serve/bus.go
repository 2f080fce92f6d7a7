package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/office"
	"company/internal/surface/cli/command"
)

// NewBus returns the "company bus" command.
func NewBus(env *command.Environment) *cobra.Command {
	cmd := command.NewGroup("bus", "The records of this office: read, repair or convert them", `  company bus cat
  company bus cat --subject ledger -v
  company bus repair --dry-run
  company bus convert --to file`)
	var subject string
	cat := &cobra.Command{
		Use: "cat", Short: "Print what the bus holds, as it was written",
		Example: "  company bus cat\n  company bus cat --subject run.t1-01.1\n  company bus cat -o json",
		Long: `Prints the records of the ledger and of the journals, a line each: where it lies,
when it was written, its number, subject, id and size, and the beginning of its
data (all of it with -v). With bus.driver: file the log is read as it lies on the
disk, beside a company at work; bytes that cannot be read are named and passed over.
company feed says what the events mean.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runBusCat(c.Context(), env, subject) },
	}
	cat.Flags().StringVar(&subject, "subject", "", "only the records of one subject: ledger, or run.RUN")
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
	convert.Flags().StringVar(&to, "to", "", "the driver: file or nats")
	_ = convert.RegisterFlagCompletionFunc(
		"to", cobra.FixedCompletions([]string{"file", "nats"}, cobra.ShellCompDirectiveNoFileComp))
	dry := false
	repair := &cobra.Command{
		Use: "repair", Short: "Write damaged records anew, without what cannot be read",
		Example: "  company bus repair --dry-run\n  company bus repair",
		Long: `Reads all records of this office, and writes them anew where a part is damaged:
beside, compared and then put in place at once. The damaged records are kept in a
folder of their own, which is named. One changed bit is changed back. Of larger damage:

  the ledger   must be whole. Where an event is missing, or may be, the repair is
               refused, and nothing is changed.
  the queue    is filled again from the ledger.
  a journal    whose run has ended is in a blob as well. A run that has not ended goes
               on from the records before the damage; all that it was granted counts
               as spent.

Ended in the middle, by a power cut too, the office has its damaged records or the new
ones; the same command finishes it. No company may work here meanwhile. The disk needs
room for the records twice. --dry-run changes nothing.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runBusRepair(c.Context(), env, dry) },
	}
	repair.Flags().BoolVar(&dry, "dry-run", false, "print what would be done")
	cmd.AddCommand(cat, repair, convert)
	return cmd
}

// openOffice opens the folders of the office. It returns ENotFound if there is no office.
func openOffice(ctx context.Context, env *command.Environment) (*office.Office, error) {
	paths, err := env.FindOffice()
	if err != nil {
		return nil, err
	}
	if !paths.Exists() {
		return nil, company.E(company.ENotFound, "there is no office here yet: "+paths.Root).
			Fix("name one with --office, or begin one: company submit \"…\"")
	}
	return env.OpenOffice(ctx, paths)
}

func runBusCat(ctx context.Context, env *command.Environment, subject string) (err error) {
	off, err := openOffice(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, off.Close()) }()
	return officeapp.CatBus(ctx, off, env.Log, func(busRecord officeapp.BusRecord) error {
		if subject != "" && busRecord.Subject != subject && busRecord.Kind != officeapp.BusUnreadable ||
			busRecord.Kind == officeapp.BusMark && !env.Verbose {
			return nil
		}
		if env.Output == "json" {
			return env.PrintJSON(env.Out, busRecord)
		}
		_, err := fmt.Fprintln(env.Out, busRecord.RenderText(env.Verbose))
		return err
	})
}

// openLockedOffice opens the office and takes its lock. It returns an error if another process
// holds the office.
func openLockedOffice(
	ctx context.Context, env *command.Environment,
) (off *office.Office, closeAll func() error, err error) {
	if off, err = openOffice(ctx, env); err != nil {
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

func runBusRepair(ctx context.Context, env *command.Environment, dry bool) (err error) {
	off, closeAll, err := openLockedOffice(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	done, err := officeapp.RepairBus(ctx, off, dry, env.Log, func(step string) {
		switch step {
		case "write":
			env.PrintNote("the records are written anew, beside")
		case "verify":
			env.PrintNote("they are read again and compared")
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
