// Stockroom keeps track of what lies on the shelves.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/stockroom/internal/app"
	"example.com/stockroom/internal/catalog"
	"example.com/stockroom/internal/stock"
)

func main() {
	data := flag.String("data", ".", "folder of catalog.txt and journal.txt")
	flag.Parse()
	if err := run(*data, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "stockroom:", err)
		os.Exit(1)
	}
}

func run(data string, args []string, out io.Writer) (err error) {
	items, err := os.Open(filepath.Join(data, "catalog.txt"))
	if err != nil {
		return err
	}
	defer items.Close()
	c, err := catalog.Read(items)
	if err != nil {
		return err
	}
	journal, err := os.OpenFile(filepath.Join(data, "journal.txt"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	l, err := stock.Open(journal, journal)
	if err != nil {
		return err
	}
	return (&app.App{Catalog: c, Ledger: l, Out: out}).Run(args)
}
