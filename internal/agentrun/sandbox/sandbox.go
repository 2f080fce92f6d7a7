// Package sandbox sets up an agent's place of work: a fresh locked container with a clone of the project. It
// also sets up the connection to the container's toolbox, and the gateway that serves the run's quarantine
// repository into it.
//
// It promises that a sandbox has no data of another run. Taking the result first closes the gateway and kills
// the container. Close leaves no container, process or goroutine behind. The package does not know the agent's
// work in the sandbox.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"company/internal/agent"
	"company/internal/agentrun/depaccess"
	"company/internal/agentrun/gateway"
	"company/internal/company"
	"company/internal/container"
	"company/internal/container/service"
	"company/internal/gitops"
	"company/internal/toolbox/toolproto"
)

// Port and path inside the container.
const (
	gatewayPort = 8377
	bakedRepo   = "/opt/repo.git"
)

// Config configures all sandboxes.
type Config struct {
	Runtime container.Runtime
	Git     *gitops.Store
	Office  string
	Limits  container.Limits
	// Sizes holds the limits of each project's containers. If it is nil, Limits applies to all. Warm containers
	// always use Limits.
	Sizes   *container.Sizes `part:"optional"`
	Author  gitops.Person    // of the commits that agents make
	Signoff bool             // they carry the author's sign-off
	// CommandTimeout is the timeout of commands that set none.
	CommandTimeout time.Duration
	// StopGrace is the time from SIGTERM to SIGKILL for processes of a tool. 0 means the toolbox's own, and a
	// negative value means no time.
	StopGrace time.Duration
	Logger    *slog.Logger
	// Security receives each refused attempt of a container. It is called concurrently. It may be nil.
	Security func(Refusal) `part:"optional"`
	// Containers is the number of containers that fit into memory. Containers of runs come first, and warm ones are
	// ended for them. 0 means no limit for warm ones.
	Containers int
	// Images finds the image of warm containers by its key. If it is nil, the keys are image ids.
	Images ImageFinder `part:"optional"`
}

// ImageFinder finds images of the daemon.
type ImageFinder interface {
	// FindLocal returns the id of an image by its key. It returns "" if the image is missing.
	FindLocal(ctx context.Context, key string) (id string, err error)
}

// Factory sets up sandboxes.
type Factory struct {
	Config

	pool    warmPool
	benches atomic.Uint64 // number of sandboxes set up so far
	port    int           // port of the gateway inside, 0 for gatewayPort
}

// NewFactory returns an error if a required part of the config is missing.
func NewFactory(c Config) (*Factory, error) {
	return &Factory{Config: c}, company.CheckParts(c)
}

// Spec describes the sandbox of one run.
type Spec struct {
	Mirror   *gitops.Mirror
	Run      company.RunID
	Role     company.Role
	Epoch    uint64
	Fence    uint64
	Image    string        // image id
	ImageKey string        // key of warm containers of the image, by default its id
	Base     company.OID   // the sandbox sees the history of this commit
	Extra    []company.OID // other visible commits of the same subtask
	Start    company.OID   // where the branch starts
	AskTests bool          // finish asks once for missing tests
	MayAsk   bool          // the agent may ask the president before its first change
	// Unfinished means that Start has work of earlier runs that no run has submitted.
	Unfinished bool
	Branch     string
	Paths      []string       // folders that are checked out and may change, empty for all
	Commands   []string       // programs that commands may start, empty for all
	ReadOnly   bool           // pushes are refused
	Need       container.Need // resources that the project's checks needed on the base
	Log        *gitops.OpLog
	// Past summarizes the run's earlier holders from its journal.
	Past agent.Past
	// Dependencies controls the packages that the run may fetch from registries. If it is nil, the run fetches
	// none.
	Dependencies *depaccess.Run
	// Attached holds the files of the instruction, which are placed beside the workspace.
	Attached []company.AttachedFile
}

// seenCommits lists the visible commits besides the history of the base.
func (o Spec) seenCommits() []company.OID {
	if o.Start == o.Base {
		return o.Extra
	}
	return append([]company.OID{o.Start}, o.Extra...)
}

// WorkerSpec returns the part of a Spec that comes from a worker's ticket: the start of the run, and the visible
// commits.
func WorkerSpec(task *company.Task, sub *company.Subtask, r *company.Run) Spec {
	spec := Spec{Base: sub.Base, Start: r.From, Unfinished: sub.HasUnfinishedWork(r.From), Branch: Branch(sub),
		MayAsk: sub.MayAsk()}
	// If the branch was submitted before, finish asked then.
	spec.AskTests = slices.ContainsFunc(task.Prepared.Gates, company.GateCommand.IsTest) && len(task.SummedUp(sub.ID)) == 0
	if target := task.Prepared.Target; target != "" {
		spec.Extra = []company.OID{target}
	}
	return spec
}

// Mirrors returns the address of the package mirrors inside the container.
func Mirrors() string { return fmt.Sprintf("http://127.0.0.1:%d", gatewayPort) }

func (s *Factory) gatewayPort() int {
	if s.port != 0 {
		return s.port
	}
	return gatewayPort
}

// Sandbox is one set-up container.
type Sandbox struct {
	Tools    *toolproto.Client
	Prepared toolproto.PrepareResult

	factory    *Factory
	spec       Spec
	ticket     string
	quarantine *gitops.Quarantine
	box        *instance
	gateway    *gateway.Gateway
	refusals   *refusalLog
	noRoom     atomic.Pointer[error] // a push that did not fit on the office's disk
	lastChange int                   // the newest turn that changed the work tree, 0 for no turn
	serving    sync.WaitGroup
	closed     sync.Once
	// added caches the new commits of a head since the start of the sandbox.
	added struct {
		head    company.OID
		commits []gitops.Commit
	}
}

// Open sets up a sandbox. On an error it cleans up.
func (s *Factory) Open(ctx context.Context, spec Spec) (_ *Sandbox, err error) {
	sandbox := &Sandbox{factory: s, spec: spec, refusals: s.newRefusalLog(spec)}
	if sandbox.ticket, err = gitops.Ticket(spec.Run); err != nil {
		return nil, err
	}
	if sandbox.quarantine, err = s.Git.Quarantine(
		gitops.WithLog(ctx, spec.Log), spec.Mirror, spec.Run, spec.Base, spec.seenCommits()); err != nil {
		return nil, err
	}
	sandbox.quarantine.OnlyIn(spec.Paths)
	sandbox.quarantine.OnlyBy(gitops.Identity{Person: s.Author, Signoff: s.Signoff})
	defer func() {
		if err != nil {
			sandbox.Close(ctx)
		}
	}()
	if sandbox.box, err = s.acquireInstance(ctx, spec); err != nil {
		return nil, err
	}
	sandbox.Tools = sandbox.box.tools
	sandbox.gateway, err = gateway.New(gateway.Config{
		Quarantine: sandbox.quarantine, Run: spec.Run, Ticket: sandbox.ticket, ReadOnly: spec.ReadOnly, Log: spec.Log,
		Logger:     s.Logger,
		Registries: spec.Dependencies.Handler(func(what string) { sandbox.refusals.add("registry", what) }),
		OnSecurity: func(e gateway.Event) { sandbox.refusals.add(e.Kind, e.Detail) },
		OnNoRoom:   func(err error) { sandbox.noRoom.Store(&err) },
	})
	if err != nil {
		return nil, err
	}
	sandbox.serving.Go(func() {
		// It ends with the session. The gateway logs refused requests itself.
		_ = sandbox.gateway.Serve(sandbox.box.session)
	})
	resume, err := sandbox.goBack(ctx)
	if err != nil {
		return nil, err
	}
	attached := make([]toolproto.AttachedFile, len(spec.Attached))
	for i, file := range spec.Attached {
		attached[i] = toolproto.AttachedFile{Name: file.Name, Content: file.Content}
	}
	if err := sandbox.Tools.Attach(ctx, attached); err != nil {
		return nil, sandbox.withStderr(fmt.Errorf("send the files of the instruction of %s: %w", spec.Run, err))
	}
	sandbox.Prepared, err = sandbox.Tools.Prepare(ctx, toolproto.PrepareRequest{
		Exact: spec.Past.Exact, Holder: max(0, spec.Past.Holders-1),
		CloneURL: fmt.Sprintf("http://127.0.0.1:%d%s", s.gatewayPort(), sandbox.gateway.Path()), Baked: bakedRepo,
		BaseOID: string(spec.Start), Branch: spec.Branch, AuthorName: s.Author.Name, AuthorEmail: s.Author.Email,
		Signoff: s.Signoff, Paths: spec.Paths, Resume: string(resume),
	})
	if refusal := (*toolproto.Refusal)(nil); errors.As(err, &refusal) && refusal.Kind == toolproto.KindService {
		return nil, service.StartError(refusal.Message)
	}
	if err != nil {
		return nil, sandbox.withStderr(fmt.Errorf("set up the workspace of %s: %w", spec.Run, err))
	}
	spec.Log.Record("clone", string(spec.Base))
	if sandbox.Prepared.Branch != "" {
		spec.Log.Record("branch", sandbox.Prepared.Branch, sandbox.Prepared.Head)
	}
	if command := spec.Dependencies.Prepared(); command != "" {
		if runResult, err := sandbox.Tools.Run(ctx, toolproto.RunRequest{Command: command, TimeoutS: 60}); err != nil {
			return nil, sandbox.withStderr(fmt.Errorf("set up the package clients of %s: %w", spec.Run, err))
		} else if runResult.ExitCode != 0 {
			s.Logger.WarnContext(ctx, "package clients not set up", "run_id", spec.Run, "output", runResult.Text())
		}
	}
	return sandbox, nil
}

// withStderr adds the container's last lines on stderr to an error of the link.
func (s *Sandbox) withStderr(err error) error {
	if said := s.box.container.Stderr(); said != "" {
		return fmt.Errorf("%w (the container's last words: %q)", err, said)
	}
	return err
}

// Lost reports whether the link to the container is gone. It waits up to a second, because a call may fail
// before the link notices.
func (s *Sandbox) Lost() bool {
	select {
	case <-s.box.session.Done():
		return true
	case <-time.After(time.Second):
		return false
	}
}

// exitWait limits the wait for the daemon's report about a container whose link is gone.
const exitWait = 5 * time.Second

// ExplainLoss explains, as far as the daemon knows, why a container ended whose link is gone. If the container
// ran out of memory, the project's next containers get more, if the host has it. The daemon also reports this
// for a container that survived it and ended later. Call ExplainLoss before Close, which ends every container.
func (s *Sandbox) ExplainLoss(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, exitWait)
	defer cancel()
	exit, err := s.box.container.Wait(ctx)
	if err != nil || !exit.OOMKilled {
		return "a command ended it, or it ran out of processes"
	}
	reason := fmt.Sprintf("it ran out of memory: it had %s", container.Size(s.box.memory))
	if s.factory.Sizes == nil {
		return reason
	}
	limits, more := s.factory.Sizes.Grow(s.spec.Mirror.Dir(), s.box.memory)
	if !more {
		return reason + ", and there is no more for it (workers.memory): do less at a time"
	}
	return reason + ", and the next one gets " + container.Size(limits.MemoryBytes)
}

// Container returns the id of the sandbox's container.
func (s *Sandbox) Container() string { return s.box.container.ID() }

// Close ends everything in the sandbox. It may be called many times, and works even if ctx is done.
func (s *Sandbox) Close(ctx context.Context) {
	s.closed.Do(func() {
		if s.gateway != nil {
			_ = s.gateway.Close() // the listener may be gone already
		}
		if s.box != nil {
			s.box.close(ctx, s.factory)
		}
		s.serving.Wait()
		s.refusals.close()
	})
}
