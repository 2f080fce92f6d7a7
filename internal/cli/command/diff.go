package command

import (
	"context"

	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/view"
)

// PrintDiff prints what changed in a span, from the git objects that the company
// holds: no checkout is looked at, and nothing of a repository runs.
func (env *Environment) PrintDiff(ctx context.Context, pick func(context.Context, *client.Office) (view.Range, error)) error {
	conn, paths, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	sp, err := pick(ctx, conn)
	if err != nil {
		return err
	}
	p, err := officeapp.ReadPatch(ctx, paths, sp, officeapp.MaxPatch)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{
			"schema_version": 1, "of": sp.Of, "from": sp.From, "to": sp.To, "files": p.Changes, "patch": string(p.Text), "truncated": p.Truncated,
		})
	}
	if env.PrintPatch(env.Out, p.Text) == nil { // else the writer of stdout reports it
		env.PrintNotes(p.Notes(sp))
	}
	return nil
}
