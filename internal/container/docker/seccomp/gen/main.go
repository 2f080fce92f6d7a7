// Command gen writes profile.json from moby.json, both in the current
// directory. go generate calls it.
package main

import (
	"fmt"
	"os"

	"company/internal/container/docker/seccomp"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	moby, err := os.ReadFile("moby.json")
	if err != nil {
		return err
	}
	out, err := seccomp.Derive(moby)
	if err != nil {
		return err
	}
	return os.WriteFile("profile.json", out, 0o644)
}
