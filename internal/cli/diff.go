package cli

import (
	"context"
	"io"

	officeapp "company/internal/app"

	"github.com/spf13/cobra"

	"company/internal/client"
	"company/internal/safetext"
	"company/internal/view"
)

// maxPatch bounds a patch that is shown, in bytes.
const maxPatch = 8 << 20

func newDiff(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "diff <task|subtask|run>", Short: "Show what a task, a subtask or a run changed",
		Example: "  company diff t12\n  company diff t12-03\n  company diff t12-03.2 | less",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeIDs(func(v view.IDs) []string { return v.All }),
		RunE: func(c *cobra.Command, args []string) error {
			return a.printDiff(c.Context(), func(ctx context.Context, conn *client.Office) (view.Range, error) {
				return conn.Range(ctx, args[0])
			})
		},
	}
}

// printDiff prints what changed in a span, from the git objects that the company
// holds: no checkout is looked at, and nothing of a repository runs.
func (a *app) printDiff(ctx context.Context, pick func(context.Context, *client.Office) (view.Range, error)) error {
	conn, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	sp, err := pick(ctx, conn)
	if err != nil {
		return err
	}
	p, err := officeapp.ReadPatch(ctx, paths, sp, maxPatch)
	if err != nil {
		return err
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{
			"schema_version": 1, "of": sp.Of, "from": sp.From, "to": sp.To, "files": p.Changes, "patch": string(p.Text), "truncated": p.Truncated,
		})
	}
	a.printPatch(a.out, sp, p)
	return nil
}

// printPatch shows a patch. To a file or another program it goes unchanged: it
// must apply.
func (a *app) printPatch(w io.Writer, sp view.Range, p officeapp.Patch) {
	patch := p.Text
	if isTerminal(w) {
		patch = []byte(safetext.Escape(string(patch)))
	}
	if _, err := w.Write(patch); err != nil {
		return // the writer of stdout reports it
	}
	switch {
	case len(p.Changes) == 0:
		a.printNote("%s changed nothing since %s", sp.Of, sp.From.Short())
	case p.Truncated:
		a.printNote("cut at %d MiB; all of it: git --git-dir %s diff %s %s", maxPatch>>20, p.GitDir, sp.From, sp.To)
	}
}
