package reports

import (
	"slices"
	"strings"

	"example.com/hours/internal/cli"
	"example.com/hours/internal/clock"
	"example.com/hours/internal/table"
)

func init() {
	cli.Register(cli.Command{Name: "days", Args: "MONTH", Help: "prints the hours of each day", Run: printDays})
}

func printDays(env *cli.Env, args []string) error {
	month, err := clock.ParseMonth(args[0])
	if err != nil {
		return err
	}
	list, err := env.Entries()
	if err != nil {
		return err
	}
	var days []clock.Day
	hours, projects := map[clock.Day]clock.Minute{}, map[clock.Day][]string{}
	total := clock.Minute(0)
	for _, e := range list {
		if e.Day.Month() != month {
			continue
		}
		if !slices.Contains(days, e.Day) {
			days = append(days, e.Day)
		}
		if !slices.Contains(projects[e.Day], e.Project) {
			projects[e.Day] = append(projects[e.Day], e.Project)
		}
		hours[e.Day] += e.Minutes()
		total += e.Minutes()
	}
	t := table.New("day", "hours", "projects").Right(1)
	for _, d := range days {
		t.Add(d.String(), hours[d].Hours(), strings.Join(projects[d], ", "))
	}
	t.Add("total", total.Hours())
	return t.Print(env.Out)
}
