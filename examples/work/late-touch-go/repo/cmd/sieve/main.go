// Command sieve sieves tables of comma-separated values.
package main

import (
	"os"

	"example.com/sieve/internal/cli"
)

func main() {
	os.Exit(cli.Run(cli.Env{Files: os.DirFS("."), In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args[1:]))
}
