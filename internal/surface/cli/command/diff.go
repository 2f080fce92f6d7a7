package command

import (
	"context"

	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/present/view"
)

// PrintDiff prints the changes in a range from the git objects that the company holds. It reads no
// checkout and runs no code of a repository.
func (env *Environment) PrintDiff(
	ctx context.Context, pick func(context.Context, *client.Office) (view.Range, error),
) error {
	conn, paths, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	sp, err := pick(ctx, conn)
	if err != nil {
		return err
	}
	patch, err := officeapp.ReadPatch(ctx, paths, sp, officeapp.MaxPatch)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{
			"schema_version": 1, "of": sp.Of, "from": sp.From, "to": sp.To, "files": patch.Changes, "patch": string(patch.Text),
			"truncated": patch.Truncated,
		})
	}
	if env.PrintPatch(env.Out, patch.Text) == nil { // the writer of stdout reports an error
		env.PrintNotes(patch.Notes(sp))
	}
	return nil
}
