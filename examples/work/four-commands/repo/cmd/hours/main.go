// Command hours keeps the hours that somebody worked.
package main

import (
	"flag"
	"fmt"
	"os"

	_ "example.com/hours/internal/checks"
	"example.com/hours/internal/cli"
	_ "example.com/hours/internal/exports"
	_ "example.com/hours/internal/imports"
	_ "example.com/hours/internal/reports"
)

func main() {
	dir := flag.String("dir", ".", "folder of journal.txt and rates.txt")
	flag.Parse()
	if err := cli.Run(&cli.Env{Dir: *dir, Out: os.Stdout}, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "hours:", err)
		os.Exit(1)
	}
}
