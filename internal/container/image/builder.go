package image

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/dockerapi"
	"company/internal/container/dockerfile"
	"company/internal/container/image/toolboxbin"
	"company/internal/container/service"
	"company/internal/ecosystem/depproxy"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/secret"
	"company/internal/toolbox/toolproto"
)

// RepoPath is the bare repository with the history of the base commit. A worker clones from it with
// --shared and fetches only newer objects.
const RepoPath = "/opt/repo.git"

// defaultTimeout limits one whole Ensure, including a first build.
const defaultTimeout = 30 * time.Minute

// Config configures a Builder. The zero value works.
type Config struct {
	Logger *slog.Logger
	Daemon string // container.docker_host; empty means the address that Docker's own client uses
	// rootfs tars, locks, temporary files; default $XDG_CACHE_HOME/company, else ~/.cache/company
	CacheDir string
	// receives a line of text per step that takes time; may be called from any goroutine
	Progress func(line string)
	Toolbox  func(arch string) ([]byte, error) // returns the toolbox for an architecture; default toolboxbin.Binary
	// called for each built layer with the build time; may be called from any goroutine
	OnBuilt func(Layer, time.Duration)
	Timeout time.Duration // limit of one Ensure, default 30 min; longer for a large tree
	// MaxMemory limits how much memory a build container may get, in bytes, if its work runs out of
	// memory. Zero means that build containers get no extra memory.
	MaxMemory int64
	// Runtime runs the containers in which layers are built. With a nil Runtime, layers that need a
	// container cannot be built.
	Runtime container.Runtime
	// Registries serves the clients that install dependencies in build containers, and apt in set-up
	// commands. If it is nil, no dependencies are installed, and a note says so. A client that runs on
	// this host may use the operator's own registries.
	Registries *depproxy.Store
	// WithLogins is Registries with the operator's logins, for requests that may use them. If it is
	// nil, logins are not used.
	WithLogins *depproxy.Store
}

// Request describes the content of an image.
type Request struct {
	Base       string   // "" or "auto" builds from Debian packages; name@sha256:… is pulled
	Toolchains []string // names of the ecosystems and their additions; empty for a plain shell
	Spare      []string // toolchains that no check needs: their packages may be missing
	Unneeded   []string // toolchains whose packages are not installed
	// Checks are the commands that check the project. The code that they use is compiled ahead.
	// Without Checks all code is.
	Checks []company.GateCommand
	Setup  []string // shell commands, run as root in one layer; apt is the only network access
	// SetupEnv holds variables that the set-up commands get and that the image must not contain. The
	// key of the image covers their names, but not their values.
	SetupEnv map[string]secret.Value
	Repo     *Repo // nil if there is no project
	// Dockerfile describes the image in Repo (container.dockerfile) and replaces Base. It is nil if
	// Repo does not describe the image. The caller must ensure that the Dockerfile may be executed.
	Dockerfile *dockerfile.Source
	Offline    bool // fetch no dependencies from registries (container.deps: off)
	// Without lists kinds of registries from which no packages are fetched (deps.without).
	Without []string
	// Packages lists Debian packages that earlier checks were missing.
	Packages []string
	// Services are servers that run in the image's containers beside the commands.
	Services []service.Wish
	// Scripts lists the packages whose install scripts may run (deps.scripts).
	Scripts []string
	// Programs are programs of others that work as agents in the image's containers.
	Programs []Program
	// UseLogins allows fetching the dependencies of Repo with the operator's registry logins. It also
	// allows dependencies that the operator calls private.
	UseLogins bool
}

// Repo is the git history that goes into an image.
type Repo struct {
	MirrorDir string      // absolute path of a bare repository on this host
	Commit    company.OID // the base commit; only objects reachable from it go into the image
	Ref       string      // name of the branch in the image that points to Commit, default "base"
	Locks     company.OID // commit or tree whose lock files list the dependencies; "" means Commit
	// Policy decides which dependencies may be fetched for Locks, whatever its lock
	// files list. A nil Policy allows those that they list.
	Policy *depproxy.Policy
}

// Image is an existing image.
type Image struct {
	ID     string       // sha256:…, used to create containers
	Tag    string       // company/worker:<key>, for people
	Key    company.Hash // covers the whole content
	Layers []Layer      // from the bottom up
	Notes  []string     // messages for people: requests of the project that the image does not meet
}

// Layer is one part of an image.
type Layer struct {
	Kind string // base, debian, ready, setup, agents, toolbox, repo, or a name from an ecosystem
	Key  company.Hash
}

// Builder builds images. It is safe for concurrent use.
type Builder struct {
	docker   *dockerapi.Client
	runtime  container.Runtime
	log      *slog.Logger
	dir      string
	progress func(string)
	timeout  time.Duration
	onBuilt  func(Layer, time.Duration)

	registries, withLogins *depproxy.Store

	memory *container.MemoryBook // lends the memory for files of a build that are kept in memory

	forceCommit bool // never load partial archives; tests set it to test the commit

	toolboxFor  func(string) ([]byte, error)
	toolboxOnce sync.Once
	toolbox     []byte
	toolboxHash company.Hash
	toolboxErr  error

	sweepOnce sync.Once

	trees map[string]*hostLookup // trees of this host, by the name of the toolchain

	checkpointEvery time.Duration // interval, for layers that can resume after an interruption

	stepTimeout time.Duration    // limit of one command of a build, for a project of normal size
	sizes       *container.Sizes // sizes of build containers, by the mirror of a project
	learnedMu   sync.Mutex
	learned     map[string]bool // mirrors for which the size of a tree is known

	resolved  string // folder of generated lock files
	refusedMu sync.Mutex
	refused   map[string]refusal // versions that could not be fetched, by the folder of their tree
}

// New returns a Builder and creates its cache directory. It does not contact the daemon.
func New(cfg Config) (*Builder, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Progress == nil {
		cfg.Progress = func(string) {}
	}
	if cfg.OnBuilt == nil {
		cfg.OnBuilt = func(Layer, time.Duration) {}
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Toolbox == nil {
		cfg.Toolbox = toolboxbin.Binary
	}
	dir, err := CacheDir(cfg.CacheDir)
	if err != nil {
		return nil, err
	}
	docker, err := dockerapi.Open(dockerapi.Options{Use: dockerapi.Images, Host: cfg.Daemon, Log: cfg.Logger})
	if err != nil {
		return nil, err
	}
	trees := map[string]*hostLookup{}
	for _, t := range toolchains() {
		trees[t.Name] = &hostLookup{}
	}
	return &Builder{docker: docker, trees: trees, refused: map[string]refusal{}, runtime: cfg.Runtime,
		memory: container.HostMemory, log: cfg.Logger, dir: dir, progress: cfg.Progress,
		sizes:   container.NewSizes(container.Limits{MemoryBytes: container.BuildMemory}, cfg.MaxMemory),
		learned: map[string]bool{}, stepTimeout: toolproto.MaxCommandTimeout, checkpointEvery: checkpointEvery,
		resolved: filepath.Join(dir, "resolved"),
		timeout:  cfg.Timeout, onBuilt: cfg.OnBuilt, toolboxFor: cfg.Toolbox, registries: cfg.Registries,
		withLogins: cfg.WithLogins}, nil
}

// Close closes the connections to the daemon.
func (b *Builder) Close() { _ = b.docker.Close() }

// Ensure returns the image for a request and builds its missing layers. Repeating a request costs one
// call to the daemon. Errors are E_IMAGE (the image cannot be built), E_DOCKER, E_INVALID (the request
// is malformed), E_TIMEOUT, or the context's own error.
func (b *Builder) Ensure(ctx context.Context, req Request) (Image, error) {
	if err := req.validateRequest(); err != nil {
		return Image{}, err
	}
	ctx, cancel := b.withTimeout(ctx, req)
	defer cancel()
	base, err := b.findBase(ctx, req)
	if err == nil {
		err = b.resolveFrom(ctx, &base)
	}
	if err != nil {
		return Image{}, err
	}
	for {
		img, err := b.ensureFrom(ctx, req, base)
		b.forgetResolved(ctx, req, err)
		if err == nil || !base.pulled || base.described != nil || !isUnreachable(err) {
			return img, err
		}
		b.reportProgress("no registry answers for %s; using a base built from Debian packages instead", req.Base)
		b.log.WarnContext(ctx, "base image fell back to a build", "base", req.Base, "err", err)
		base = newBuiltBase()
	}
}

// findBase decides how the lowest layers of a request are made. It does not contact the daemon.
func (b *Builder) findBase(ctx context.Context, req Request) (baseSource, error) {
	switch {
	case req.Dockerfile != nil:
		return b.describeBase(ctx, req)
	case req.Base != "" && req.Base != "auto":
		return newPulledBase(req.Base), nil
	}
	return newBuiltBase(), nil
}

// ensureFrom returns the image for a given base. It plans again whenever a toolchain version turns out
// to be unavailable.
func (b *Builder) ensureFrom(ctx context.Context, req Request, base baseSource) (Image, error) {
	for {
		img, err := b.ensurePlanned(ctx, req, base)
		if err == nil || !errors.Is(err, errNoVersion) {
			return img, err
		}
		// The version is refused from now on, so the next plan omits it.
	}
}

// ensurePlanned plans the layers, builds the missing ones and returns the image.
func (b *Builder) ensurePlanned(ctx context.Context, req Request, base baseSource) (Image, error) {
	steps, notes, err := b.planLayers(ctx, req, base)
	if err != nil {
		return Image{}, err
	}
	last := steps[len(steps)-1]
	mirror := ""
	if req.Repo != nil {
		mirror = req.Repo.MirrorDir
	}
	if image, err := b.findImage(ctx, last); err != nil {
		return Image{}, err
	} else if image != nil {
		b.markUse(ctx, last.key, mirror)
		return image.toImage(last, notes), nil
	}
	if f := b.checkDaemon(ctx); f != nil {
		return Image{}, f
	}
	b.sweepKilled(ctx)
	unlock, err := b.lockFile(ctx, buildsLock, syscall.LOCK_SH, "waiting for the removal of old images")
	if err != nil {
		return Image{}, err
	}
	defer unlock()
	top, err := b.ensureSteps(ctx, steps)
	if err != nil {
		return Image{}, err
	}
	for _, layerStep := range steps {
		if layerStep.kind == toolboxLayer {
			b.markUse(ctx, layerStep.key, toolboxLayer)
		}
	}
	if mirror != "" {
		b.markUse(ctx, last.key, mirror)
	}
	return top.toImage(last, notes), nil
}

// planLayers lists the layers of a request, from the bottom up, without contacting the daemon. The key
// of the last layer covers the whole request. The notes are messages for people.
func (b *Builder) planLayers(ctx context.Context, req Request, base baseSource) ([]layerStep, []string, error) {
	tools, err := b.toolsFor(ctx, req, base)
	if err != nil {
		return nil, nil, err
	}
	layerPlan, err := b.newPlan(req, base)
	if err != nil {
		return nil, nil, err
	}
	layerPlan.notes = append(layerPlan.notes, tools.notes...)
	if err := layerPlan.addWishedPackages(ctx, req, base, &tools); err != nil {
		return nil, nil, err
	}
	layerPlan.addTools(req, tools)
	if req.Repo != nil {
		if err := layerPlan.addDeps(ctx, req, tools); err != nil {
			return nil, nil, err
		}
	}
	if tools.links {
		layerPlan.appendTarStep("ready", "the script that links dependencies into a tree", fillLinkDeps,
			buildLinkDepsScript())
	}
	if !base.pulled {
		layerPlan.addNeededPackages(req, tools)
	}
	if len(req.Setup) > 0 {
		names := slices.Sorted(maps.Keys(req.SetupEnv))
		reason := fmt.Sprintf("%d set-up commands", len(req.Setup))
		for _, n := range names {
			if reason += ", with $" + n; len(searchForms(req.SetupEnv[n])) == 0 {
				layerPlan.addNote("the value of %s is too short to be searched for in the image (under %d bytes)", n,
					minSecretBytes)
			}
		}
		link, err := layerPlan.linkApt(req, base, "set-up commands reach")
		if err != nil {
			return nil, nil, err
		}
		inputs := req.Setup
		if len(names) > 0 {
			inputs = append(append(slices.Clone(inputs), "with"), names...)
		}
		if link.access != nil { // apt changes which commands succeed, so the key covers it, but not the mirror's address
			reason += ", with apt"
			inputs = append(append(slices.Clone(inputs), "\x00apt"), b.projectKey(req)...)
		}
		layerPlan.appendStep("setup", reason, b.runSetup(req, link), inputs...)
	}
	if err := layerPlan.addServices(req); err != nil {
		return nil, nil, err
	}
	if err := layerPlan.addPrograms(req); err != nil {
		return nil, nil, err
	}
	bin, hash, err := b.toolboxBinary()
	if err != nil {
		return nil, nil, err
	}
	toolbox := []string{string(hash)}
	if base.pulled { // a pulled base has no layer of packages that could change the environment
		toolbox = append(toolbox, tools.changeInputs()...)
	}
	top := layerPlan.appendTarStep(toolboxLayer, "the toolbox "+string(hash[:12]), fillToolbox(bin), toolbox...)
	top.toolbox = hash
	if base.pulled {
		top.env = tools.changeEnv()
	}
	if req.Repo != nil {
		layerPlan.appendTarStep("repo", "the history of commit "+string(req.Repo.Commit[:12]), b.fillRepo(*req.Repo),
			string(req.Repo.Commit), req.Repo.branchName())
	}
	layerPlan.topStep().repository = workerRepository
	return layerPlan.steps, layerPlan.notes, nil
}

// reportProgress reports a step that takes time.
func (b *Builder) reportProgress(format string, args ...any) {
	b.progress(fmt.Sprintf(format, args...))
}

var (
	pinnedRE = lazyregexp.New(`^[a-z0-9][a-zA-Z0-9._/:-]{0,254}@sha256:[0-9a-f]{64}$`)
	envRE    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
	branchRE = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._/+-]{0,199}$`)
)

// validateRequest returns EInvalid for a malformed request.
func (r Request) validateRequest() error {
	if r.Base != "" && r.Base != "auto" && !pinnedRE.MatchString(r.Base) {
		return company.E(company.EInvalid, fmt.Sprintf("the image %q is not pinned by a digest", r.Base)).
			Because("a tag can move to another image").Fix("write container.image as name@sha256:<64 hex digits>, or auto")
	}
	if r.Dockerfile != nil && (r.Repo == nil || r.Base != "" && r.Base != "auto") {
		return company.E(company.EInvalid, "an image needs exactly one base, and a Dockerfile needs a repository").
			Fix("set container.image or container.dockerfile, not both")
	}
	if err := checkToolchains(r.Toolchains); err != nil {
		return err
	}
	for _, s := range r.Setup {
		if strings.TrimSpace(s) == "" || strings.ContainsRune(s, 0) {
			return company.E(company.EInvalid, "a set-up command is empty or has a NUL byte").Fix("check container.setup")
		}
	}
	for name, v := range r.SetupEnv {
		if !envRE.MatchString(name) || strings.ContainsRune(v.Reveal(), 0) {
			return company.E(company.EInvalid, "a variable of the set-up has an invalid name, or a NUL byte in its value").
				Fix("check container.setup_env")
		}
	}
	if r.Repo == nil {
		return nil
	}
	if !filepath.IsAbs(r.Repo.MirrorDir) || !r.Repo.Commit.Valid() || !r.Repo.locksCommit().Valid() {
		return company.E(company.EInvalid, "the repository of an image must have an absolute path and a full commit id")
	}
	if len(r.Repo.Commit) != 40 {
		return company.E(company.EInvalid, "repositories with SHA-256 object ids are not supported")
	}
	if n := r.Repo.branchName(); !branchRE.MatchString(n) || strings.Contains(n, "..") || strings.Contains(n, "//") ||
		strings.Contains(n, "/.") || strings.HasSuffix(n, "/") || strings.HasSuffix(n, ".") ||
		strings.HasSuffix(n, ".lock") || strings.Contains(n, ".lock/") {
		return company.E(company.EInvalid, fmt.Sprintf("invalid branch name %q", n))
	}
	return nil
}

func (r Repo) branchName() string {
	if r.Ref == "" {
		return "base"
	}
	return strings.TrimPrefix(r.Ref, "refs/heads/")
}

// CacheDir creates the cache directory and returns its absolute path. All offices of this user share
// the cache, and its files can be made again. An empty dir means the default of Config.CacheDir.
func CacheDir(dir string) (string, error) {
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", company.E(company.EImage, "there is no cache directory").Wrap(err).Fix("set XDG_CACHE_HOME or HOME")
		}
		dir = filepath.Join(user, "company")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", company.E(company.EImage, "the cache directory has no absolute path").Wrap(err)
	}
	for _, sub := range []string{"", "locks", "tmp", usedFolder, tookFolder} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return "", company.E(company.EImage, "cannot create the image cache").Wrap(err).
				Fix("make " + dir + " writable, or set XDG_CACHE_HOME")
		}
	}
	return dir, nil
}
