package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/config"
	"company/internal/container"
	"company/internal/gitops"
	"company/internal/image"
	"company/internal/office"
	"company/internal/upkeep"
	"company/internal/view"
)

// ImageEntry is an image of company on this machine.
type ImageEntry struct {
	Tag   string           `json:"tag"`
	ID    string           `json:"id"`
	Kind  string           `json:"kind"` // of its topmost layer
	Top   bool             `json:"worker"`
	Bytes int64            `json:"bytes"` // shared layers included
	Tasks []company.TaskID `json:"tasks"` // of this office that were worked on with it, or are
}

// ListImages lists the images of company on this machine, the largest first.
func (d Daemon) ListImages(ctx context.Context, used []view.TaskImage) ([]ImageEntry, error) {
	b, err := image.New(image.Config{Logger: d.Logger, Daemon: d.Host})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	entries, err := b.List(ctx)
	if err != nil {
		return nil, err
	}
	out := []ImageEntry{}
	for _, e := range entries {
		v := ImageEntry{Tag: e.Tag, ID: e.ID, Kind: e.Kind, Top: e.IsWorkerImage, Bytes: e.Size, Tasks: []company.TaskID{}}
		for _, t := range used {
			if e.IsNamed(t.Image) {
				v.Tasks = append(v.Tasks, t.Task)
			}
		}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b ImageEntry) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Tag, b.Tag)) })
	return out, nil
}

// MeasureImages returns the bytes in the daemon's store of the worker images of an office:
// those that its tasks name, and those with the history of its mirrors. Layers that other
// projects have as well are not counted. It returns nil where that takes longer than
// patience, or fails.
func (d Daemon) MeasureImages(ctx context.Context, mirrors string, patience time.Duration, findUsed func(context.Context) ([]view.TaskImage, error)) *int64 {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	used, err := findUsed(ctx)
	if err != nil {
		return nil
	}
	b, err := image.New(image.Config{Logger: d.Logger, Daemon: d.Host})
	if err != nil {
		return nil
	}
	defer b.Close()
	entries, err := b.List(ctx)
	if err != nil {
		return nil
	}
	return new(image.OwnBytes(entries, func(e image.ImageEntry) bool {
		return slices.ContainsFunc(e.Mirrors, func(m string) bool { return filepath.Dir(m) == filepath.Clean(mirrors) }) ||
			slices.ContainsFunc(used, func(t view.TaskImage) bool { return e.IsNamed(t.Image) })
	}))
}

// ShortImageID is the start of an image's id, by which docker takes it, too.
func ShortImageID(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return id[:min(12, len(id))]
}

// PruneImages removes the images that no task needs any more: those of the office with these
// mirrors, or with all those of the whole machine. With dryRun it only lists them.
func (d Daemon) PruneImages(ctx context.Context, used []view.TaskImage, mirrors string, all, dryRun bool) (upkeep.Report, error) {
	report := upkeep.NewReport(dryRun)
	b, err := image.New(image.Config{Logger: d.Logger, Daemon: d.Host})
	if err != nil {
		return report, err
	}
	defer b.Close()
	found, err := upkeep.ListPrunable(ctx, used, b, mirrors, all)
	if err != nil {
		return report, err
	}
	// The daemon keeps a layer while an image above it is there. What a container uses stays.
	failed := report.Remove(ctx, found, false)
	return report, errors.Join(failed...)
}

// TaskImage is the image that a task of a checkout would be asked for now, outside
// of a working company.
type TaskImage struct {
	builder *image.Builder
	request image.Request
	runtime container.Runtime
	mirror  *gitops.Mirror
	closers []func()
}

// TaskImageOptions say which image it is.
type TaskImageOptions struct {
	Paths    office.Paths
	Config   config.Config
	Checkout string
	Base     string // branch to start from; empty: the config's, else the checkout's
	Env      func(string) (string, bool)
	Logger   *slog.Logger
	Progress func(line string)
}

// OpenTaskImage finds out which image that is.
func OpenTaskImage(ctx context.Context, o TaskImageOptions) (_ *TaskImage, err error) {
	t := &TaskImage{}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	if err := t.openBuilder(ctx, o); err != nil {
		return nil, err
	}
	c := o.Config
	cfg, err := GitConfig(o.Paths, c, o.Env)
	if err != nil {
		return nil, err
	}
	cfg.Guest = true // a company may be at work
	store, err := gitops.Open(cfg)
	if err != nil {
		return nil, err
	}
	p := ProjectOf(o.Checkout)
	m, err := store.Mirror(ctx, p.ID, p.Path)
	if err != nil {
		return nil, err
	}
	secrets, err := SetupEnv(c, o.Env)
	if err != nil {
		return nil, err
	}
	base := o.Base
	if base == "" && c.Git.Base != config.Auto {
		base = c.Git.Base
	}
	settings := intakeProject(c, secrets)
	trust := config.OpenTrust(o.Env)
	settings.Logins, settings.Trust = trust.MayUseLogins(ctx, p.Path), trust.ForCheckout(p.Path)
	t.mirror = m
	t.request, err = settings.RequestImage(ctx, m, p.Path, base)
	return t, err
}

func (t *TaskImage) openBuilder(ctx context.Context, o TaskImageOptions) error {
	registries, err := OpenRegistries(ctx, o.Config, o.Env, o.Logger)
	if err != nil {
		return err
	}
	t.closers = append(t.closers, registries.Close)
	daemon := DaemonOf(o.Config, o.Env, o.Logger)
	rt, err := daemon.OpenRuntime(ctx)
	if err != nil {
		return err
	}
	t.runtime = rt
	t.closers = append(t.closers, func() { _ = rt.Close() }) // what a build started it has removed
	t.builder, err = image.New(image.Config{Logger: o.Logger, Daemon: daemon.Host, Runtime: rt, Registries: registries.Public(), WithLogins: registries.WithLogins(), MaxMemory: maxBuildMemory(o.Config), Progress: o.Progress})
	if err != nil {
		return err
	}
	t.closers = append(t.closers, t.builder.Close)
	return nil
}

// Close closes the parts that were opened for it.
func (t *TaskImage) Close() {
	for _, end := range slices.Backward(t.closers) {
		end()
	}
}

// Build makes the missing layers of the image.
func (t *TaskImage) Build(ctx context.Context) (image.Image, error) {
	return t.builder.Ensure(ctx, t.request)
}

// Explain tells what the image is made from.
func (t *TaskImage) Explain(ctx context.Context) (image.Explanation, error) {
	return t.builder.Explain(ctx, t.request)
}
