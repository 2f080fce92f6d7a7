// Command stepped is company on a machine whose wall clock tests set: the whole
// program as people have it, but for that clock. The file that WALL_CLOCK_STEP
// names holds how far its wall clock is from the machine's, as a duration. It owns
// nothing else, and promises that every process with the same file sees the same
// wall clock.
package main

import (
	"os"
	"strings"
	"time"

	"company/internal/lib/clock"
	"company/internal/surface/cli"
)

func main() {
	clocks := clock.Machine()
	clocks.Wall = func() time.Time { return time.Now().Add(step()) }
	os.Exit(cli.MainAt(clocks, os.Args[1:]))
}

func step() time.Duration {
	text, err := os.ReadFile(os.Getenv("WALL_CLOCK_STEP"))
	if err != nil {
		panic(err)
	}
	d, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		panic(err)
	}
	return d
}
