// Package image has the commands for the images of workers' containers.
package image

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
)

// New returns the "company image" command.
func New(env *command.Environment) *cobra.Command {
	cmd := command.NewGroup("image", "Manage the images of workers' containers", `  company image list
  company image explain
  company image prune --dry-run`)
	var all, dryRun bool
	var project, base string
	prune := &cobra.Command{
		Use: "prune", Short: "Remove images that no task needs",
		Example: "  company image prune --dry-run\n  company image prune\n  company image prune --all",
		Long: `Removes images of this office's finished tasks that no other task or office needs,
the layers that only they use, and unused toolboxes of other versions of company.
Images that a container uses are kept.

--all removes every image of company on this machine that no open task of this
office needs, shared layers included. The next task rebuilds what it needs, which
takes minutes. So does an open task of another office.`,
		RunE: func(c *cobra.Command, _ []string) error { return pruneImages(c.Context(), env, all, dryRun) },
	}
	prune.Flags().BoolVar(&all, "all", false, "remove every image that this office does not need now")
	prune.Flags().BoolVar(&dryRun, "dry-run", false, "only list what would be removed")
	of := func(use, short, long, example string,
		run func(context.Context, *command.Environment, *officeapp.TaskImage) error) *cobra.Command {
		c := &cobra.Command{
			Use: use, Short: short, Long: long, Example: example,
			RunE: func(c *cobra.Command, _ []string) error { return withTaskImage(c.Context(), env, project, base, run) },
		}
		c.Flags().StringVar(&project, "project", "",
			"project name or path of a git checkout (default: the current one)")
		c.Flags().StringVar(&base, "base", "", "branch to start from (default: the current branch)")
		_ = c.RegisterFlagCompletionFunc("project", env.CompleteIDs(func(v view.IDs) []string { return v.Projects }))
		return c
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List images, largest first",
			Example: "  company image list\n  company image list -o json",
			RunE:    func(c *cobra.Command, _ []string) error { return listImages(c.Context(), env) },
		},
		of("build", "Build the image that a task would use now",
			"Builds the missing layers, so that the next task does not have to wait for them.",
			"  company image build\n  company image build --project api", buildImage),
		prune,
		of("explain", "Show the layers of a task's image and which of them exist", "",
			"  company image explain\n  company image explain --base release", explainImage),
	)
	return cmd
}

// readImages returns the images that tasks of the office use.
func readImages(ctx context.Context, env *command.Environment) ([]view.TaskImage, error) {
	used, conn, err := officeaccess.Read(ctx, env.Entrance, (*client.Office).Images)
	if err == nil {
		conn.Close()
	}
	return used, err
}

func listImages(ctx context.Context, env *command.Environment) error {
	used, err := readImages(ctx, env)
	if err != nil {
		return err
	}
	views, err := env.FindDaemon(ctx).ListImages(ctx, used)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "images": views})
	}
	if len(views) == 0 {
		_, err := fmt.Fprintln(env.Out, "no images yet: the first task or company image build builds one")
		return err
	}
	table := termtext.Table{Columns: []termtext.Column{{Title: "IMAGE"}, {Title: "KIND"}, {Title: "SIZE"},
		{Title: "TASKS HERE"}, {Title: "TAG", Rank: 1}}}
	for _, imageEntry := range views {
		table.Row(officeapp.ShortImageID(imageEntry.ID), imageEntry.Kind, view.FormatBytes(imageEntry.Bytes),
			safetext.EscapeLine(view.JoinIDs(imageEntry.Tasks), 60), imageEntry.Tag)
	}
	return env.PrintLong(table.Render(env.Style(env.Out)))
}

func pruneImages(ctx context.Context, env *command.Environment, all, dryRun bool) error {
	conn, paths, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	used, err := conn.Images(ctx)
	conn.Close()
	if err != nil {
		return err
	}
	out, err := env.FindDaemon(ctx).PruneImages(ctx, used, paths.Git, all, dryRun)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, out)
	}
	_, err = fmt.Fprint(env.Out, out.RenderText())
	return err
}

// withTaskImage determines the image that a task of a project would use now, and passes it to run.
func withTaskImage(
	ctx context.Context, env *command.Environment, project, base string,
	run func(context.Context, *command.Environment, *officeapp.TaskImage) error,
) error {
	paths, _, err := env.LoadReady(ctx)
	if err != nil {
		return err
	}
	repo, loaded, err := env.LoadReadyProject(ctx, paths, project)
	if err != nil {
		return err
	}
	off, err := env.OpenOffice(ctx, paths)
	if err != nil {
		return err
	}
	defer off.Close()
	img, err := officeapp.OpenTaskImage(ctx, officeapp.TaskImageOptions{
		Paths: paths, Config: loaded.Config, Checkout: repo, Base: base, Env: env.LookupEnv, Logger: env.Log,
		Progress: func(line string) {
			env.PrintNote("%s", line)
		},
	})
	if err != nil {
		return err
	}
	defer img.Close()
	return run(ctx, env, img)
}

func buildImage(ctx context.Context, env *command.Environment, task *officeapp.TaskImage) error {
	began := time.Now()
	img, err := task.Build(ctx)
	if err != nil {
		return err
	}
	for _, n := range img.Notes {
		env.PrintNote("%s", n)
	}
	if env.Output == "json" {
		return env.PrintJSON(
			env.Out, map[string]any{"schema_version": 1, "id": img.ID, "tag": img.Tag, "notes": img.Notes,
				"took_ms": time.Since(began).Milliseconds()})
	}
	_, err = fmt.Fprintf(env.Out, "built %s (%s)\n", img.Tag, time.Since(began).Round(100*time.Millisecond))
	return err
}

func explainImage(ctx context.Context, env *command.Environment, task *officeapp.TaskImage) error {
	explanation, err := task.Explain(ctx)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		parts := []map[string]any{}
		for _, layerInfo := range explanation.Layers {
			parts = append(
				parts, map[string]any{"kind": layerInfo.Kind, "tag": layerInfo.Tag, "why": layerInfo.Why,
					"cached": layerInfo.Cached, "bytes": layerInfo.Size})
		}
		return env.PrintJSON(
			env.Out, map[string]any{"schema_version": 1, "image": explanation.Image, "parts": parts, "notes": explanation.Notes})
	}
	table := termtext.Table{Columns: []termtext.Column{{}, {}, {}}}
	for _, layerInfo := range explanation.Layers {
		state := "missing"
		if layerInfo.Cached {
			state = view.FormatBytes(layerInfo.Size)
		}
		table.Row(layerInfo.Kind, state, safetext.EscapeLine(layerInfo.Why, 160))
	}
	fmt.Fprint(env.Out, table.Render(env.Style(env.Out)))
	for _, n := range explanation.Notes {
		fmt.Fprintf(env.Out, "note: %s\n", safetext.EscapeLine(n, 300))
	}
	if explanation.Image == "" {
		_, err = fmt.Fprintln(env.Out, "not built yet: the next task or company image build builds it")
		return err
	}
	_, err = fmt.Fprintf(env.Out, "image: %s\n", officeapp.ShortImageID(explanation.Image))
	return err
}
