package cli

import (
	"io"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/console"
)

// Tree is the tree of the commands with its own empty environment, for what
// describes them: man pages, completions, tests of the docs.
func Tree() *cobra.Command {
	env := command.NewEnvironment(console.Console{Out: io.Discard, Err: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }})
	return newRoot(env)
}
