// Package cli has the commands.
package cli

import (
	"fmt"
	"io"
	"io/fs"

	"example.com/toolshed/internal/calendar"
	"example.com/toolshed/internal/dates"
	"example.com/toolshed/internal/fees"
	"example.com/toolshed/internal/journal"
	"example.com/toolshed/internal/loans"
)

// Env is what a command works with.
type Env struct {
	Files    fs.FS
	Out, Err io.Writer
}

var (
	rules  = loans.Rules{Days: 21, Renewals: 2}
	tariff = fees.Tariff{Day: 40, Max: 800}
)

const usage = `usage:
  toolshed loans DATE
  toolshed late DATE
  toolshed fees DATE
  toolshed days FROM TO
`

// books is what the files say.
type books struct {
	cal   *calendar.Calendar
	loans []loans.Loan
}

type command struct {
	dates int // how many it takes
	run   func(out io.Writer, b books, days []dates.Date)
}

var commands = map[string]command{
	"loans": {1, listLoans},
	"late":  {1, listLate},
	"fees":  {1, listFees},
	"days":  {2, listDays},
}

// Run does a command. It returns the exit code.
func Run(env Env, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(env.Err, usage)
		return 2
	}
	cmd, known := commands[args[0]]
	if !known || len(args) != 1+cmd.dates {
		fmt.Fprint(env.Err, usage)
		return 2
	}
	var days []dates.Date
	for _, arg := range args[1:] {
		d, err := dates.Parse(arg)
		if err != nil {
			fmt.Fprintln(env.Err, err)
			return 2
		}
		days = append(days, d)
	}
	b, err := open(env.Files)
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	cmd.run(env.Out, b, days)
	return 0
}

// open reads the files.
func open(files fs.FS) (b books, err error) {
	b.cal, err = readFile(files, "closed.txt", calendar.Read)
	if err != nil {
		return b, err
	}
	events, err := readFile(files, "journal.txt", journal.Read)
	if err != nil {
		return b, err
	}
	b.loans, err = loans.Build(events, b.cal, rules)
	if err != nil {
		return b, fmt.Errorf("journal.txt: %w", err)
	}
	return b, nil
}

func readFile[T any](files fs.FS, name string, read func(io.Reader) (T, error)) (out T, err error) {
	f, err := files.Open(name)
	if err != nil {
		return out, err
	}
	defer f.Close()
	if out, err = read(f); err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

func listLoans(out io.Writer, b books, days []dates.Date) {
	for _, l := range b.loans {
		if l.IsOut(days[0]) {
			fmt.Fprintf(out, "%-10s %-8s due %v\n", l.Tool, l.Member, l.Due)
		}
	}
}

func listLate(out io.Writer, b books, days []dates.Date) {
	for _, l := range b.loans {
		if l.IsLate(days[0]) {
			fmt.Fprintf(out, "%-10s %-8s since %v\n", l.Tool, l.Member, l.Due)
		}
	}
}

func listFees(out io.Writer, b books, days []dates.Date) {
	for _, sum := range fees.ByMember(b.loans, days[0], b.cal, tariff) {
		fmt.Fprintf(out, "%-8s %6v\n", sum.Member, sum.Fee)
	}
}

func listDays(out io.Writer, b books, days []dates.Date) {
	for d := days[0]; !d.After(days[1]); d = d.Add(1) {
		if reason := b.cal.Reason(d); reason != "" {
			fmt.Fprintf(out, "%v %.3s %s\n", d, d.Weekday(), reason)
		}
	}
}
