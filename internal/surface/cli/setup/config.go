package setup

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/office/config"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
)

// NewConfig returns the "company config" command.
func NewConfig(env *command.Environment) *cobra.Command {
	c := command.NewGroup("config", "Show, check and change the config",
		"  company config check\n  company config show\n  company config get workers.max\n  company config set workers.max "+
			"5\n  company config schema > company.schema.json")
	c.AddCommand(
		newConfigSet(env), newConfigUnset(env),
		&cobra.Command{
			Use: "get <key>", Short: "Print the value of one key, or the keys of a section",
			Example: "  company config get workers.max\n  company config get gates\n  company config get git.remote -o json",
			Long: "Prints the value of a key without quotes, for use in scripts. Lists and sections are\nprinted " +
				"as in company.yaml.",
			Args: cobra.ExactArgs(1), ValidArgsFunction: completeKeys,
			RunE: func(cmd *cobra.Command, args []string) error { return runConfigGet(cmd.Context(), env, args[0]) },
		},
		&cobra.Command{
			Use: "show", Short: "Show all keys, their values and their sources",
			Example: "  company config show\n  company config show --set workers.max=5 -o json",
			RunE:    func(cmd *cobra.Command, _ []string) error { return runConfigShow(cmd.Context(), env) },
		},
		&cobra.Command{
			Use: "check", Short: "Check the config for errors",
			Example: "  company config check\n  company config check -o json",
			Long: `Reads the config files, environment variables and flags, and reports every error with
its place, the value found and the values allowed. It changes nothing.`,
			RunE: func(cmd *cobra.Command, _ []string) error { return runConfigCheck(cmd.Context(), env) },
		},
		&cobra.Command{
			Use: "schema", Short: "Print the JSON Schema of company.yaml",
			Example: "  company config schema > company.schema.json",
			RunE: func(*cobra.Command, []string) error {
				_, err := env.Out.Write(config.Schema())
				return err
			},
		},
	)
	return c
}

// runConfigCheck loads the config and prints its sources, or all its problems.
func runConfigCheck(ctx context.Context, env *command.Environment) error {
	paths, err := env.FindOffice()
	if err != nil {
		return err
	}
	loaded, err := env.LoadConfig(ctx, paths)
	if err == nil {
		err = loaded.CheckKeyFiles()
	}
	if err != nil && (env.Output != "json" || config.Problems(err) == nil) {
		return err
	}
	if env.Output == "json" {
		out := map[string]any{"schema_version": 1, "ok": err == nil, "sources": loaded.Sources(),
			"problems":         append([]config.Problem{}, config.Problems(err)...),
			"unused_variables": append([]string{}, loaded.Unused...)}
		if perr := env.PrintJSON(env.Out, out); perr != nil {
			return perr
		}
		if err != nil {
			return &command.CodedError{Code: command.ExitError} // everything is printed
		}
		return nil
	}
	from := "defaults only"
	if list := loaded.Sources(); len(list) > 0 {
		from = strings.Join(list, ", ")
	}
	_, err = fmt.Fprintf(env.Out, "the config is valid: %s\n", safetext.Escape(from))
	for _, name := range loaded.Unused {
		env.PrintNote("%s has no effect", name)
	}
	return err
}

// runConfigGet prints the bare value of a key, or the keys of a section in the form of config
// show.
func runConfigGet(ctx context.Context, env *command.Environment, key string) error {
	list, err := env.ListConfig(ctx, "")
	if err != nil {
		return err
	}
	var names []string
	var found []view.ConfigValue
	for _, configValue := range list.Values {
		names = append(names, configValue.Key)
		if configValue.Key == key || strings.HasPrefix(configValue.Key, key+".") {
			found = append(found, configValue)
		}
	}
	if len(found) == 0 {
		fault := company.E(company.ENotFound, "unknown key "+safetext.EscapeLine(key, 80)).
			Fix("company config show lists all keys")
		if near := command.NearestName(key, names); near != "" {
			fault = fault.Fix("did you mean " + near + "?")
		}
		return fault
	}
	if len(found) == 1 && found[0].Key == key && env.Output != "json" {
		_, err := fmt.Fprintln(env.Out, safetext.Escape(found[0].BareText()))
		return err
	}
	list.Values = found
	return printConfig(env, list)
}

func runConfigShow(ctx context.Context, env *command.Environment) error {
	list, err := env.ListConfig(ctx, "")
	if err != nil {
		return err
	}
	return printConfig(env, list)
}

func printConfig(env *command.Environment, list view.ConfigList) error {
	if env.Output == "json" {
		return env.PrintJSON(
			env.Out, map[string]any{"schema_version": 1, "office": list.Office, "hash": list.Hash, "values": list.Values})
	}
	table := tabwriter.NewWriter(env.Out, 0, 0, 2, ' ', 0)
	for _, v := range list.Values {
		fmt.Fprintf(table, "%s\t%s\t%s\n", v.Key, safetext.Escape(v.Value), safetext.Escape(v.Origin))
	}
	return table.Flush()
}
