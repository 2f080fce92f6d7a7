package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

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
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeIDs(allIDs),
		RunE: func(c *cobra.Command, args []string) error {
			return a.printDiff(c.Context(), func(s *company.State) (*company.Task, diffRange, error) { return rangeOf(s, args[0]) })
		},
	}
}

// diffRange is what a diff goes from and to.
type diffRange struct {
	of       string
	from, to company.OID
}

// rangeOf tells what an id changed: a task its integration branch since the
// base, a subtask its head since the base of its first run, a run its own.
func rangeOf(s *company.State, id string) (*company.Task, diffRange, error) {
	th, err := view.FindTarget(s, id)
	if err != nil {
		return nil, diffRange{}, err
	}
	sp := diffRange{of: id}
	switch {
	case th.Approval != nil:
		return nil, diffRange{}, company.E(company.EUsage, id+" is a question").Fix("company diff <task|subtask|run>")
	case th.Run != nil:
		sp.from, sp.to = th.Run.From, th.Run.Head
	case th.Subtask != nil:
		sp.from, sp.to = th.Subtask.Base, th.Subtask.Head
	case th.Task.Prepared != nil:
		sp.from, sp.to = th.Task.Prepared.Base.OID, th.Task.Head
	}
	if sp.from == "" || sp.to == "" {
		return nil, diffRange{}, company.E(company.ENotFound, id+" has no commit yet").Fix("company show " + id)
	}
	return th.Task, sp, nil
}

// printDiff prints what changed in a span, from the git objects that the company
// holds: no checkout is looked at, and nothing of a repository runs.
func (a *app) printDiff(ctx context.Context, pick func(*company.State) (*company.Task, diffRange, error)) error {
	acc, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer acc.Close()
	s, err := acc.State(ctx)
	if err != nil {
		return err
	}
	t, sp, err := pick(s)
	if err != nil {
		return err
	}
	d, dir, err := makePatch(ctx, paths, t, sp)
	if err != nil {
		return err
	}
	if a.output == "json" {
		files := []company.Change{}
		for _, c := range d.Changes {
			files = append(files, c.Change)
		}
		return a.printJSON(a.out, map[string]any{
			"schema_version": 1, "of": sp.of, "from": sp.from, "to": sp.to, "files": files, "patch": string(d.Patch), "truncated": d.Truncated,
		})
	}
	a.printPatch(a.out, sp, d, dir)
	return nil
}

// makePatch makes the patch of a span, and names the repository that it is of.
func makePatch(ctx context.Context, paths office.Paths, t *company.Task, sp diffRange) (gitops.Diff, string, error) {
	m, err := openMirror(paths, t)
	if err != nil {
		return gitops.Diff{}, "", err
	}
	d, err := m.Diff(ctx, sp.from, sp.to, maxPatch)
	return d, m.Dir(), err
}

// printPatch shows a patch. To a file or another program it goes unchanged: it
// must apply.
func (a *app) printPatch(w io.Writer, sp diffRange, d gitops.Diff, dir string) {
	patch := d.Patch
	if isTerminal(w) {
		patch = []byte(safetext.Escape(string(patch)))
	}
	if _, err := w.Write(patch); err != nil {
		return // the writer of stdout reports it
	}
	switch {
	case len(d.Changes) == 0:
		a.printNote("%s changed nothing since %s", sp.of, sp.from.Short())
	case d.Truncated:
		a.printNote("cut at %d MiB; all of it: git --git-dir %s diff %s %s", maxPatch>>20, dir, sp.from, sp.to)
	}
}

// openMirror opens a task's mirror to read.
func openMirror(p office.Paths, t *company.Task) (*gitops.Mirror, error) {
	return gitops.LookAt(p.Git, "", t.Project.ID, t.Project.Path)
}

// changeStat is how much changed, in a line.
func changeStat(d gitops.Diff) string {
	n := map[string]int{}
	for _, c := range d.Changes {
		n[c.Action]++
	}
	return fmt.Sprintf("%s: %d created, %d modified, %d deleted", company.Count(len(d.Changes), "file"), n["created"], n["modified"], n["deleted"])
}
