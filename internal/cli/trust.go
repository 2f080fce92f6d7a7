package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/office"
)

func newTrust(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "trust", Short: "Let a company.yaml that git tracks count in full",
		Example: "  company trust\n  less company.yaml && company trust --yes",
		Long: `What a repository's own company.yaml asks for (models, addresses, set-up
commands, larger budgets) is refused until you have seen it and trust the file.
This command shows all of that, beside what holds without the file, and asks;
--yes answers.

The trust is in the bytes that were shown: a change needs it anew. It is noted
outside of the repository.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.trust(c.Context()) },
	}
}

func (a *app) trust(ctx context.Context) error {
	paths, err := a.paths()
	if err != nil {
		return err
	}
	review, err := office.ReviewTrust(a.loadOptions(paths, nil))
	if err != nil {
		return err
	}
	if !review.Trusted {
		if err := a.askTrust(ctx, review); err != nil {
			return err
		}
		if err := office.OpenTrust(a.env).Trust(review.Hash, review.File); err != nil {
			return err
		}
	}
	// Trust lets a file count; it does not make it right.
	if _, err := a.load(paths); err != nil {
		a.note("trusted, but it does not load:")
		return err
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{
			"schema_version": 1, "file": review.File, "hash": review.Hash, "tracked": review.Tracked, "was_trusted": review.Trusted,
			"asks": append([]office.Ask{}, review.Asks...),
		})
	}
	_, err = fmt.Fprintf(a.out, "trusted: %s (%.12s)\n", clean(review.File), review.Hash)
	return err
}

// askTrust shows what would count, and goes on only with a yes.
func (a *app) askTrust(ctx context.Context, r office.Review) error {
	if a.output == "text" {
		fmt.Fprintf(a.err, "%s (%.12s)\n", clean(r.File), r.Hash)
		if !r.Tracked {
			fmt.Fprintln(a.err, "git does not track it: it counts without your trust, too")
		}
		if len(r.Asks) == 0 {
			fmt.Fprintln(a.err, "it asks for nothing that needs trust")
		} else {
			fmt.Fprintln(a.err, "asks for:")
			table := tabwriter.NewWriter(a.err, 0, 0, 2, ' ', 0)
			for _, ask := range r.Asks {
				before := ask.Before
				if before == "" {
					before = "not set"
				}
				fmt.Fprintf(table, "  %s\t%s\t(now: %s)\n", clean(ask.Key), cleanLine(ask.After, 300), cleanLine(before, 100))
			}
			_ = table.Flush() // whoever closed stderr does not want to know
		}
	}
	if a.yes {
		return nil
	}
	if !a.interactive() {
		return company.E(company.EUsage, "you have to say whether you trust "+r.File).Because("nobody can be asked here").Fix("read the file, then: company trust --yes")
	}

	answer, err := a.ask(ctx, "let this count? [y/N]> ")
	if err != nil {
		return err
	}
	if word := strings.ToLower(answer); word != "y" && word != "yes" {
		return company.E(company.EWaiting, "not trusted: "+r.File).Fix("company trust asks again")
	}
	return nil
}
