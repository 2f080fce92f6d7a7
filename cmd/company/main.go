// Command company is a software company in one binary.
package main

import (
	"os"

	"company/internal/cli"
	_ "company/internal/startup" // it sets the pace of the start, before others begin
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
