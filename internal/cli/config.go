package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"company/internal/config"
	"company/internal/safetext"
)

func newConfig(a *app) *cobra.Command {
	c := commandGroup("config", "The config: what holds, and where it comes from", "  company config check\n  company config show\n  company config schema > company.schema.json")
	c.AddCommand(
		&cobra.Command{
			Use: "show", Short: "Show every key, its value and where it comes from",
			Example: "  company config show\n  company config show --set workers.max=5 -o json",
			RunE:    func(cmd *cobra.Command, _ []string) error { return a.runConfigShow(cmd.Context()) },
		},
		&cobra.Command{
			Use: "check", Short: "Check the config: every file, variable and flag that sets something",
			Example: "  company config check\n  company config check -o json",
			Long: `Reads the config as every command does and tells all that is wrong with it: the
place, what was found, what is allowed. It starts and makes nothing.`,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.runConfigCheck(cmd.Context()) },
		},
		&cobra.Command{
			Use: "schema", Short: "Print the JSON Schema of company.yaml", Example: "  company config schema > company.schema.json",
			RunE: func(*cobra.Command, []string) error {
				_, err := a.out.Write(config.Schema())
				return err
			},
		},
	)
	return c
}

// runConfigCheck loads the config and says what it is made of, or all that is
// wrong with it.
func (a *app) runConfigCheck(ctx context.Context) error {
	paths, err := a.findOffice()
	if err != nil {
		return err
	}
	loaded, err := a.loadConfig(ctx, paths)
	if err == nil {
		err = loaded.CheckSupported()
	}
	if err != nil && (a.output != "json" || config.Problems(err) == nil) {
		return err
	}
	if a.output == "json" {
		out := map[string]any{"schema_version": 1, "ok": err == nil, "sources": loaded.Sources(), "problems": append([]config.Problem{}, config.Problems(err)...),
			"unused_variables": append([]string{}, loaded.Unused...)}
		if perr := a.printJSON(a.out, out); perr != nil {
			return perr
		}
		if err != nil {
			return &exitCode{code: exitError} // everything is printed
		}
		return nil
	}
	from := "defaults alone"
	if list := loaded.Sources(); len(list) > 0 {
		from = strings.Join(list, ", ")
	}
	_, err = fmt.Fprintf(a.out, "the config is in order: %s\n", safetext.Escape(from))
	for _, name := range loaded.Unused {
		a.printNote("%s sets nothing", name)
	}
	return err
}

type configValue struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // as written in company.yaml
	Origin string `json:"origin"`
}

func (a *app) runConfigShow(ctx context.Context) error {
	paths, err := a.findOffice()
	if err != nil {
		return err
	}
	loaded, err := a.loadConfig(ctx, paths)
	if err != nil {
		return err
	}
	values := loaded.Config.Values()
	list := []configValue{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		list = append(list, configValue{key, values[key], loaded.Origin[key]})
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "office": paths.Root, "hash": loaded.Hash, "values": list})
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, v := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\n", v.Key, safetext.Escape(v.Value), safetext.Escape(v.Origin))
	}
	return table.Flush()
}
