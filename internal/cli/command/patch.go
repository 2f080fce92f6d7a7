package command

import (
	"context"
	"io"

	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/safetext"
	"company/internal/screen"
	"company/internal/view"
)

// MaxPatch bounds a patch that is shown, in bytes.
const MaxPatch = 8 << 20

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
	p, err := officeapp.ReadPatch(ctx, paths, sp, MaxPatch)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{
			"schema_version": 1, "of": sp.Of, "from": sp.From, "to": sp.To, "files": p.Changes, "patch": string(p.Text), "truncated": p.Truncated,
		})
	}
	env.PrintPatch(env.Out, sp, p)
	return nil
}

// PrintPatch shows a patch: on a terminal how much changed first. To a file or another program it goes unchanged: it
// must apply.
func (env *Environment) PrintPatch(w io.Writer, sp view.Range, p officeapp.Patch) {
	var err error
	switch text := string(p.Text); {
	case !IsTerminal(w):
		_, err = w.Write(p.Text)
	case w == env.Out:
		err = env.PrintLong(screen.RenderPatch(safetext.Escape(text), env.Style(w)))
	default:
		_, err = io.WriteString(w, screen.RenderPatch(safetext.Escape(text), env.Style(w)))
	}
	if err != nil {
		return // the writer of stdout reports it
	}
	switch {
	case len(p.Changes) == 0:
		env.PrintNote("%s changed nothing since %s", sp.Of, sp.From.Short())
	case p.Truncated:
		env.PrintNote("cut at %d MiB; all of it: git --git-dir %s diff %s %s", MaxPatch>>20, p.GitDir, sp.From, sp.To)
	}
}
