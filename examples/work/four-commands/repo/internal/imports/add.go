package imports

import (
	"fmt"
	"slices"

	"example.com/hours/internal/cli"
	"example.com/hours/internal/journal"
)

// add adds entries to the journal and prints how many. Work that the journal has already is not added again.
func add(env *cli.Env, entries []journal.Entry) error {
	list, err := env.Entries()
	if err != nil {
		return err
	}
	added := 0
	for _, e := range entries {
		if err := e.Check(); err != nil {
			return err
		}
		if !slices.ContainsFunc(list, e.Same) {
			list = append(list, e)
			added++
		}
	}
	if err := env.Save(list); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Out, "added %d, known %d\n", added, len(entries)-added)
	return err
}
