package serve

import (
	"github.com/spf13/cobra"

	"company/internal/surface/cli/command"
)

// NewOpen returns the "company open" command.
func NewOpen(env *command.Environment) *cobra.Command {
	var printOnly bool
	cmd := &cobra.Command{
		Use: "open", Short: "Open the page of the office in a browser",
		Example: "  company open\n  company open --no-browser\n  company open -o json",
		Long: `Prints a link into the office that company serve keeps, and on a terminal
opens it in your browser. The link is good once, for ten minutes.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return env.OpenPage(c.Context(), !printOnly) },
	}
	cmd.Flags().BoolVar(&printOnly, "no-browser", false, "only print the link")
	return cmd
}
