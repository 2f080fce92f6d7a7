// Command shelf keeps track of what a club lends to its members.
package main

import (
	"fmt"
	"os"
	"time"

	"example.com/shelf/internal/cli"
	"example.com/shelf/internal/day"
)

func main() {
	env := cli.Env{Out: os.Stdout, File: os.Getenv("SHELF_FILE"), Today: day.Of(time.Now())}
	if env.File == "" {
		env.File = "shelf.json"
	}
	if err := cli.Run(env, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "shelf:", err)
		os.Exit(1)
	}
}
