package inspect

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
)

// NewPrompt returns the "company prompt" command.
func NewPrompt(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "prompt <role> <subtask|task>", Short: "Show the prompt that an agent would be sent now",
		Example: "  company prompt worker t12-03\n  company prompt reviewer t12-03\n  company prompt manager t12",
		Long: `Prints the system prompt and the first message that a manager, a worker, a
reviewer or a merger would be sent for this work now. It starts nothing. Where
only the container has a file, the text says so.`,
		Args: cobra.ExactArgs(2), ValidArgsFunction: completePrompt(env),
		RunE: func(c *cobra.Command, args []string) error { return runPrompt(c.Context(), env, args[0], args[1]) },
	}
}

// completePrompt completes a role and then an id.
func completePrompt(env *command.Environment) command.Completer {
	ids := env.CompleteEachID(func(v view.IDs) []string { return v.All })
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return []string{"manager", "worker", "reviewer", "merger"}, cobra.ShellCompDirectiveNoFileComp
		case 1:
			return ids(c, nil, typed)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func runPrompt(ctx context.Context, env *command.Environment, role, id string) error {
	conn, _, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	prompt, err := conn.Prompt(ctx, company.Role(role), id)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, prompt)
	}
	return env.PrintLong(fmt.Sprintf("SYSTEM PROMPT\n\n%s\nFIRST MESSAGE of %s\n\n%s",
		safetext.EscapeControl(prompt.System), prompt.Run, safetext.EscapeControl(prompt.First)))
}
