package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/container/image"
	"company/internal/ecosystem/depproxy"
	"company/internal/gitops/gitexec"
)

// depsGroup names all benches of packages together.
const depsGroup = "deps"

// depsBenches are the benches of packages, one for each client.
func depsBenches() []bench {
	var out []bench
	for _, c := range packageClients {
		out = append(
			out, bench{name: depsGroup + "-" + c.name, asked: true, deps: true,
				run: func(ctx context.Context, w *benchEnv) ([]Line, error) { return benchDeps(ctx, w, c) }})
	}
	return out
}

// installation is one way in which a client installs what a lock file names, and the
// layers that hold the same in an image.
type installation struct {
	what   string   // for people: npm ci
	layers []string // their kinds
	steps  [][]string
}

// depsBench is one measurement of packages: a project with its lock file, a client
// of this host, and the image that has the same.
type depsBench struct {
	w       *benchEnv
	client  packageClient
	home    string            // of the client: its caches and programs
	tree    map[string][]byte // the project with its lock file
	repo    string            // bare, with the tree and a commit after it
	commits []company.OID
	ups     depproxy.Upstreams
	index   string // of a registry that the bench serves

	below []image.Layer // made for every project of the client
	built []image.Layer // made for one sample
	times map[string]time.Duration
	done  map[string][]time.Duration // samples by what they are of

	removed time.Time // when a layer, or a tree of the client, was removed last
}

// benchDeps measures the layer of packages of one client against a cold install by
// the client itself, and what a second task on the same lock file waits for.
func benchDeps(ctx context.Context, w *benchEnv, c packageClient) (lines []Line, err error) {
	if err := w.openDocker(ctx); err != nil {
		return nil, err
	}
	d := &depsBench{w: w, client: c, home: filepath.Join(w.dir, c.name), done: map[string][]time.Duration{}}
	if err := os.MkdirAll(d.home, 0o700); err != nil {
		return nil, err
	}
	defer func() {
		d.built = append(d.built, d.below...)
		err = errors.Join(err, d.dropBuilt(context.WithoutCancel(ctx)))
	}()
	stop, err := d.openRegistry(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := d.makeProject(ctx); err != nil {
		return nil, err
	}
	if err := d.prepareBelow(ctx); err != nil {
		return nil, err
	}
	if _, err := takeSamples(ctx, w.sampleCount(3, 1), timeFunc(func() error { return d.sampleClient(ctx) }),
		timeFunc(func() error { return d.sampleImage(ctx) })); err != nil {
		return nil, err
	}
	return d.reportLines(), nil
}

// openRegistry finds the registry of the client's packages: the operator's own, or one
// that is made here.
func (d *depsBench) openRegistry(ctx context.Context) (stop func(), err error) {
	if d.client.serve != nil {
		d.ups, stop, err = d.client.serve(d)
		return stop, err
	}
	if d.ups, err = depproxy.LoadClientSettings(ctx); err != nil {
		return nil, err
	}
	if !d.ups.Serves(d.client.registry) {
		return nil, company.E(company.EConfig, "this host has no "+d.client.registry+" registry").
			Because(strings.Join(d.ups.Notes, "; "))
	}
	return func() {}, nil
}

// makeProject has the client make the lock file, and commits the project.
func (d *depsBench) makeProject(ctx context.Context) error {
	files := d.client.files
	if d.w.Quick {
		files = d.client.quickFiles
	}
	dir, err := d.layOut("project", files)
	if err != nil {
		return err
	}
	if err := d.client.prepare(ctx, d); err != nil {
		return err
	}
	cache := filepath.Join(d.home, "cache-lock")
	if err := d.runSteps(ctx, dir, cache, d.client.lock); err != nil {
		return err
	}
	d.tree = maps.Clone(files)
	for _, name := range d.client.lockFiles {
		if d.tree[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(cache)); err != nil {
		return err
	}
	d.repo, d.commits, err = makeBareRepo(
		ctx, filepath.Join(d.home, "repo.git"), d.tree, map[string][]byte{"README": []byte("The next commit.\n")})
	return err
}

// layOut writes files into a folder of their own.
func (d *depsBench) layOut(name string, files map[string][]byte) (dir string, err error) {
	dir = filepath.Join(d.home, name)
	for file, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, text, 0o600)); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// makeBareRepo makes a repository with a commit for each of the given trees, each on
// top of the files before it.
func makeBareRepo(
	ctx context.Context, dir string, trees ...map[string][]byte,
) (_ string, commits []company.OID, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	if _, err := runGit(ctx, dir, nil, "init", "-q", "--bare", "-b", "main"); err != nil {
		return "", nil, err
	}
	var b bytes.Buffer
	for n, files := range trees {
		fmt.Fprintf(&b, "commit refs/heads/main\ncommitter Ann <ann@example.org> %d +0000\ndata 2\nc\n", 1_700_000_000+n)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", name, len(files[name]), files[name])
		}
	}
	for _, c := range []gitexec.Command{{Args: []string{"fast-import", "--quiet"}, Stdin: &b},
		{Args: []string{"rev-list", "--reverse", "main"}}} {
		c.GitDir = dir
		out, err := c.Output(ctx)
		if err != nil {
			return "", nil, company.E(company.EGit, "a repository to measure with cannot be made").Wrap(err)
		}
		for id := range strings.FieldsSeq(string(out)) { // of rev-list: the other is quiet
			commits = append(commits, company.OID(id))
		}
	}
	return dir, commits, nil
}

// prepareBelow makes the layers that the packages lie on. Those of the client itself
// are there for every project: a project without packages has them made.
func (d *depsBench) prepareBelow(ctx context.Context) error {
	repo, commits, err := makeBareRepo(ctx, filepath.Join(d.home, "empty.git"), d.client.emptyFiles)
	if err != nil {
		return err
	}
	builder, stop, err := d.openBuilder(filepath.Join(d.home, "mirror-below"))
	if err != nil {
		return err
	}
	defer stop()
	_, err = d.ensureImage(ctx, builder, repo, commits[0])
	d.below, d.built = d.built, nil
	return err
}

// openBuilder opens a builder, as an office has one for its life, with a mirror.
func (d *depsBench) openBuilder(mirror string) (_ *image.Builder, stop func(), err error) {
	store, err := depproxy.Open(mirror, d.ups)
	if err != nil {
		return nil, nil, err
	}
	builder, err := image.New(image.Config{
		Logger: d.w.Logger, Runtime: d.w.rt, Registries: store, Progress: d.w.Progress,
		OnBuilt: func(l image.Layer, took time.Duration) {
			d.times[l.Kind] = took
			d.built = append(d.built, l)
		},
	})
	if err != nil {
		store.Close()
		return nil, nil, err
	}
	return builder, func() {
		builder.Close()
		store.Close()
	}, nil
}

// ensureImage has a builder make an image, and notes its layers.
func (d *depsBench) ensureImage(
	ctx context.Context, builder *image.Builder, repo string, commit company.OID,
) (time.Duration, error) {
	d.times = map[string]time.Duration{}
	began := time.Now()
	img, err := builder.Ensure(ctx,
		image.Request{Toolchains: d.client.toolchains, Repo: &image.Repo{MirrorDir: repo, Commit: commit}})
	took := time.Since(began)
	if err == nil && len(img.Notes) > 0 {
		err = company.E(company.EImage, "the image to measure with lacks something").Because(strings.Join(img.Notes, "; "))
	}
	return took, err
}

// dropBuilt removes the layers that were made for the bench, and fails where one is
// left. Toolchains stay: every project uses them, and they take long.
func (d *depsBench) dropBuilt(ctx context.Context) error {
	built := d.built
	d.built = nil
	mine := func(e image.ImageEntry) bool {
		if len(e.Layers) == 0 {
			return false
		}
		top := e.Layers[len(e.Layers)-1]
		return slices.Contains(built, top) && !slices.Contains(keptLayers, top.Kind)
	}
	if _, err := d.w.images.Prune(ctx, mine); err != nil {
		return err
	}
	if len(built) > 0 {
		d.removed = time.Now()
	}
	images, err := d.w.images.List(ctx)
	if i := slices.IndexFunc(images, mine); err == nil && i >= 0 {
		err = company.E(company.EDocker, "the bench left the image "+images[i].Tag).Fix("docker rmi " + images[i].Tag)
	}
	return err
}

// inodeRest is for how long ext4 gives out no inode that was removed. It looks through all
// of those for each file that it makes, so that a layer of some thousand files takes
// seconds longer where as many were removed before: by the bench, and by no user. Both
// sides wait for it.
const inodeRest = 61 * time.Second

// waitForInodes waits until files that the bench has removed slow down none that it makes
// next. The stage with full caches has no target, and does not wait.
func (d *depsBench) waitForInodes(ctx context.Context, stage string) error {
	if d.w.Quick || d.removed.IsZero() || stage == "full" {
		return nil
	}
	syscall.Sync() // a part that is not written yet rests for five minutes
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(d.removed.Add(inodeRest))):
		return nil
	}
}

// keptLayers hold nothing of a project and nothing that was fetched for the bench.
var keptLayers = []string{"base", "debian", "node", "go", "gostd", "rust"}

// note keeps a sample.
func (d *depsBench) note(what string, took time.Duration) {
	d.done[what] = append(d.done[what], took)
}

// stages are the states of caches in which both sides install.
func (d *depsBench) stages() []string {
	if d.client.mirrored {
		return []string{"empty", "full"}
	}
	return []string{"empty"}
}

// sampleClient has the client install the packages in a fresh tree, with an empty
// cache and then with the full one.
func (d *depsBench) sampleClient(ctx context.Context) error {
	cache := filepath.Join(d.home, "cache")
	if d.client.seed != nil {
		if err := d.client.seed(ctx, d, cache); err != nil {
			return err
		}
	}
	for _, stage := range d.stages() {
		if err := d.waitForInodes(ctx, stage); err != nil {
			return err
		}
		dir, err := d.layOut("tree", d.tree)
		if err != nil {
			return err
		}
		total := time.Duration(0)
		for _, in := range d.client.installs {
			began := time.Now()
			if err := d.runSteps(ctx, dir, cache, in.steps); err != nil {
				return err
			}
			total += time.Since(began)
			d.note("client "+stage+" "+in.what, total)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		d.removed = time.Now()
	}
	err := os.RemoveAll(cache)
	d.removed = time.Now()
	return err
}

// sampleImage makes the image with an empty mirror and with a full one, then for a
// second task on the same commit, and for one on the next.
func (d *depsBench) sampleImage(ctx context.Context) error {
	mirror := filepath.Join(d.home, "mirror")
	for _, stage := range d.stages() {
		if err := d.sampleLayers(ctx, mirror, stage); err != nil {
			return err
		}
	}
	return os.RemoveAll(mirror)
}

func (d *depsBench) sampleLayers(ctx context.Context, mirror, stage string) error {
	if err := d.waitForInodes(ctx, stage); err != nil {
		return err
	}
	builder, stop, err := d.openBuilder(mirror)
	if err != nil {
		return err
	}
	defer stop()
	took, err := d.ensureImage(ctx, builder, d.repo, d.commits[0])
	if err != nil {
		return err
	}
	d.note("image "+stage, took)
	total := time.Duration(0)
	for _, in := range d.client.installs {
		for _, l := range in.layers {
			if d.times[l] == 0 {
				return company.E(company.EInternal, "the layer "+l+" was not made")
			}
			total += d.times[l]
		}
		d.note("layers "+stage+" "+in.what, total)
	}
	if stage == "empty" {
		for i, what := range []string{"same commit", "next commit"} {
			took, err := d.ensureImage(ctx, builder, d.repo, d.commits[i])
			if err != nil {
				return err
			}
			d.note(what, took)
		}
	}
	return d.dropBuilt(ctx)
}

// samples are those of one kind, less the first, which is thrown away.
func (d *depsBench) samples(what string) []time.Duration { return d.done[what][1:] }

const (
	mostOfInstall = 1.3    // times the client's own
	mostOfSecond  = 1000.0 // ms
)

// reportLines makes the numbers of the samples.
func (d *depsBench) reportLines() (lines []Line) {
	deps, _ := depproxy.ParseLocks(d.tree)
	for i, in := range d.client.installs {
		what := fmt.Sprintf("layer %s of %d packages", strings.Join(in.layers, ", "), len(deps))
		if i > 0 {
			what = "that, and layer " + strings.Join(in.layers, ", ")
		}
		empty := compareLine(what, in.what, d.samples("layers empty "+in.what), d.samples("client empty "+in.what))
		empty.Note = d.client.told
		lines = append(lines, empty.withTarget("≤ 1.3", empty.Ratio <= mostOfInstall))
		if d.client.mirrored {
			lines = append(
				lines, compareLine("the same with full caches", in.what, d.samples("layers full "+in.what),
					d.samples("client full "+in.what)))
		}
	}
	last := d.client.installs[len(d.client.installs)-1]
	lines = append(
		lines, compareLine("whole image of the first task", last.what, d.samples("image empty"),
			d.samples("client empty "+last.what)))
	for _, what := range []string{"same commit", "next commit"} {
		l := Line{What: "image of a second task, " + what, Unit: "ms", Ours: medianMillis(d.samples(what)),
			Samples: len(d.samples(what))}
		lines = append(lines, l.withTarget("≤ 1 s", l.Ours <= mostOfSecond))
	}
	return lines
}
