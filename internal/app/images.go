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
	"company/internal/container"
	"company/internal/container/image"
	"company/internal/gitops"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/present/view"
	"company/internal/upkeep"
)

// ImageEntry describes an image of company on this machine.
type ImageEntry struct {
	Tag   string           `json:"tag"`
	ID    string           `json:"id"`
	Kind  string           `json:"kind"` // kind of the top layer
	Top   bool             `json:"worker"`
	Bytes int64            `json:"bytes"` // including shared layers
	Tasks []company.TaskID `json:"tasks"` // tasks of this office that use or used it
}

// ListImages lists the images of company on this machine, largest first.
func (d Daemon) ListImages(ctx context.Context, used []view.TaskImage) ([]ImageEntry, error) {
	builder, err := image.New(image.Config{Logger: d.Logger, Daemon: d.Host})
	if err != nil {
		return nil, err
	}
	defer builder.Close()
	entries, err := builder.List(ctx)
	if err != nil {
		return nil, err
	}
	out := []ImageEntry{}
	for _, imageEntry := range entries {
		v := ImageEntry{Tag: imageEntry.Tag, ID: imageEntry.ID, Kind: imageEntry.Kind, Top: imageEntry.IsWorkerImage,
			Bytes: imageEntry.Size, Tasks: []company.TaskID{}}
		for _, taskImage := range used {
			if imageEntry.IsNamed(taskImage.Image) {
				v.Tasks = append(v.Tasks, taskImage.Task)
			}
		}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b ImageEntry) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Tag, b.Tag))
	})
	return out, nil
}

// MeasureImages returns the bytes that an office's worker images use in the daemon's store: the
// images of its tasks, and those with the history of its mirrors. Layers shared with other
// projects do not count. It returns nil on an error, or if it takes longer than patience.
func (d Daemon) MeasureImages(
	ctx context.Context, mirrors string, patience time.Duration, findUsed func(context.Context) ([]view.TaskImage, error),
) *int64 {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	used, err := findUsed(ctx)
	if err != nil {
		return nil
	}
	builder, err := image.New(image.Config{Logger: d.Logger, Daemon: d.Host})
	if err != nil {
		return nil
	}
	defer builder.Close()
	entries, err := builder.List(ctx)
	if err != nil {
		return nil
	}
	return new(image.OwnBytes(entries, func(imageEntry image.ImageEntry) bool {
		return slices.ContainsFunc(imageEntry.Mirrors,
			func(m string) bool { return filepath.Dir(m) == filepath.Clean(mirrors) }) ||
			slices.ContainsFunc(used, func(t view.TaskImage) bool { return imageEntry.IsNamed(t.Image) })
	}))
}

// ShortImageID returns the start of an image's id, which docker accepts, too.
func ShortImageID(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return id[:min(12, len(id))]
}

// PruneImages removes the images that no task needs: those of the office with these mirrors, or
// with all those of the whole machine. With dryRun it only lists them.
func (d Daemon) PruneImages(
	ctx context.Context, used []view.TaskImage, mirrors string, all, dryRun bool,
) (upkeep.Report, error) {
	report := upkeep.NewReport(dryRun)
	builder, err := image.New(image.Config{Logger: d.Logger, Daemon: d.Host})
	if err != nil {
		return report, err
	}
	defer builder.Close()
	found, err := upkeep.ListPrunable(ctx, used, builder, mirrors, all)
	if err != nil {
		return report, err
	}
	// The daemon keeps a layer while an image above it exists. Images used by containers stay.
	failed := report.Remove(ctx, found, false)
	return report, errors.Join(failed...)
}

// TaskImage is the image that a task of a checkout would use now. It works without a running
// company.
type TaskImage struct {
	builder *image.Builder
	request image.Request
	runtime container.Runtime
	mirror  *gitops.Mirror
	closers []func()
}

// TaskImageOptions selects the image.
type TaskImageOptions struct {
	Paths    office.Paths
	Config   config.Config
	Checkout string
	Base     string // branch to start from (empty means the config's, else the checkout's)
	Env      func(string) (string, bool)
	Logger   *slog.Logger
	Progress func(line string)
}

// OpenTaskImage determines the image. The caller closes it.
func OpenTaskImage(ctx context.Context, imageOptions TaskImageOptions) (_ *TaskImage, err error) {
	taskImage := &TaskImage{}
	defer func() {
		if err != nil {
			taskImage.Close()
		}
	}()
	if err := taskImage.openBuilder(ctx, imageOptions); err != nil {
		return nil, err
	}
	c := imageOptions.Config
	cfg, err := GitConfig(imageOptions.Paths, c, imageOptions.Env)
	if err != nil {
		return nil, err
	}
	cfg.Guest = true // a company may be running
	store, err := gitops.Open(cfg)
	if err != nil {
		return nil, err
	}
	project := ProjectOf(imageOptions.Checkout)
	mirror, err := store.Mirror(ctx, project.ID, project.Path)
	if err != nil {
		return nil, err
	}
	secrets, err := SetupEnv(c, imageOptions.Env)
	if err != nil {
		return nil, err
	}
	base := imageOptions.Base
	if base == "" && c.Git.Base != config.Auto {
		base = c.Git.Base
	}
	settings := intakeProject(c, secrets)
	trust := config.OpenTrust(imageOptions.Env)
	settings.Logins, settings.Trust = trust.MayUseLogins(ctx, project.Path), trust.ForCheckout(project.Path)
	taskImage.mirror = mirror
	taskImage.request, err = settings.RequestImage(ctx, mirror, project.Path, base)
	return taskImage, err
}

func (t *TaskImage) openBuilder(ctx context.Context, imageOptions TaskImageOptions) error {
	registries, err := OpenRegistries(ctx, imageOptions.Config, imageOptions.Env, imageOptions.Logger)
	if err != nil {
		return err
	}
	t.closers = append(t.closers, registries.Close)
	daemon := DaemonOf(imageOptions.Config, imageOptions.Env, imageOptions.Logger)
	rt, err := daemon.OpenRuntime(ctx)
	if err != nil {
		return err
	}
	t.runtime = rt
	t.closers = append(t.closers, func() { _ = rt.Close() }) // a build has removed the containers that it started
	t.builder,
		err = image.New(
		image.Config{Logger: imageOptions.Logger, Daemon: daemon.Host, Runtime: rt, Registries: registries.Public(),
			WithLogins: registries.WithLogins(), MaxMemory: maxBuildMemory(imageOptions.Config),
			Progress: imageOptions.Progress})
	if err != nil {
		return err
	}
	t.closers = append(t.closers, t.builder.Close)
	return nil
}

// Close closes the parts opened by OpenTaskImage.
func (t *TaskImage) Close() {
	for _, end := range slices.Backward(t.closers) {
		end()
	}
}

// Build builds the missing layers of the image.
func (t *TaskImage) Build(ctx context.Context) (image.Image, error) {
	return t.builder.Ensure(ctx, t.request)
}

// Explain describes the parts of the image.
func (t *TaskImage) Explain(ctx context.Context) (image.Explanation, error) {
	return t.builder.Explain(ctx, t.request)
}
