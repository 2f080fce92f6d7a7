package checks

import (
	"fmt"

	"example.com/hours/internal/cli"
)

func init() {
	cli.Register(cli.Command{Name: "check-overlap", Help: "looks for entries that overlap", Run: checkOverlap})
}

func checkOverlap(env *cli.Env, _ []string) error {
	list, err := env.Entries()
	if err != nil {
		return err
	}
	var found []finding
	for i, a := range list {
		for _, b := range list[i+1:] {
			if b.Day == a.Day && b.Start < a.End {
				found = append(found, finding{a.Day, fmt.Sprintf("overlap %s-%s %s and %s-%s %s", a.Start, a.End, a.Project, b.Start, b.End, b.Project)})
			}
		}
	}
	return tell(env.Out, found)
}
