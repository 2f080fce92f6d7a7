// Command company is a software company in one binary.
package main

import (
	"os"

	_ "company/internal/app/startup" // tunes the runtime before other packages start
	"company/internal/surface/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
