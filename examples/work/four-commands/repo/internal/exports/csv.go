package exports

import (
	"encoding/csv"

	"example.com/hours/internal/cli"
	"example.com/hours/internal/clock"
	"example.com/hours/internal/journal"
)

func init() {
	cli.Register(cli.Command{Name: "export-csv", Args: "[MONTH]", Help: "prints entries as comma-separated values", Run: exportCSV})
}

func exportCSV(env *cli.Env, args []string) error {
	list, err := env.Entries()
	if err != nil {
		return err
	}
	if len(args) > 0 {
		month, err := clock.ParseMonth(args[0])
		if err != nil {
			return err
		}
		list = ofMonth(list, month)
	}
	w := csv.NewWriter(env.Out)
	for _, e := range list {
		if err := w.Write([]string{e.Day.String(), e.Start.String(), e.End.String(), e.Project, e.Note}); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// ofMonth has the entries of a month.
func ofMonth(list []journal.Entry, month clock.Month) (of []journal.Entry) {
	for _, e := range list {
		if e.Day.Month() == month {
			of = append(of, e)
		}
	}
	return of
}
