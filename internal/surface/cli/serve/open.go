package serve

import (
	"github.com/spf13/cobra"

	"company/internal/surface/cli/command"
)

// NewOpen returns the "company open" command.
func NewOpen(env *command.Environment) *cobra.Command {
	var printOnly bool
	cmd := &cobra.Command{
		Use: "open", Short: "Open the office in a browser",
		Example: "  company open\n  company open --no-browser\n  company open -o json",
		Long: `Prints a link to the page of the office that company serve runs. On a terminal, it
also opens the link in your browser. The link works once, within ten minutes.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return env.OpenPage(c.Context(), !printOnly) },
	}
	cmd.Flags().BoolVar(&printOnly, "no-browser", false, "only print the link")
	return cmd
}
