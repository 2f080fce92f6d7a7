// Command makelists makes the frozen lists that draws of strangers are made from. It
// fetches Debian's index of sources, a few large Go modules and one graph of npm
// packages, each with its own client, and writes the lists to test/strangers/lists.
package main

import (
	"context"
	"fmt"
	"os"

	"company/test/strangers"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: makelists FOLDER [STRATUM]...")
		os.Exit(2)
	}
	if err := strangers.WriteLists(context.Background(), os.Args[1], os.Args[2:]...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
