package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"company/internal/client"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/office"
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
				return readRange(ctx, conn, args[0])
			})
		},
	}
}

// readRange tells what an id changed.
func readRange(ctx context.Context, conn *client.Office, id string) (view.Range, error) {
	return conn.Range(ctx, id)
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
	d, dir, err := makePatch(ctx, paths, sp)
	if err != nil {
		return err
	}
	if a.output == "json" {
		files := []company.Change{}
		for _, c := range d.Changes {
			files = append(files, c.Change)
		}
		return a.printJSON(a.out, map[string]any{
			"schema_version": 1, "of": sp.Of, "from": sp.From, "to": sp.To, "files": files, "patch": string(d.Patch), "truncated": d.Truncated,
		})
	}
	a.printPatch(a.out, sp, d, dir)
	return nil
}

// makePatch makes the patch of a span, and names the repository that it is of.
func makePatch(ctx context.Context, paths office.Paths, sp view.Range) (gitops.Diff, string, error) {
	m, err := openMirror(paths, sp.Project)
	if err != nil {
		return gitops.Diff{}, "", err
	}
	d, err := m.Diff(ctx, sp.From, sp.To, maxPatch)
	return d, m.Dir(), err
}

// printPatch shows a patch. To a file or another program it goes unchanged: it
// must apply.
func (a *app) printPatch(w io.Writer, sp view.Range, d gitops.Diff, dir string) {
	patch := d.Patch
	if isTerminal(w) {
		patch = []byte(safetext.Escape(string(patch)))
	}
	if _, err := w.Write(patch); err != nil {
		return // the writer of stdout reports it
	}
	switch {
	case len(d.Changes) == 0:
		a.printNote("%s changed nothing since %s", sp.Of, sp.From.Short())
	case d.Truncated:
		a.printNote("cut at %d MiB; all of it: git --git-dir %s diff %s %s", maxPatch>>20, dir, sp.From, sp.To)
	}
}

// openMirror opens a project's mirror to read.
func openMirror(p office.Paths, pr company.Project) (*gitops.Mirror, error) {
	return gitops.LookAt(p.Git, "", pr.ID, pr.Path)
}

// changeStat is how much changed, in a line.
func changeStat(d gitops.Diff) string {
	n := map[string]int{}
	for _, c := range d.Changes {
		n[c.Action]++
	}
	return fmt.Sprintf("%s: %d created, %d modified, %d deleted", company.Count(len(d.Changes), "file"), n["created"], n["modified"], n["deleted"])
}
