package setup

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/lib/safetext"
	"company/internal/office/config"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
)

func newConfigSet(env *command.Environment) *cobra.Command {
	var target officeaccess.ConfigTarget
	cmd := &cobra.Command{
		Use: "set <key> <value>", Short: "Set a key in company.yaml or in your own config file",
		Example: `  company config set workers.max 5
  company config set --user models.default '{adapter: openai, model: gpt-5, api_key_env: OPENAI_API_KEY}'
  company config set gates.protected '[".github/**", "deploy/**"]'`,
		Long: `Sets one key of a config file and keeps its comments, order and other lines. The file
is the project's company.yaml, your own file for this repository with --own
(container, deps and gates only), or your own file for all projects with --user.

Write lists, sections and model profiles as YAML. Lists may also be separated by
commas. The changed config is checked first, and nothing is written if it has an
error. The file is replaced atomically.`,
		Args: cobra.ExactArgs(2), ValidArgsFunction: completeKeys,
		RunE: func(c *cobra.Command, args []string) error {
			return runConfigChange(c.Context(), env, target, config.Change{Key: args[0], Value: args[1]})
		},
	}
	addTargetFlags(cmd, &target)
	return cmd
}

func newConfigUnset(env *command.Environment) *cobra.Command {
	var target officeaccess.ConfigTarget
	cmd := &cobra.Command{
		Use: "unset <key>", Short: "Remove a key from company.yaml or from your own config file",
		Example: "  company config unset workers.max\n  company config unset --user models.strong",
		Long: `Removes one key, section or profile from a config file and prints the value that now
applies, from another source or the default. A key followed by a comment is commented
out instead. Unknown keys can be removed, too.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeKeys,
		RunE: func(c *cobra.Command, args []string) error {
			return runConfigChange(c.Context(), env, target, config.Change{Key: args[0], Unset: true})
		},
	}
	addTargetFlags(cmd, &target)
	return cmd
}

func addTargetFlags(cmd *cobra.Command, configTarget *officeaccess.ConfigTarget) {
	cmd.Flags().BoolVar(&configTarget.User, "user", false, "change your own config file for all projects")
	cmd.Flags().BoolVar(&configTarget.Own, "own", false,
		"change your own config file for this repository, which overrides its company.yaml")
	cmd.Flags().BoolVar(&configTarget.Project, "project", false,
		"change the project's company.yaml (default, if it exists)")
}

// completeKeys completes the first argument with the keys of the config.
func completeKeys(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		for _, k := range config.Keys() {
			names = append(names, strings.ReplaceAll(k.Name, "<profile>", "default"))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func runConfigChange(
	ctx context.Context, env *command.Environment, target officeaccess.ConfigTarget, change config.Change,
) error {
	out, err := env.ChangeTargetConfig(ctx, target, change)
	switch {
	case err != nil:
		return err
	case env.Output == "json":
		return env.PrintJSON(env.Out, out)
	}
	_, err = fmt.Fprint(env.Out, safetext.Escape(out.RenderText()))
	return err
}
