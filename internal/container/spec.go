package container

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// Sizes in bytes.
const (
	MiB int64 = 1 << 20
	GiB int64 = 1 << 30
)

// Default limits of a container (CTR-7). They match workers.* in
// company.yaml.
const (
	DefaultMemory = 4 * GiB
	DefaultCPUs   = 2.0
	DefaultPids   = 512
)

// The user and the folders inside a container.
const (
	UID     = 65532 // user and group of every process
	WorkDir = "/work"
	HomeDir = "/home/agent"
	TmpDir  = "/tmp"
)

// Limits holds the resource limits of one container. Zero means the default. A zero DiskBytes means
// the limit that the host can enforce. That is 10 GiB with a size option, else 2 GiB of tmpfs or as
// much as the memory allows.
type Limits struct {
	MemoryBytes int64   // memory and swap together, tmpfs included
	CPUs        float64 // clamped to the host's
	Pids        int64   // processes and threads
	DiskBytes   int64   // size of the work space
	LeastDisk   int64   // minimum size if DiskBytes is zero, as far as the memory allows
}

// WithDefaults sets zero fields to their defaults, except DiskBytes, which depends on the host.
func (l Limits) WithDefaults() Limits {
	l.MemoryBytes = cmp.Or(l.MemoryBytes, DefaultMemory)
	l.CPUs = cmp.Or(l.CPUs, DefaultCPUs)
	l.Pids = cmp.Or(l.Pids, DefaultPids)
	return l
}

// Profile is the purpose of a container. It decides what the container may do.
type Profile string

const (
	// Work is the profile of the containers of agents and gates.
	Work Profile = ""
	// Build is the profile of containers that build a layer of an image, as the same user as Work.
	// Their root file system is writable, since the layer is read from it, and their limits are wider.
	// Only the caller holds the name: an existing container with it was left by a killed builder and
	// is removed even while it runs.
	Build Profile = "build"
	// BuildRoot is Build as root, with the capabilities that package tools need. It is for the
	// president's own set-up commands.
	BuildRoot Profile = "build-root"
)

// BuildMemory is the default memory of a build. It is large because a compiler processes a whole
// project at once.
const BuildMemory = 7 * GiB

// buildPids limits the processes of a build, which may use all processors.
const buildPids = 2048

// Spec describes a container to create.
type Spec struct {
	Name    string // unique on the host; Labels.Name makes it
	Image   string // image id, sha256:<64 hex>; never a tag, never pulled
	Profile Profile
	Labels  Labels   // BuildLabels for a build
	Limits  Limits   // a build sets only memory and LeastDisk; the rest is fixed
	Command []string // argv; the first is an absolute path
	Env     []string // KEY=value; empty for a build, whose image would inherit them
	// Hosts are names that resolve to 127.0.0.1 inside. A build has no Hosts. Start
	// adds those of the image.
	Hosts []string
	// Files is a tar that is unpacked at / before the start. Only a build may have it.
	Files io.Reader
}

var (
	nameRE  = lazyregexp.New(`^company-[A-Za-z0-9][A-Za-z0-9_.-]{0,190}$`)
	imageRE = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
	envRE   = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// Validate returns an EInvalid error for a spec that must not reach the daemon.
func (s Spec) Validate() error {
	bad := func(format string, args ...any) error {
		return company.E(company.EInvalid, fmt.Sprintf(format, args...))
	}
	if err := s.Labels.Validate(); err != nil {
		return err
	}
	if !nameRE.MatchString(s.Name) {
		return bad("invalid container name %q", s.Name)
	}
	if !imageRE.MatchString(s.Image) {
		return company.E(company.EInvalid, fmt.Sprintf("the image %q is not an image id", s.Image)).
			Because("a tag can move between the check and the start").Fix("use the full id: sha256: and 64 hexadecimal digits")
	}
	if len(s.Command) == 0 || !strings.HasPrefix(s.Command[0], "/") {
		return bad("the command %q does not start with an absolute path", s.Command)
	}
	if slices.ContainsFunc(s.Command, hasNUL) || slices.ContainsFunc(s.Env, hasNUL) {
		return bad("a NUL byte in the command or the environment")
	}
	for i, e := range s.Env {
		if !envRE.MatchString(e) { // not shown: it may be a secret
			return bad("entry %d of the environment is not KEY=value", i+1)
		}
	}
	build := s.Profile != Work
	if build && s.Profile != Build && s.Profile != BuildRoot {
		return bad("unknown container profile %q", s.Profile)
	}
	given := s.Limits != Limits{MemoryBytes: s.Limits.MemoryBytes, LeastDisk: s.Limits.LeastDisk}
	if build != (s.Labels == BuildLabels) || build && (given || len(s.Env)+len(s.Hosts) > 0) || !build && s.Files != nil {
		return bad("the container %s mixes settings of a build and of a run", s.Name)
	}
	if i := slices.IndexFunc(s.Hosts, func(h string) bool { return !IsServiceHost(h) }); i >= 0 ||
		len(s.Hosts) > MaxHosts {
		return bad("invalid hosts %q: must be those of services", s.Hosts)
	}
	limits := s.Limits
	if limits.MemoryBytes < 0 || limits.Pids < 0 || limits.DiskBytes < 0 || limits.LeastDisk < 0 || limits.CPUs < 0 ||
		math.IsNaN(limits.CPUs) ||
		math.IsInf(limits.CPUs, 0) {
		return bad("negative limits of a container: %+v", limits)
	}
	return nil
}

// Plan fills in the limits and decides where the container may write. A host with fewer processors
// than the limit gives all it has. Zero processors means that the number is unknown.
func (s Spec) Plan(processors int, sizeOption bool) (Spec, Workspace, error) {
	if s.Profile != Work {
		workspace := planBuildSpace(s.Limits)
		if s.Profile == BuildRoot {
			workspace.Work = 0 // it stays in the layer: set-up commands may write there
		}
		s.Limits = Limits{MemoryBytes: cmp.Or(s.Limits.MemoryBytes, BuildMemory), Pids: buildPids}
		return s, workspace, nil
	}
	s.Limits = s.Limits.WithDefaults()
	if processors > 0 {
		s.Limits.CPUs = math.Min(s.Limits.CPUs, float64(processors))
	}
	w, err := PlanWorkspace(s.Limits, sizeOption)
	return s, w, err
}

func hasNUL(s string) bool { return strings.ContainsRune(s, 0) }
