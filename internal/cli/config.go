package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/office"
)

func newConfig(a *app) *cobra.Command {
	c := group("config", "The config: what holds, and where it comes from", "  company config show\n  company config schema > company.schema.json")
	c.AddCommand(
		&cobra.Command{
			Use: "show", Short: "Show every key, its value and where it comes from",
			Example: "  company config show\n  company config show --set workers.max=5 -o json",
			RunE:    func(*cobra.Command, []string) error { return a.showConfig() },
		},
		&cobra.Command{
			Use: "schema", Short: "Print the JSON Schema of company.yaml", Example: "  company config schema > company.schema.json",
			RunE: func(*cobra.Command, []string) error {
				_, err := a.out.Write(office.Schema())
				return err
			},
		},
	)
	return c
}

type configValue struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // as written in company.yaml
	Origin string `json:"origin"`
}

func (a *app) showConfig() error {
	paths, err := a.paths()
	if err != nil {
		return err
	}
	loaded, err := a.load(paths)
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
		fmt.Fprintf(table, "%s\t%s\t%s\n", v.Key, clean(v.Value), clean(v.Origin))
	}
	return table.Flush()
}

func newTrust(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "trust", Short: "Let a company.yaml that git tracks count in full",
		Example: "  less company.yaml && company trust",
		Long: `What a repository's own company.yaml asks for (models, addresses, set-up
commands, larger budgets) is refused until you have read the file and trust it.
The trust is in these bytes: a change needs it anew. It is noted outside of the
repository.`,
		RunE: func(*cobra.Command, []string) error { return a.trust() },
	}
}

func (a *app) trust() error {
	paths, err := a.paths()
	if err != nil {
		return err
	}
	f, err := os.Open(paths.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return company.E(company.ENotFound, "there is no "+paths.Config).Fix("go to the folder of a company.yaml, or name it with --office")
	}
	if err != nil {
		return company.E(company.EConfig, paths.Config+" cannot be read").Wrap(err).Fix("make it readable for you")
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return company.E(company.EConfig, paths.Config+" cannot be read").Wrap(err).Fix("see that it is a plain file")
	}
	hash := company.Hash(hex.EncodeToString(sum.Sum(nil)))
	t := office.OpenTrust(a.env)
	before := t.Trusted(hash)
	if !before {
		if err := t.Trust(hash, paths.Config); err != nil {
			return err
		}
	}
	// Trust lets a file count; it does not make it right.
	if _, err := a.load(paths); err != nil {
		a.note("trusted, but it does not load:")
		return err
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "file": paths.Config, "hash": hash, "was_trusted": before})
	}
	fmt.Fprintf(a.out, "trusted: %s (%.12s)\n", clean(paths.Config), hash)
	return nil
}
