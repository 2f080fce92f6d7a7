package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/office"
	"company/internal/safetext"
)

// NewBus makes company bus.
func NewBus(env *command.Environment) *cobra.Command {
	c := command.NewGroup("bus", "The records of this office: read them, or keep them with another driver", `  company bus cat
  company bus cat --subject ledger -v
  company bus convert --to file`)
	var subject string
	cat := &cobra.Command{
		Use: "cat", Short: "Print what the bus holds, as it was written",
		Example: "  company bus cat\n  company bus cat --subject run.t1-01.1\n  company bus cat -o json",
		Long: `Prints the records of the ledger and of the journals, a line each: where it lies,
when it was written, its number, subject, id and size, and the beginning of its
data (all of it with -v). With bus.driver: file the log is read as it lies on the
disk, beside a company at work, and as far as it can be read where it is damaged.
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
	_ = convert.RegisterFlagCompletionFunc("to", cobra.FixedCompletions([]string{"file", "nats"}, cobra.ShellCompDirectiveNoFileComp))
	c.AddCommand(cat, convert)
	return c
}

// openOffice opens the folders of the office that is meant, if there is one.
func openOffice(ctx context.Context, env *command.Environment) (*office.Office, error) {
	paths, err := env.FindOffice()
	if err != nil {
		return nil, err
	}
	if !paths.Exists() {
		return nil, company.E(company.ENotFound, "there is no office here yet: "+paths.Root).Fix("name one with --office, or begin one: company submit \"…\"")
	}
	return env.OpenOffice(ctx, paths)
}

// busRecord is what a program reads of a record.
type busRecord struct {
	SchemaVersion int             `json:"schema_version"`
	Kind          string          `json:"kind"` // record, purge, mark, end, or unreadable
	File          string          `json:"file,omitempty"`
	Offset        int64           `json:"offset"`
	Seq           uint64          `json:"seq"`
	Time          time.Time       `json:"time,omitzero"`
	Subject       string          `json:"subject,omitempty"`
	ID            string          `json:"id,omitempty"`
	Bytes         int64           `json:"bytes"`
	JSON          json.RawMessage `json:"json,omitempty"`
	Text          string          `json:"text,omitempty"`
	Base64        []byte          `json:"base64,omitempty"`
}

func runBusCat(ctx context.Context, env *command.Environment, subject string) (err error) {
	off, err := openOffice(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, off.Close()) }()
	return officeapp.CatBus(ctx, off, env.Log, func(e officeapp.BusEntry) error {
		if subject != "" && e.Subject != subject || e.Kind == "mark" && !env.Verbose {
			return nil
		}
		r := busRecord{SchemaVersion: 1, Kind: e.Kind, File: e.File, Offset: e.Offset, Seq: e.Seq, Time: e.Time, Subject: e.Subject, ID: e.ID, Bytes: int64(len(e.Data))}
		switch {
		case len(e.Data) == 0:
		case json.Valid(e.Data):
			r.JSON = e.Data
		case utf8.Valid(e.Data):
			r.Text = string(e.Data)
		default:
			r.Base64 = e.Data
		}
		return printBusRecord(env, r)
	}, func(file string, offset, bytes int64) error {
		return printBusRecord(env, busRecord{SchemaVersion: 1, Kind: "unreadable", File: file, Offset: offset, Bytes: bytes})
	})
}

func printBusRecord(env *command.Environment, r busRecord) error {
	if env.Output == "json" {
		return env.PrintJSON(env.Out, r)
	}
	at := ""
	if r.File != "" {
		at = fmt.Sprintf("%s:%-9d ", r.File, r.Offset)
	}
	if r.Kind == "unreadable" {
		_, err := fmt.Fprintf(env.Out, "%s%s from here on cannot be read\n", at, company.Count(int(r.Bytes), "byte"))
		return err
	}
	what := r.Subject
	if r.Kind != "record" {
		what = r.Kind + " " + r.Subject
	}
	data := string(r.JSON) + r.Text
	if r.Base64 != nil {
		data = "(no text)"
	}
	most := 100
	if env.Verbose {
		most = len(data)
		what += " " + r.ID
	}
	_, err := fmt.Fprintf(env.Out, "%s%s  #%-6d %-22s %7d  %s\n", at, r.Time.Local().Format("2006-01-02 15:04:05"), r.Seq,
		safetext.EscapeLine(what, 300), r.Bytes, safetext.EscapeLine(data, most))
	return err
}

func runBusConvert(ctx context.Context, env *command.Environment, to string) (err error) {
	if to == "" {
		return company.E(company.EUsage, "company bus convert needs the driver").Fix("company bus convert --to file")
	}
	off, err := openOffice(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, off.Close()) }()
	lock, held, err := office.TryLock(off.Paths)
	if err != nil {
		return err
	}
	if lock == nil {
		return officeapp.HeldForConversion(held)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
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
		err = printConversion(env, done)
	}
	loaded, loadErr := env.LoadConfig(ctx, off.Paths)
	if loadErr == nil && loaded.Config.Bus.Driver != to {
		env.PrintNote("bus.driver is %s in the config: company config set bus.driver %s before the next company works here", loaded.Config.Bus.Driver, to)
	}
	return err
}

func printConversion(env *command.Environment, done officeapp.BusConversion) error {
	if !done.Converted {
		_, err := fmt.Fprintf(env.Out, "this office keeps its records with the driver %s; nothing was to be taken along\n", done.To)
		return err
	}
	_, err := fmt.Fprintf(env.Out, "%s of the ledger and %s went from %s to %s; the hashes of the chain are the same\n",
		company.Count(int(done.Events), "event"), company.Count(done.Journals, "journal"), done.From, done.To)
	return err
}
