// Command toolshed keeps the books of a shed of tools. It reads the files of the current folder.
package main

import (
	"os"

	"example.com/toolshed/internal/cli"
)

func main() {
	os.Exit(cli.Run(cli.Env{Files: os.DirFS("."), Out: os.Stdout, Err: os.Stderr}, os.Args[1:]))
}
