package container

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"company/internal/company"
)

// Sizes in bytes.
const (
	MiB int64 = 1 << 20
	GiB int64 = 1 << 30
)

// Defaults of a container's limits (CTR-7). They match workers.* of
// company.yaml.
const (
	DefaultMemory = 4 * GiB
	DefaultCPUs   = 2.0
	DefaultPids   = 512
)

// The user and the folders inside.
const (
	UID     = 65532 // user and group of every process
	WorkDir = "/work"
	HomeDir = "/home/agent"
	TmpDir  = "/tmp"
)

// Limits bound one container. Zero means the default; DiskBytes zero means
// what the host can bound: 10 GiB with a size option, else 2 GiB of tmpfs or
// what the memory allows.
type Limits struct {
	MemoryBytes int64   // memory and swap together, tmpfs included
	CPUs        float64 // clamped to the host's
	Pids        int64   // processes and threads
	DiskBytes   int64   // size of the work space
}

// WithDefaults fills zero fields, but DiskBytes: that depends on the host.
func (l Limits) WithDefaults() Limits {
	if l.MemoryBytes == 0 {
		l.MemoryBytes = DefaultMemory
	}
	if l.CPUs == 0 {
		l.CPUs = DefaultCPUs
	}
	if l.Pids == 0 {
		l.Pids = DefaultPids
	}
	return l
}

// Spec is one container to be.
type Spec struct {
	Name    string // unique on the host; Labels.Name makes it
	Image   string // image id, sha256:<64 hex>; never a tag, never pulled
	Labels  Labels
	Limits  Limits
	Command []string // argv; the first is an absolute path
	Env     []string // KEY=value
}

var (
	nameRE  = regexp.MustCompile(`^company-[A-Za-z0-9][A-Za-z0-9_.-]{0,190}$`)
	imageRE = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	envRE   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// Validate is an EInvalid error for a spec that no daemon should see.
func (s Spec) Validate() error {
	bad := func(format string, args ...any) error {
		return company.E(company.EInvalid, fmt.Sprintf(format, args...))
	}
	if err := s.Labels.Validate(); err != nil {
		return err
	}
	if !nameRE.MatchString(s.Name) {
		return bad("%q is no name for a container of ours", s.Name)
	}
	if !imageRE.MatchString(s.Image) {
		return company.E(company.EInvalid, fmt.Sprintf("the image %q is not named by its id", s.Image)).
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
	l := s.Limits
	if l.MemoryBytes < 0 || l.Pids < 0 || l.DiskBytes < 0 || l.CPUs < 0 || math.IsNaN(l.CPUs) || math.IsInf(l.CPUs, 0) {
		return bad("negative limits of a container: %+v", l)
	}
	return nil
}

func hasNUL(s string) bool { return strings.ContainsRune(s, 0) }
