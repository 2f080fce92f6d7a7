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
		Use: "set <key> <value>", Short: "Give a key another value in company.yaml, or in your own file",
		Example: `  company config set workers.max 5
  company config set --user models.default '{adapter: openai, model: gpt-5, api_key_env: OPENAI_API_KEY}'
  company config set gates.protected '[".github/**", "deploy/**"]'`,
		Long: `Changes one key of a config file and leaves its comments, its order and all
other lines as they are. The file is the project's company.yaml, with --own yours for this
repository (container, deps and gates alone), or with --user yours for all.

A list, a section or a profile of a model is written as YAML; a list may be
separated by commas, too. The whole config is read with the change first: a fault
in it is shown, and nothing is written. Then the file is replaced at once.`,
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
		Use: "unset <key>", Short: "Take a key out of company.yaml, or of your own file",
		Example: "  company config unset workers.max\n  company config unset --user models.strong",
		Long: `Takes one key, section or profile out of a config file. The value that counts
then is shown: that of a source below, or the default. A key with a comment behind it
becomes a comment as a whole. A key that there is not in company.yaml's format can
be taken out, too.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeKeys,
		RunE: func(c *cobra.Command, args []string) error {
			return runConfigChange(c.Context(), env, target, config.Change{Key: args[0], Unset: true})
		},
	}
	addTargetFlags(cmd, &target)
	return cmd
}

func addTargetFlags(cmd *cobra.Command, configTarget *officeaccess.ConfigTarget) {
	cmd.Flags().BoolVar(&configTarget.User, "user", false, "change your own file, which counts in every project")
	cmd.Flags().BoolVar(&configTarget.Own, "own", false,
		"change your own file for this repository, which counts above its company.yaml")
	cmd.Flags().BoolVar(&configTarget.Project, "project", false,
		"change the project's company.yaml (the default, where there is one)")
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
