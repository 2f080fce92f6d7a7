// Package sandbox sets up an agent's place of work: a fresh locked container
// with the project cloned in it, the connection to its toolbox, and the gateway
// that serves the run's quarantine repository into it.
//
// It promises that a sandbox has nothing of another run on it, that taking the
// result closes the gateway and kills the container first, and that Close
// leaves no container, process or goroutine behind. Containers that wait for runs may have the
// tree of their image's commit, which is no run's work. It does not know what the
// agent does in the sandbox.
package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/container"
	"company/internal/depaccess"
	"company/internal/gateway"
	"company/internal/gitops"
	"company/internal/service"
	"company/internal/toolproto"
)

// Places inside the container.
const (
	gatewayPort = 8377
	bakedRepo   = "/opt/repo.git"
)

// Config says what sandboxes are made of, for all of them.
type Config struct {
	Runtime container.Runtime
	Git     *gitops.Store
	Office  string
	Limits  container.Limits
	// Sizes are the limits of each project's containers instead. Nil: Limits
	// are everybody's, as they are a warm container's.
	Sizes   *container.Sizes `part:"optional"`
	Author  gitops.Person    // of the commits that agents make
	Signoff bool             // they carry the author's sign-off
	// CommandTimeout is for commands that ask for no time of their own.
	CommandTimeout time.Duration
	// StopGrace is from SIGTERM to SIGKILL of what a tool started; 0: the
	// toolbox's own, negative: none.
	StopGrace time.Duration
	Logger    *slog.Logger
	// Security gets each refused attempt of a container, from many goroutines.
	// It may be nil.
	Security func(Refusal) `part:"optional"`
	// Containers is how many memory has room for: those of runs, and warm ones beside them,
	// which are ended first. 0: memory bounds no warm ones.
	Containers int
	// Images find the image of warm containers. Nil: images are named by their ids.
	Images ImageFinder `part:"optional"`
}

// ImageFinder finds images of the daemon.
type ImageFinder interface {
	// FindLocal gives the id of an image by its key; empty: it is not there.
	FindLocal(ctx context.Context, key string) (id string, err error)
}

// Factory sets up sandboxes.
type Factory struct {
	Config

	pool    warmPool
	benches atomic.Uint64 // that were set up so far
	port    int           // of the gateway inside; 0: gatewayPort
	baked   string        // where images have the history; empty: bakedRepo
}

// NewFactory checks that a factory has what it needs.
func NewFactory(c Config) (*Factory, error) {
	return &Factory{Config: c}, company.CheckParts(c)
}

// Spec says what a sandbox is for.
type Spec struct {
	Mirror   *gitops.Mirror
	Run      company.RunID
	Role     company.Role
	Epoch    uint64
	Fence    uint64
	Image    string        // id
	ImageKey string        // names warm containers of the image; empty: the id
	Base     company.OID   // whose history the sandbox sees
	Extra    []company.OID // commits of the same subtask that it sees too
	Start    company.OID   // where the branch starts
	AskTests bool          // finish asks once for tests
	// Unfinished says that Start has work of earlier runs that none has handed in.
	Unfinished bool
	Branch     string
	Paths      []string       // folders that are checked out and may change; none: all
	ReadOnly   bool           // nothing can be pushed
	Need       container.Need // what the project's checks needed on the base
	Log        *gitops.OpLog
	// Past is the run's earlier holders, as its journal has them.
	Past agent.Past
	// Dependencies are what the run may fetch of package registries. Nil: nothing.
	Dependencies *depaccess.Run
	// Attached are the files of the instruction, which lie beside the workspace.
	Attached []company.AttachedFile
}

// seenCommits lists the commits that the sandbox sees beside the history of its base.
func (o Spec) seenCommits() []company.OID {
	if o.Start == o.Base {
		return o.Extra
	}
	return append([]company.OID{o.Start}, o.Extra...)
}

// WorkerSpec returns the part of a Spec that a worker's run gets from its ticket: where the run begins,
// and what it sees.
func WorkerSpec(t *company.Task, sub *company.Subtask, r *company.Run) Spec {
	spec := Spec{Base: sub.Base, Start: r.From, Unfinished: sub.HasUnfinishedWork(r.From), Branch: Branch(sub)}
	// A branch that was handed in before was asked then.
	spec.AskTests = slices.ContainsFunc(t.Prepared.Gates, company.GateCommand.IsTest) && len(t.SummedUp(sub.ID)) == 0
	if target := t.Prepared.Target; target != "" {
		spec.Extra = []company.OID{target}
	}
	return spec
}

// Mirrors is where the mirrors of package registries are reached inside.
func Mirrors() string { return fmt.Sprintf("http://127.0.0.1:%d", gatewayPort) }

func (s *Factory) gatewayPort() int {
	if s.port != 0 {
		return s.port
	}
	return gatewayPort
}

func (s *Factory) bakedPath() string { return cmp.Or(s.baked, bakedRepo) }

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
	noRoom     atomic.Pointer[error] // a push that the office's disk had no room for
	lastChange int                   // the newest turn that changed the work tree; 0: none
	serving    sync.WaitGroup
	closed     sync.Once
	// added are the commits that a head has beside what the sandbox began with.
	added struct {
		head    company.OID
		commits []gitops.Commit
	}
}

// Open sets a sandbox up. When it fails, nothing is left.
func (s *Factory) Open(ctx context.Context, o Spec) (_ *Sandbox, err error) {
	b := &Sandbox{factory: s, spec: o, refusals: s.newRefusalLog(o)}
	if b.ticket, err = gitops.Ticket(o.Run); err != nil {
		return nil, err
	}
	if b.quarantine, err = s.Git.Quarantine(gitops.WithLog(ctx, o.Log), o.Mirror, o.Run, o.Base, o.seenCommits()); err != nil {
		return nil, err
	}
	b.quarantine.OnlyIn(o.Paths)
	b.quarantine.OnlyBy(gitops.Identity{Person: s.Author, Signoff: s.Signoff})
	defer func() {
		if err != nil {
			b.Close(ctx)
		}
	}()
	if b.box, err = s.acquireInstance(ctx, o); err != nil {
		return nil, err
	}
	b.Tools = b.box.tools
	b.gateway, err = gateway.New(gateway.Config{
		Quarantine: b.quarantine, Run: o.Run, Ticket: b.ticket, ReadOnly: o.ReadOnly, Log: o.Log, Logger: s.Logger,
		Registries: o.Dependencies.Handler(func(what string) { b.refusals.add("registry", what) }),
		OnSecurity: func(e gateway.Event) { b.refusals.add(e.Kind, e.Detail) },
		OnNoRoom:   func(err error) { b.noRoom.Store(&err) },
	})
	if err != nil {
		return nil, err
	}
	b.serving.Go(func() {
		// It ends with the session; what the container did to it is logged
		// there.
		_ = b.gateway.Serve(b.box.session)
	})
	resume, err := b.goBack(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.Tools.Attach(ctx, attachedFiles(o.Attached)); err != nil {
		return nil, b.withStderr(fmt.Errorf("send the files of the instruction of %s: %w", o.Run, err))
	}
	seeded, err := SendClone(gitops.WithLog(ctx, o.Log), b.Tools, b.quarantine, s.bakedPath())
	if err != nil {
		return nil, b.withStderr(fmt.Errorf("send the history of %s: %w", o.Run, err))
	}
	b.Prepared, err = b.Tools.Prepare(ctx, toolproto.PrepareRequest{
		Seeded: seeded, Exact: o.Past.Exact, Holder: max(0, o.Past.Holders-1),
		CloneURL: fmt.Sprintf("http://127.0.0.1:%d%s", s.gatewayPort(), b.gateway.Path()), Baked: s.bakedPath(),
		BaseOID: string(o.Start), Branch: o.Branch, AuthorName: s.Author.Name, AuthorEmail: s.Author.Email, Signoff: s.Signoff, Paths: o.Paths, Resume: string(resume),
	})
	if refusal := (*toolproto.Refusal)(nil); errors.As(err, &refusal) && refusal.Kind == toolproto.KindService {
		return nil, service.StartError(refusal.Message)
	}
	if err != nil {
		return nil, b.withStderr(fmt.Errorf("set up the workspace of %s: %w", o.Run, err))
	}
	o.Log.Record("clone", string(o.Base))
	if b.Prepared.Branch != "" {
		o.Log.Record("branch", b.Prepared.Branch, b.Prepared.Head)
	}
	if command := o.Dependencies.Prepared(); command != "" {
		if r, err := b.Tools.Run(ctx, toolproto.RunRequest{Command: command, TimeoutS: 60}); err != nil {
			return nil, b.withStderr(fmt.Errorf("set up the package clients of %s: %w", o.Run, err))
		} else if r.ExitCode != 0 {
			s.Logger.WarnContext(ctx, "package clients not set up", "run_id", o.Run, "output", r.Text())
		}
	}
	return b, nil
}

// withStderr adds the container's last lines on stderr to an error of the link.
func (s *Sandbox) withStderr(err error) error {
	if said := s.box.container.Stderr(); said != "" {
		return fmt.Errorf("%w (the container's last words: %q)", err, said)
	}
	return err
}

// Lost reports whether the link to the container is gone. A call may fail a
// moment before the link notices.
func (s *Sandbox) Lost() bool {
	select {
	case <-s.box.session.Done():
		return true
	case <-time.After(time.Second):
		return false
	}
}

// exitWait bounds the wait for the daemon's word on a container whose link is gone.
const exitWait = 5 * time.Second

// ExplainLoss tells people and agents why the container ended whose link is gone, as far
// as the daemon knows. Where its memory ran out, the project's next containers get more,
// if the host has it; the daemon remembers that of a container that lived on and ended
// later, too. It is asked before Close, which ends every container.
func (s *Sandbox) ExplainLoss(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, exitWait)
	defer cancel()
	exit, err := s.box.container.Wait(ctx)
	if err != nil || !exit.OOMKilled {
		return "a command ended it, or it ran out of processes"
	}
	why := fmt.Sprintf("it ran out of memory: it had %s", container.Size(s.box.memory))
	if s.factory.Sizes == nil {
		return why
	}
	limits, more := s.factory.Sizes.Grow(s.spec.Mirror.Dir(), s.box.memory)
	if !more {
		return why + ", and there is no more for it (workers.memory): do less at a time"
	}
	return why + ", and the next one gets " + container.Size(limits.MemoryBytes)
}

// Container is the id of the sandbox's container.
func (s *Sandbox) Container() string { return s.box.container.ID() }

// Close ends everything in the sandbox. It may be called many times, and does
// its work even when ctx is over.
func (s *Sandbox) Close(ctx context.Context) {
	s.closed.Do(func() {
		if s.gateway != nil {
			_ = s.gateway.Close() // a listener that is gone already
		}
		if s.box != nil {
			s.box.close(ctx, s.factory)
		}
		s.serving.Wait()
		s.refusals.close()
	})
}
