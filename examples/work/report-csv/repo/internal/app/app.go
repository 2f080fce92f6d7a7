// Package app is the commands of the program.
package app

import (
	"fmt"
	"io"
	"strconv"

	"example.com/stockroom/internal/catalog"
	"example.com/stockroom/internal/stock"
)

// App is what commands work on, and where they print.
type App struct {
	Catalog *catalog.Catalog
	Ledger  *stock.Ledger
	Out     io.Writer
}

// Run runs one command line. Without a command it tells which there are.
func (a *App) Run(args []string) error {
	if len(args) == 0 {
		for _, c := range commands {
			if _, err := fmt.Fprintf(a.Out, "%-8s %-14s %s\n", c.name, c.args, c.help); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		if len(args)-1 != c.need {
			return fmt.Errorf("usage: %s %s", c.name, c.args)
		}
		return c.run(a, args[1:])
	}
	return fmt.Errorf("there is no command %q", args[0])
}

// lookup reads SKU and quantity, the first two arguments.
func (a *App) lookup(args []string) (catalog.Item, int, error) {
	item, err := a.Catalog.Find(args[0])
	if err != nil {
		return item, 0, err
	}
	qty, err := strconv.Atoi(args[1])
	if err != nil {
		return item, 0, fmt.Errorf("%q is no quantity", args[1])
	}
	return item, qty, nil
}
