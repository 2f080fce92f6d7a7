package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/company"
	"company/internal/config"
	"company/internal/gitops"
	"company/internal/image"
	"company/internal/intake"
	"company/internal/safetext"
	"company/internal/upkeep"
	"company/internal/view"
)

func newImage(a *app) *cobra.Command {
	c := commandGroup("image", "The images that workers' containers are made from", `  company image list
  company image explain
  company image prune --dry-run`)
	var all, dryRun bool
	var project, base string
	prune := &cobra.Command{
		Use: "prune", Short: "Remove images that nobody needs",
		Example: "  company image prune --dry-run\n  company image prune\n  company image prune --all",
		Long: `Removes the images that ended tasks of this office were worked on with, when no
task needs them any more. --all removes every image of company on this machine
that no open task of this office is based on, layers that are shared included:
the next task builds what it needs, which takes minutes. Another office's open
task whose image went has to be submitted again. What a container uses stays.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.pruneImages(c.Context(), all, dryRun) },
	}
	prune.Flags().BoolVar(&all, "all", false, "every image that this office does not need now")
	prune.Flags().BoolVar(&dryRun, "dry-run", false, "only list what would be removed")
	of := func(use, short, long, example string, run func(context.Context, *image.Builder, image.Request) error) *cobra.Command {
		c := &cobra.Command{
			Use: use, Short: short, Long: long, Example: example,
			RunE: func(c *cobra.Command, _ []string) error { return a.withImageRequest(c.Context(), project, base, run) },
		}
		c.Flags().StringVar(&project, "project", "", "project of this office, by name, or a git checkout (default: the one you stand in)")
		c.Flags().StringVar(&base, "base", "", "branch to start from (default: the checkout's)")
		_ = c.RegisterFlagCompletionFunc("project", a.completeIDs(func(v view.IDs) []string { return v.Projects }))
		return c
	}
	c.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the images, the largest first", Example: "  company image list\n  company image list -o json",
			RunE: func(c *cobra.Command, _ []string) error { return a.listImages(c.Context()) },
		},
		of("build", "Make the image that a task would need now", "Makes what is missing, so that the next task need not wait for it.", "  company image build\n  company image build --project api", a.buildImage),
		prune,
		of("explain", "Tell what the image of a task is made from, and what of it is there", "", "  company image explain\n  company image explain --base release", a.explainImage),
	)
	return c
}

type imageView struct {
	Tag   string           `json:"tag"`
	ID    string           `json:"id"`
	Kind  string           `json:"kind"` // of its topmost layer
	Top   bool             `json:"worker"`
	Bytes int64            `json:"bytes"` // shared layers included
	Tasks []company.TaskID `json:"tasks"` // of this office that were worked on with it, or are
}

func (a *app) listImages(ctx context.Context) error {
	used, conn, err := read(ctx, a, (*client.Office).Images)
	if err != nil {
		return err
	}
	conn.Close()
	b, err := image.New(image.Config{Logger: a.log})
	if err != nil {
		return err
	}
	defer b.Close()
	entries, err := b.List(ctx)
	if err != nil {
		return err
	}
	views := []imageView{}
	for _, e := range entries {
		v := imageView{Tag: e.Tag, ID: e.ID, Kind: e.Kind, Top: e.IsWorkerImage, Bytes: e.Size, Tasks: []company.TaskID{}}
		for _, t := range used {
			if t.Image == e.ID {
				v.Tasks = append(v.Tasks, t.Task)
			}
		}
		views = append(views, v)
	}
	slices.SortFunc(views, func(a, b imageView) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Tag, b.Tag)) })
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "images": views})
	}
	if len(views) == 0 {
		_, err := fmt.Fprintln(a.out, "no images yet: the first task builds one, or company image build")
		return err
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "IMAGE\tKIND\tSIZE\tTASKS HERE")
	for _, v := range views {
		name, key := v.Tag, v.Tag
		if len(key) > 40 {
			name = key[:40]
		}
		tasks := "-"
		if len(v.Tasks) > 0 {
			tasks = joinIDs(v.Tasks)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", name, v.Kind, view.FormatBytes(v.Bytes), safetext.EscapeLine(tasks, 60))
	}
	return table.Flush()
}

func (a *app) pruneImages(ctx context.Context, all, dryRun bool) error {
	used, conn, err := read(ctx, a, (*client.Office).Images)
	if err != nil {
		return err
	}
	conn.Close()
	b, err := image.New(image.Config{Logger: a.log})
	if err != nil {
		return err
	}
	defer b.Close()
	found, err := upkeep.ListPrunable(ctx, used, b, all)
	if err != nil {
		return err
	}
	out := cleanupReport{SchemaVersion: 1, DryRun: dryRun, Items: []upkeep.Garbage{}, Docker: true}
	// The daemon keeps a layer while an image above it is there.
	for _, l := range found {
		if !dryRun {
			if err := l.Remove(ctx); err != nil {
				return err
			}
		}
		out.Items = append(out.Items, l)
	}
	return a.printCleanup(out)
}

// withImageRequest finds out what image a task of a project would be asked for now.
func (a *app) withImageRequest(ctx context.Context, project, base string, run func(context.Context, *image.Builder, image.Request) error) error {
	paths, _, err := a.loadReady(ctx)
	if err != nil {
		return err
	}
	repo, err := a.resolveProject(ctx, paths, project)
	if err != nil {
		return err
	}
	loaded, err := a.loadProjectConfig(ctx, paths, repo)
	if err == nil {
		err = loaded.CheckSupported()
	}
	if err != nil {
		return err
	}
	if base == "" && loaded.Config.Git.Base != config.Auto {
		base = loaded.Config.Git.Base
	}
	off, err := a.openOffice(ctx, paths)
	if err != nil {
		return err
	}
	defer off.Close()
	b, done, err := a.newImageBuilder(ctx, loaded)
	if err != nil {
		return err
	}
	defer done()
	cfg, err := officeapp.GitConfig(paths, loaded.Config, a.env)
	if err != nil {
		return err
	}
	store, err := gitops.Open(cfg)
	if err != nil {
		return err
	}
	p := officeapp.ProjectOf(repo)
	m, err := store.Mirror(ctx, p.ID, p.Path)
	if err != nil {
		return err
	}
	c := loaded.Config
	secrets, err := officeapp.SetupEnv(c, a.env)
	if err != nil {
		return err
	}
	in := intake.Intake{
		Images: b, Base: c.Container.Image, Setup: c.Container.Setup, SetupEnv: secrets, Offline: c.Container.Deps == "off",
		Logins: config.OpenTrust(a.env).MayUseLogins(ctx, p.Path),
		Lint:   officeapp.ToOverride(c.Gates.Lint), Test: officeapp.ToOverride(c.Gates.Test), Prefix: c.Git.IntegrationBranch,
	}
	req, err := in.ImageOf(ctx, m, p.Path, base)
	if err != nil {
		return err
	}
	return run(ctx, b, req)
}

// newImageBuilder is an image builder outside of a working company.
func (a *app) newImageBuilder(ctx context.Context, loaded config.Loaded) (*image.Builder, func(), error) {
	registries, err := officeapp.OpenRegistries(ctx, loaded.Config, a.env, a.log)
	if err != nil {
		return nil, nil, err
	}
	rt, err := officeapp.OpenRuntime(ctx, a.log)
	if err != nil {
		registries.Close()
		return nil, nil, err
	}
	done := func() {
		_ = rt.Close() // what a build started it has removed
		registries.Close()
	}
	b, err := image.New(image.Config{Logger: a.log, Runtime: rt, Registries: registries.Public(), WithLogins: registries.WithLogins(), Progress: func(line string) { a.printNote("%s", line) }})
	if err != nil {
		done()
		return nil, nil, err
	}
	return b, func() { b.Close(); done() }, nil
}

func (a *app) buildImage(ctx context.Context, b *image.Builder, req image.Request) error {
	began := time.Now()
	img, err := b.Ensure(ctx, req)
	if err != nil {
		return err
	}
	for _, n := range img.Notes {
		a.printNote("%s", n)
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "id": img.ID, "tag": img.Tag, "notes": img.Notes, "took_ms": time.Since(began).Milliseconds()})
	}
	_, err = fmt.Fprintf(a.out, "%s is there (%s)\n", img.Tag, time.Since(began).Round(100*time.Millisecond))
	return err
}

func (a *app) explainImage(ctx context.Context, b *image.Builder, req image.Request) error {
	x, err := b.Explain(ctx, req)
	if err != nil {
		return err
	}
	if a.output == "json" {
		parts := []map[string]any{}
		for _, p := range x.Layers {
			parts = append(parts, map[string]any{"kind": p.Kind, "tag": p.Tag, "why": p.Why, "cached": p.Cached, "bytes": p.Size})
		}
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "image": x.Image, "parts": parts, "notes": x.Notes})
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, p := range x.Layers {
		state := "to be made"
		if p.Cached {
			state = view.FormatBytes(p.Size)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", p.Kind, state, safetext.EscapeLine(p.Why, 160))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, n := range x.Notes {
		fmt.Fprintf(a.out, "note: %s\n", safetext.EscapeLine(n, 300))
	}
	if x.Image == "" {
		_, err = fmt.Fprintln(a.out, "the image is not there yet: company image build, or the next task, makes it")
		return err
	}
	_, err = fmt.Fprintf(a.out, "the image is there: %s\n", x.Image)
	return err
}
