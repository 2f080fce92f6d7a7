package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/dockerapi"
	"company/internal/ecosystem"
	"company/internal/image/toolboxbin"
	"company/internal/lazyregexp"
	"company/internal/mux"
	"company/internal/safetext"
	"company/internal/toolproto"
)

// installToolbox is where a build container has its toolbox, whatever the image
// holds.
const installToolbox = "/opt/company/errand"

// buildOut is where staged files lie, and what a build container leaves.
const buildOut = "/opt/out"

// memoryOut is buildOut in the memory of a build container. There programs write without
// the disk, and nothing is left to be removed.
const memoryOut = container.WorkDir + "/out"

// installJob is work in a build container whose programs may ask registries.
// The container is locked like any other and has no network: its one link is
// its standard input and output, and the registries are served over it on its
// own 127.0.0.1.
type installJob struct {
	name       string                              // of the container, without prefix
	image      string                              // id
	stageFiles func(*layer) error                  // files that are there at the start; nil = none
	root       bool                                // work as root, with the rights of a build
	access     *registryAccess                     // what may be fetched; nil = no registry at all
	work       func(*buildSession) error           // the work
	collect    func(context.Context, string) error // reads or commits the stopped container, by name; nil = nothing
	// receive gets what the work left, as a tar, in place of collect, where this host has
	// memory for the files; nil = they lie on the disk
	receive  func(io.Reader) error
	ifKilled string        // see ecosystem.Install
	project  string        // has the sizes that count; empty: those of no project
	timeout  time.Duration // of one try, for a project of usual size
	// leaveForLater has the container of a job that succeeded removed when its owner is
	// done with what it left. Nil: the job ends when the container is gone.
	leaveForLater func(func())
}

var errContainerGone = errors.New("the build container is gone")

// errNotInMemory is the error of work whose files, or whose programs beside them, found
// no room in memory.
var errNotInMemory = errors.New("the files of a build do not fit into memory")

// exitKilled is how a container ends that is killed, mostly for memory.
const exitKilled = 137

// buildSession is the open container of an installation.
type buildSession struct {
	ctx      context.Context
	client   *toolproto.Client
	access   *registryAccess // of its steps; nil = none
	kept     *checkpoints    // of what its steps make; nil = nothing is kept
	limit    time.Duration   // of one command
	step     string          // the present work, for people
	answered bool            // a command came to its end
	failed   bool            // a command ended badly, with an excuse or without
	received bool            // what it left was asked for
	diskFull bool            // with a message that a device is full
}

// stepSeconds is the variable by which the commands of layers know their time.
const stepSeconds = "COMPANY_STEP_SECONDS"

// runCommand runs a command and gives its whole outcome; a time-out is an error.
func (s *buildSession) runCommand(dir, command string, env map[string]string) (toolproto.RunResult, error) {
	return s.runWithin(s.ctx, dir, command, env)
}

// runWithin is runCommand with a context of its own.
func (s *buildSession) runWithin(ctx context.Context, dir, command string, env map[string]string) (toolproto.RunResult, error) {
	seconds := int(s.limit / time.Second)
	all := map[string]string{stepSeconds: fmt.Sprint(seconds - min(30, seconds/4))} // so that it can say what hung
	maps.Copy(all, env)
	r, err := s.client.Run(ctx, toolproto.RunRequest{Command: command, Cwd: dir, Env: all, TimeoutS: seconds})
	s.answered = s.answered || err == nil
	switch {
	case err != nil:
		return r, err
	case r.TimedOut:
		s.failed = true
		return r, &stepTimeout{command: command, limit: s.limit, output: r.Text()}
	case r.ExitCode != 0:
		s.failed = true
		s.diskFull = s.diskFull || isDiskFull(r.Text())
	}
	return r, nil
}

// runStep runs a step of a layer. It ends when a registry that the step needs is away.
func (s *buildSession) runStep(step ecosystem.Step) (toolproto.RunResult, error) {
	s.step = step.Progress
	if step.Resumes {
		stop := s.kept.keepWhileRunning(s)
		defer stop()
	}
	if step.MayLack {
		return s.runCommand(step.Dir, step.Command, step.Env)
	}
	ctx, stop := s.access.watchStep(s.ctx)
	defer stop()
	r, err := s.runWithin(ctx, step.Dir, step.Command, step.Env)
	if err != nil && errors.Is(context.Cause(ctx), errRegistryAway) {
		err = company.E(company.EImage, step.Failure).Wrap(errRegistryAway).Fix(step.Fix)
	}
	return r, err
}

// registryURL is where a build container reaches the registries: at the toolbox's own port.
var registryURL = fmt.Sprintf("http://127.0.0.1:%d", toolproto.GatewayPort)

// runInstall makes the container, does the work, and clears up. Files lie in memory
// first, where there is a receiver of them, and on the disk where they found no room.
// Work for which the container was too small is done once more in a larger one, where
// there is more.
func (b *Builder) runInstall(ctx context.Context, e installJob, work string) error {
	limits := b.sizes.Of(e.project)
	if e.receive != nil {
		if err := b.tryInMemory(ctx, e, work, limits); !errors.Is(err, errNotInMemory) {
			return err
		}
	}
	e.receive = nil
	larger, err := b.tryInstall(ctx, e, work, limits, true)
	if larger != nil {
		_, err = b.tryInstall(ctx, e, work, *larger, false)
	}
	return err
}

// tryInMemory does the work with files in memory, where the host has that to spare for
// this build beside the others that may still grow.
func (b *Builder) tryInMemory(ctx context.Context, e installJob, work string, limits container.Limits) error {
	giveBack, ok := b.memory.Lend(limits.MemoryBytes, 0)
	defer giveBack()
	if !ok {
		return errNotInMemory
	}
	_, err := b.tryInstall(ctx, e, work, limits, false)
	return err
}

// tryInstall does the work in one container. larger are the limits of another try,
// where the container was too small and may grow.
func (b *Builder) tryInstall(ctx context.Context, e installJob, work string, limits container.Limits, mayGrow bool) (larger *container.Limits, err error) {
	ctx, cancel := context.WithTimeout(ctx, scaleTime(e.timeout, limits))
	defer cancel()
	files, err := stageInstall(e, work)
	if err != nil {
		return nil, err
	}
	defer files.removeFile()
	// The setting stands in the command: an image that is committed from the
	// container inherits its environment.
	command := "TOOLBOX_WORKSPACE=" + buildOut + " exec " + installToolbox + " serve"
	if e.receive != nil {
		command = "cp -R " + buildOut + " " + memoryOut + " && TOOLBOX_WORKSPACE=" + memoryOut + " exec " + installToolbox + " serve"
	}
	spec := container.Spec{Profile: container.Build, Name: e.name, Image: e.image, Files: files.newReader(),
		Limits:  container.Limits{MemoryBytes: limits.MemoryBytes, LeastDisk: limits.LeastDisk},
		Command: []string{"/bin/sh", "-c", command}}
	if e.root {
		spec.Profile = container.BuildRoot
	}
	began := time.Now()
	c, remove, err := b.startBuild(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err == nil && larger == nil && e.leaveForLater != nil {
			e.leaveForLater(remove)
			return
		}
		remove()
	}()
	started := time.Now()
	s := &buildSession{ctx: ctx, access: e.access, limit: scaleTime(b.stepTimeout, limits), step: "making a layer"}
	served := b.serveBuild(ctx, c, e, s)
	worked := time.Now()
	if served == nil && e.receive != nil { // the container has nothing more to tell
		b.log.DebugContext(ctx, "a build container was used", "job", e.name, "start", started.Sub(began), "work and copy", worked.Sub(started))
		return nil, nil
	}
	gone := errors.Is(served, errContainerGone)
	if served != nil && !gone { // how it ends tells whether memory ran out
		if err := c.Kill(ctx); err != nil || ctx.Err() != nil {
			return nil, e.access.explainError(served)
		}
	}
	exit, err := c.Wait(ctx)
	if err != nil && served != nil {
		return nil, e.access.explainError(served)
	}
	if err != nil {
		return nil, err
	}
	mayBeKilled := gone && e.ifKilled != "" && exit.Code == exitKilled
	short := findShortage(s, served, exit)
	if e.receive != nil && !s.received && (short != noShortage || gone && !s.answered) { // the copy of its files may have failed
		b.log.InfoContext(ctx, "a build does not fit into memory", "job", e.name, "step", s.step, "short of", short, "err", served)
		return nil, errNotInMemory
	}
	if short != noShortage {
		if more, ok := short.growLimits(b.sizes, e.project, limits); ok && mayGrow {
			b.reportProgress("%s again, with %s", s.step, short.describeGrowth(limits, more))
			b.log.InfoContext(ctx, "a build container was too small", "job", e.name, "step", s.step, "memory", limits.MemoryBytes, "err", served)
			return &more, nil
		}
		if served != nil && !mayBeKilled {
			return nil, short.toError(s.step, limits, served)
		}
	}
	switch {
	case served != nil && !mayBeKilled:
		return nil, e.access.explainError(served)
	case served != nil:
		b.reportProgress("%s", e.ifKilled)
		b.log.InfoContext(ctx, "a build container was killed", "job", e.name, "err", served)
	}
	if e.collect == nil {
		return nil, nil
	}
	err = e.collect(ctx, dockerapi.BuildPrefix+e.name)
	b.log.DebugContext(ctx, "a build container was used", "job", e.name, "start", started.Sub(began), "work", worked.Sub(started), "collect", time.Since(worked))
	return nil, err
}

// stageInstall is what the container has at its start: the toolbox and the
// errand's files.
func stageInstall(e installJob, work string) (*layer, error) {
	bin, err := toolboxbin.Binary(arch)
	if err != nil {
		return nil, err
	}
	l, err := newLayer(filepath.Join(work, "errand.tar"))
	if err != nil {
		return nil, err
	}
	err = l.addBytes(strings.TrimPrefix(installToolbox, "/"), 0o755, bin)
	if err == nil {
		err = l.addDir(strings.TrimPrefix(buildOut, "/"), agentID)
	}
	if err == nil && e.stageFiles != nil {
		err = e.stageFiles(l)
	}
	if err == nil {
		err = l.close()
	}
	if err != nil {
		l.removeFile()
		return nil, err
	}
	return l, nil
}

// serveBuild speaks with the toolbox of a started container until the work is
// done, and asks the container to end.
func (b *Builder) serveBuild(ctx context.Context, c container.Container, e installJob, work *buildSession) error {
	session, err := mux.Host(c.Pipe())
	if err != nil {
		return err
	}
	defer session.Close()
	web := &http.Server{Handler: e.access.newHandler(), ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = web.Serve(session)
	}()
	defer func() {
		_ = web.Close()
		<-served
	}()
	client := toolproto.New(session)
	defer client.Close()
	work.client = client
	err = e.work(work)
	if err == nil && e.receive != nil {
		work.received = true
		if err = client.KillAll(ctx); err == nil { // nothing is to change the files any more
			err = client.ReadTree(ctx, e.receive)
		}
	}
	if err != nil {
		if session.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: %w: %s", errContainerGone, err, strings.ToValidUTF8(strings.TrimSpace(c.Stderr()), "?"))
		}
		return err
	}
	if e.receive != nil { // its removal ends it
		return nil
	}
	return client.Shutdown(ctx)
}

// maxWhy bounds the line of a client's output that an error shows.
const maxWhy = 300

// clientError makes the error of a step that ended badly: the end of its
// output, and the line of it that says most as the summary. Registry is the kind that its packages
// are from; empty: none.
func clientError(registry string, says ecosystem.Words, step ecosystem.Step, r toolproto.RunResult) error {
	text := strings.TrimSpace(r.Text())
	why := fmt.Sprintf("exit code %d", r.ExitCode)
	if line := strings.ReplaceAll(mostUsefulLine(text, says.Telling), registryURL, ""); line != "" {
		why = safetext.EscapeLine(line, maxWhy) + " (" + why + ")"
	}
	e := company.E(company.EImage, step.Failure).Because(why).Fix(says.FindRemedy(text, step.Fix))
	e.Details = text
	if asked := gitRE.FindString(text); asked != "" {
		why := "a package comes from a git repository, and no container of an image reaches one: " + safetext.EscapeLine(asked, maxWhy)
		told := e.Because(why).Fix("name a version that the registry has in the place of the git address, and commit that").NeedsPerson()
		if registry == "" {
			return told
		}
		return told.Fix(told.Hint + "; or go on without the registry's packages, with deps.without: [" + registry + "] in company.yaml").
			MendedBy(company.ConfigLine{Key: "deps.without", Value: registry, Why: why})
	}
	if isPermanent(r.ExitCode, text, says.Permanent) {
		return e.NeedsPerson()
	}
	return e
}

// gitRE is a client's message that it asks git for a package. Clients give up on it in many words,
// the words of ssh and of git among them, and each try ends alike.
var gitRE = lazyregexp.New(`git (--\S+ )*ls-remote [^\n]*|git clone [^\n]*|syscall spawn git\b|Cannot find command 'git'|Couldn't find the binary git|failed to fetch into: [^\n]*git[^\n]*|Unable to update https?://[^\n]*\.git[^\n]*`)

// isPermanent recognises a failure that every try repeats: the program is not
// there, memory ran out, or the client blames the files themselves. A registry
// that is away is never permanent.
func isPermanent(code int, text string, permanent []string) bool {
	says := func(m string) bool { return strings.Contains(text, m) }
	if slices.ContainsFunc(temporaryErrors, says) {
		return false
	}
	return code == 126 || code == 127 || code == exitKilled || slices.ContainsFunc(permanent, says) || slices.ContainsFunc(permanentAnswers, says)
}

// permanentAnswers are those of registries, and ours in their place, that a second
// try gets too.
var permanentAnswers = []string{"is not in the project's lock files", "this repository may not use it", "404 Not Found", "410 Gone"}

// temporaryErrors are messages about faults that may be over at the next try.
var temporaryErrors = []string{
	"the registry cannot be reached now", "the registry refuses the office", "left the cache; ask again", "cache of packages cannot be used now", "the host's disk is full", "Temporary failure", "connection reset", "i/o timeout",
	"Failed to fetch", "Hash Sum mismatch", "429 Too Many", "500 Internal", "502 Bad Gateway", "503 Service", "504 Gateway",
}

// mostUsefulLine is the line of a client's output to show: one that begins with a
// mark and goes on, or else the last.
func mostUsefulLine(text string, marks []string) string {
	const least = 16
	for _, mark := range marks {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, mark) && len(line) > least {
				return line
			}
		}
	}
	return lastLine(text)
}
