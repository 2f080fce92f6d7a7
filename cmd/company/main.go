// Command company is a software company in one binary.
package main

import (
	"os"

	"company/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
