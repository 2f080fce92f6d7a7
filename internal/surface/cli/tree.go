package cli

import (
	"io"

	"github.com/spf13/cobra"

	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
)

// Tree returns the tree of commands with an empty environment of its own. Man pages, completions
// and tests of the docs use it.
func Tree() *cobra.Command {
	env := command.NewEnvironment(
		terminalio.Console{Out: io.Discard, Err: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }})
	return newRoot(env)
}
