//go:build linux

// Command toolbox is PID 1 of the company's containers: `toolbox serve` in a worker's container,
// `toolbox gate -- command` in a gate's. It is small and static. Its functions are in
// internal/toolbox/toolserver.
package main

import (
	"fmt"
	"log/slog"
	"os"

	"company/internal/toolbox/toolserver"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	settings, err := toolserver.FromEnv(os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "toolbox:", err)
		return toolserver.ExitUsage
	}
	switch {
	case len(args) == 1 && args[0] == "serve":
		return toolserver.Serve(settings, os.Stdin, os.Stdout, log)
	case len(args) >= 2 && args[0] == "gate" && args[1] == "--":
		return toolserver.Gate(settings, args[2:], os.Stdin, log)
	}
	fmt.Fprintln(os.Stderr, "usage: toolbox serve | toolbox gate -- command [argument…]")
	return toolserver.ExitUsage
}
