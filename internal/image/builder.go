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
	"company/internal/depproxy"
	"company/internal/dockerapi"
	"company/internal/dockerfile"
	"company/internal/image/toolboxbin"
	"company/internal/lazyregexp"
	"company/internal/secret"
	"company/internal/service"
	"company/internal/toolproto"
)

// RepoPath is the bare repository with the base commit's history. A worker
// clones from it with --shared and fetches only newer objects.
const RepoPath = "/opt/repo.git"

// defaultTimeout bounds one whole Ensure, a first build included.
const defaultTimeout = 30 * time.Minute

// Config is what a Builder needs. The zero value works.
type Config struct {
	Logger   *slog.Logger
	Daemon   string                            // address of the Docker daemon; default DOCKER_HOST, else the usual socket
	CacheDir string                            // rootfs tars, locks, temporary files; default $XDG_CACHE_HOME/company, else ~/.cache/company
	Progress func(line string)                 // one line for people per step that takes time; may be called from any goroutine
	Toolbox  func(arch string) ([]byte, error) // the toolbox for an architecture; default toolboxbin.Binary
	OnBuilt  func(Layer, time.Duration)        // gets each layer that was made, and how long that took; may be called from any goroutine
	Timeout  time.Duration                     // of one Ensure, default 30 min; a large tree has more
	// MaxMemory is what a container that makes a layer may grow to, in bytes, where
	// its work runs out of memory. Zero: none grows.
	MaxMemory int64
	// Runtime runs the containers that layers are made in; nil = none is made that
	// needs one.
	Runtime container.Runtime
	// Registries serve the clients that install dependencies in build containers,
	// and apt in set-up commands; nil = nothing is installed, which is noted. A
	// client that runs on this host may have the operator's own registries.
	Registries *depproxy.Store
	// WithLogins serves the same with the operator's logins, for requests that may
	// use them; nil = no login leads to more.
	WithLogins *depproxy.Store
}

// Request says what an image must hold.
type Request struct {
	Base       string   // "" or "auto" = built from Debian; name@sha256:… = pulled
	Toolchains []string // names of the ecosystems, and what goes with them; none for a plain shell
	Spare      []string // those of them that no check needs: their packages may be missing
	Unneeded   []string // those of them whose packages are not installed
	// Checks are the commands that judge the project: what they look at is compiled ahead.
	// None: all is.
	Checks []company.GateCommand
	Setup  []string // shell commands, run as root without a network but for apt; one layer for all
	// SetupEnv are variables that the set-up commands get and that the image
	// must not hold. Their names are part of the key, their values are not.
	SetupEnv map[string]secret.Value
	Repo     *Repo // nil = no project
	// Dockerfile is how Repo describes the image (container.dockerfile), in place of
	// Base; nil = it does not. That its text may be carried out is for the caller to
	// know.
	Dockerfile *dockerfile.Source
	Offline    bool // take no dependency from a registry (container.deps: off)
	// Uncompiled leaves out the layers that compile the base ahead.
	Uncompiled bool
	// Without are kinds of registries that are not asked for packages (deps.without).
	Without []string
	// Services are servers that the containers of the image have beside commands.
	Services []service.Wish
	// Scripts are the packages whose install scripts may run (deps.scripts).
	Scripts []string
	// UseLogins lets the dependencies of Repo be fetched with the operator's logins
	// to registries, and lets them be what the operator calls private.
	UseLogins bool
}

// Repo is the history that goes into an image.
type Repo struct {
	MirrorDir string      // absolute path of a bare repository on this host
	Commit    company.OID // the base; only objects reachable from it are baked
	Ref       string      // name of the branch that points to it inside, default "base"
	Locks     company.OID // commit or tree whose lock files name the dependencies; "" = Commit
	// Policy says what may be fetched for Locks, whatever its lock files name;
	// nil = what they name.
	Policy *depproxy.Policy
}

// Image is an image that exists.
type Image struct {
	ID     string       // sha256:…, what a container is made from
	Tag    string       // company/worker:<key>, for people
	Key    company.Hash // of everything in it
	Layers []Layer      // from the bottom up
	Notes  []string     // what people should know: wishes of the project that the image does not meet
}

// Layer is one part of an image.
type Layer struct {
	Kind string // base, debian, ready, setup, toolbox, repo, or one that an ecosystem names
	Key  company.Hash
}

// Builder makes images. It is safe for use by many goroutines.
type Builder struct {
	docker   *dockerapi.Client
	runtime  container.Runtime
	log      *slog.Logger
	dir      string
	progress func(string)
	timeout  time.Duration
	onBuilt  func(Layer, time.Duration)

	registries, withLogins *depproxy.Store

	memory *container.MemoryBook // lends what files of a build take that lie in memory

	forceCommit bool // never load partial archives; tests use it to reach the commit

	toolboxFor  func(string) ([]byte, error)
	toolboxOnce sync.Once
	toolbox     []byte
	toolboxHash company.Hash
	toolboxErr  error

	sweepOnce sync.Once

	trees map[string]*hostLookup // of this host, by the name of the toolchain

	checkpointEvery time.Duration // of a layer that goes on after an interruption

	stepTimeout time.Duration    // of one command of a build, for a project of usual size
	sizes       *container.Sizes // of build containers, by the mirror of a project
	learnedMu   sync.Mutex
	learned     map[string]bool // mirrors of which the size of a tree is known

	resolved  string // folder of lock files that were made
	refusedMu sync.Mutex
	refused   map[string]refusal // versions that could not be had, by the folder of their tree
}

// New makes a Builder and its cache directory. The daemon is not called yet.
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
	return &Builder{docker: docker, trees: trees, refused: map[string]refusal{}, runtime: cfg.Runtime, memory: container.HostMemory, log: cfg.Logger, dir: dir, progress: cfg.Progress,
		sizes: container.NewSizes(container.Limits{MemoryBytes: container.BuildMemory}, cfg.MaxMemory), learned: map[string]bool{}, stepTimeout: toolproto.MaxCommandTimeout, checkpointEvery: checkpointEvery, resolved: filepath.Join(dir, "resolved"),
		timeout: cfg.Timeout, onBuilt: cfg.OnBuilt, toolboxFor: cfg.Toolbox, registries: cfg.Registries, withLogins: cfg.WithLogins}, nil
}

// Close closes the connections to the daemon.
func (b *Builder) Close() { _ = b.docker.Close() }

// Ensure returns the image for a request, and builds its missing layers. A
// second call for the same request is one call to the daemon. Errors are
// E_IMAGE (it cannot be made), E_DOCKER, E_INVALID (the request is malformed)
// and E_TIMEOUT, or the context's own.
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

// EnsureUncompiled is Ensure without the layers that compile the base ahead. Where the plan
// has no such layer, ok is false and no image is made.
func (b *Builder) EnsureUncompiled(ctx context.Context, req Request) (img Image, ok bool, err error) {
	if err := req.validateRequest(); err != nil {
		return img, false, err
	}
	base, err := b.findBase(ctx, req)
	if err != nil {
		return img, false, err
	}
	with, _, err := b.planLayers(ctx, req, base)
	if err != nil {
		return img, false, err
	}
	req.Uncompiled = true
	without, _, err := b.planLayers(ctx, req, base)
	if err != nil || with[len(with)-1].key == without[len(without)-1].key {
		return img, false, err
	}
	img, err = b.Ensure(ctx, req)
	return img, err == nil, err
}

// findBase finds where the lowest layers of a request come from, without a call to the
// daemon.
func (b *Builder) findBase(ctx context.Context, req Request) (baseSource, error) {
	switch {
	case req.Dockerfile != nil:
		return b.describeBase(ctx, req)
	case req.Base != "" && req.Base != "auto":
		return newPulledBase(req.Base), nil
	}
	return newBuiltBase(), nil
}

// ensureFrom is Ensure for one kind of base.
func (b *Builder) ensureFrom(ctx context.Context, req Request, base baseSource) (Image, error) {
	for {
		img, err := b.ensurePlanned(ctx, req, base)
		if err == nil || !errors.Is(err, errNoVersion) {
			return img, err
		}
		// It is refused from now on, so the next plan does without it.
	}
}

// ensurePlanned makes what a plan lists.
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
	if f, err := b.findImage(ctx, last); err != nil {
		return Image{}, err
	} else if f != nil {
		b.markUse(ctx, last.key, mirror)
		return f.toImage(last, notes), nil
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
	for _, s := range steps {
		if s.kind == toolboxLayer {
			b.markUse(ctx, s.key, toolboxLayer)
		}
	}
	if mirror != "" {
		b.markUse(ctx, last.key, mirror)
	}
	return top.toImage(last, notes), nil
}

// planLayers lists the layers of a request, from the bottom up, without a call to
// the daemon. The key of the last one covers the whole request. The notes are
// for people.
func (b *Builder) planLayers(ctx context.Context, req Request, base baseSource) ([]layerStep, []string, error) {
	tools, err := b.toolsFor(ctx, req, base)
	if err != nil {
		return nil, nil, err
	}
	p, err := b.newPlan(req, base)
	if err != nil {
		return nil, nil, err
	}
	p.notes = append(p.notes, tools.notes...)
	if err := p.addWishedPackages(ctx, req, base, &tools); err != nil {
		return nil, nil, err
	}
	p.addTools(req, tools)
	if req.Repo != nil {
		if err := p.addDeps(ctx, req, tools); err != nil {
			return nil, nil, err
		}
	}
	if tools.links {
		p.appendTarStep("ready", "the script that links dependencies into a tree", fillLinkDeps, buildLinkDepsScript())
	}
	if !base.pulled {
		p.addServicePackages(req, tools)
	}
	if len(req.Setup) > 0 {
		names := slices.Sorted(maps.Keys(req.SetupEnv))
		why := fmt.Sprintf("%d set-up commands", len(req.Setup))
		for _, n := range names {
			if why += ", with $" + n; len(searchForms(req.SetupEnv[n])) == 0 {
				p.addNote("the value of %s is too short to be searched for in the image (under %d bytes)", n, minSecretBytes)
			}
		}
		link, err := p.linkApt(req, base, "set-up commands reach")
		if err != nil {
			return nil, nil, err
		}
		inputs := req.Setup
		if len(names) > 0 {
			inputs = append(append(slices.Clone(inputs), "with"), names...)
		}
		if link.access != nil { // other commands succeed with it; whose mirror it is does not count
			why += ", with apt"
			inputs = append(append(slices.Clone(inputs), "\x00apt"), b.projectKey(req)...)
		}
		p.appendStep("setup", why, b.runSetup(req, link), inputs...)
	}
	if err := p.addServices(req); err != nil {
		return nil, nil, err
	}
	bin, hash, err := b.toolboxBinary()
	if err != nil {
		return nil, nil, err
	}
	toolbox := []string{string(hash)}
	if base.pulled { // there is no layer of packages that could change the environment
		toolbox = append(toolbox, tools.changeInputs()...)
	}
	top := p.appendTarStep(toolboxLayer, "the toolbox "+string(hash[:12]), fillToolbox(bin), toolbox...)
	top.toolbox = hash
	if base.pulled {
		top.env = tools.changeEnv()
	}
	if req.Repo != nil {
		p.appendTarStep("repo", "the history of commit "+string(req.Repo.Commit[:12]), b.fillRepo(*req.Repo), string(req.Repo.Commit), req.Repo.branchName())
	}
	p.topStep().repository = workerRepository
	return p.steps, p.notes, nil
}

// reportProgress tells people what takes time.
func (b *Builder) reportProgress(format string, args ...any) {
	b.progress(fmt.Sprintf(format, args...))
}

var (
	pinnedRE = lazyregexp.New(`^[a-z0-9][a-zA-Z0-9._/:-]{0,254}@sha256:[0-9a-f]{64}$`)
	envRE    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
	branchRE = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._/+-]{0,199}$`)
)

// validateRequest refuses a malformed request before anything happens.
func (r Request) validateRequest() error {
	if r.Base != "" && r.Base != "auto" && !pinnedRE.MatchString(r.Base) {
		return company.E(company.EInvalid, fmt.Sprintf("the image %q is not pinned by a digest", r.Base)).
			Because("a tag can mean another image tomorrow").Fix("write container.image as name@sha256:<64 hex digits>, or auto")
	}
	if r.Dockerfile != nil && (r.Repo == nil || r.Base != "" && r.Base != "auto") {
		return company.E(company.EInvalid, "an image has one base, and a Dockerfile is of a repository").Fix("set container.image or container.dockerfile, not both")
	}
	if err := checkToolchains(r.Toolchains); err != nil {
		return err
	}
	for _, s := range r.Setup {
		if strings.TrimSpace(s) == "" || strings.ContainsRune(s, 0) {
			return company.E(company.EInvalid, "a set-up command is empty or has a NUL byte").Fix("look at container.setup")
		}
	}
	for name, v := range r.SetupEnv {
		if !envRE.MatchString(name) || strings.ContainsRune(v.Reveal(), 0) {
			return company.E(company.EInvalid, "a variable of the set-up has no proper name, or a NUL byte in its value").Fix("look at container.setup_env")
		}
	}
	if r.Repo == nil {
		return nil
	}
	if !filepath.IsAbs(r.Repo.MirrorDir) || !r.Repo.Commit.Valid() || !r.Repo.locksCommit().Valid() {
		return company.E(company.EInvalid, "the repository of an image needs an absolute path and a full commit id")
	}
	if len(r.Repo.Commit) != 40 {
		return company.E(company.EInvalid, "repositories with SHA-256 object ids are not supported")
	}
	if n := r.Repo.branchName(); !branchRE.MatchString(n) || strings.Contains(n, "..") || strings.Contains(n, "//") ||
		strings.Contains(n, "/.") || strings.HasSuffix(n, "/") || strings.HasSuffix(n, ".") || strings.HasSuffix(n, ".lock") || strings.Contains(n, ".lock/") {
		return company.E(company.EInvalid, fmt.Sprintf("%q is not a branch name that can be baked", n))
	}
	return nil
}

func (r Repo) branchName() string {
	if r.Ref == "" {
		return "base"
	}
	return strings.TrimPrefix(r.Ref, "refs/heads/")
}

// CacheDir makes the directory of what can be made again and is shared by all
// offices of this user; "" is the default of Config.CacheDir.
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
			return "", company.E(company.EImage, "the image cache cannot be made").Wrap(err).Fix("make " + dir + " writable, or set XDG_CACHE_HOME")
		}
	}
	return dir, nil
}
