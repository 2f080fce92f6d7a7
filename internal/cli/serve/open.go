package serve

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
)

// NewOpen makes company open.
func NewOpen(env *command.Environment) *cobra.Command {
	var printOnly bool
	c := &cobra.Command{
		Use: "open", Short: "Open the page of the office in a browser",
		Example: "  company open\n  company open --no-browser\n  company open -o json",
		Long: `Prints a link into the office that company serve keeps, and on a terminal
opens it in your browser. The link is good once, for ten minutes.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runOpen(c.Context(), env, printOnly) },
	}
	c.Flags().BoolVar(&printOnly, "no-browser", false, "only print the link")
	return c
}

func runOpen(ctx context.Context, env *command.Environment, printOnly bool) error {
	conn, _, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	link, err := conn.NewLink(ctx)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, link)
	}
	if _, err = fmt.Fprintln(env.Out, link.URL); err == nil && !printOnly {
		env.OpenBrowser(ctx, link.URL)
	}
	return err
}
