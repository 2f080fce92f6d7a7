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
	"company/internal/container/dockerapi"
	"company/internal/container/image/toolboxbin"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
	"company/internal/toolbox/mux"
	"company/internal/toolbox/toolproto"
)

// installToolbox is the path of the toolbox in a build container. It does not depend on the image.
const installToolbox = "/opt/company/errand"

// buildOut is the folder of the staged files and of the results of a build container.
const buildOut = "/opt/out"

// memoryOut replaces buildOut when files are kept in the memory of the build container. Writing there
// needs no disk, and no files have to be removed afterwards.
const memoryOut = container.WorkDir + "/out"

// installJob describes work in a build container whose programs may use registries. The container is
// locked down like any other and has no network. Its only connection is its standard input and output.
// Through it the registries are served on the container's own 127.0.0.1.
type installJob struct {
	name       string                              // name of the container, without prefix
	image      string                              // id
	stageFiles func(*layer) error                  // adds files that exist at the start; may be nil
	root       bool                                // run as root, with the capabilities of a build
	access     *registryAccess                     // decides what may be fetched; nil allows no registry
	work       func(*buildSession) error           // the work
	collect    func(context.Context, string) error // reads or commits the stopped container, by name; may be nil
	// receive replaces collect if this host has enough memory to keep the files there. It reads the
	// results of the work as a tar. With a nil receive the files are on disk.
	receive  func(io.Reader) error
	ifKilled string        // see ecosystem.Install
	project  string        // selects the container sizes; empty means no project
	timeout  time.Duration // limit of one attempt, for a project of normal size
	// leaveForLater receives the function that removes the container of a successful job. Its owner
	// calls the function after it has used the results. If leaveForLater is nil, the container is
	// removed before the job ends.
	leaveForLater func(func())
}

var errContainerGone = errors.New("the build container is gone")

// errNotInMemory means that the files of the work, or the programs beside them, did not fit into
// memory.
var errNotInMemory = errors.New("the files of a build do not fit into memory")

// buildSession is the state of a running build container.
type buildSession struct {
	ctx      context.Context
	client   *toolproto.Client
	access   *registryAccess // registry access of its steps; nil if there is none
	kept     *checkpoints    // checkpoints of its steps; nil if they keep none
	limit    time.Duration   // timeout of one command
	step     string          // the current work, for people
	answered bool            // at least one command returned a result
	failed   bool            // a command timed out or had a nonzero exit code
	received bool            // the results were requested
	diskFull bool            // a failed command reported a full device
}

// stepSeconds is the variable that holds the time limit of a layer's command, in seconds.
const stepSeconds = "COMPANY_STEP_SECONDS"

// runCommand runs a command and returns its result. A timeout is an error.
func (s *buildSession) runCommand(dir, command string, env map[string]string) (toolproto.RunResult, error) {
	return s.runWithin(s.ctx, dir, command, env)
}

// runWithin is runCommand with a separate context.
func (s *buildSession) runWithin(
	ctx context.Context, dir, command string, env map[string]string,
) (toolproto.RunResult, error) {
	seconds := int(s.limit / time.Second)
	// Announce less than the timeout, so that the command can report which part hung.
	all := map[string]string{stepSeconds: fmt.Sprint(seconds - min(30, seconds/4))}
	maps.Copy(all, env)
	runResult, err := s.client.Run(ctx, toolproto.RunRequest{Command: command, Cwd: dir, Env: all, TimeoutS: seconds})
	s.answered = s.answered || err == nil
	switch {
	case err != nil:
		return runResult, err
	case runResult.TimedOut:
		s.failed = true
		return runResult, &stepTimeout{command: command, limit: s.limit, output: runResult.Text()}
	case runResult.ExitCode != 0:
		s.failed = true
		s.diskFull = s.diskFull || isDiskFull(runResult.Text())
	}
	return runResult, nil
}

// runStep runs a step of a layer. It stops when a registry that the step needs is unreachable.
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
	runResult, err := s.runWithin(ctx, step.Dir, step.Command, step.Env)
	if err != nil && errors.Is(context.Cause(ctx), errRegistryAway) {
		err = company.E(company.EImage, step.Failure).Wrap(errRegistryAway).Fix(step.Fix)
	}
	return runResult, err
}

// MirrorURL is the address of the registry mirrors inside a container: the toolbox's own port.
var MirrorURL = fmt.Sprintf("http://127.0.0.1:%d", toolproto.GatewayPort)

// runInstall creates the container, does the work and cleans up. If e has a receiver, it first keeps
// the files in memory, and uses the disk if they do not fit. If the container was too small, it
// repeats the work once in a larger one, if the limits allow that.
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

// tryInMemory does the work with files in memory. It returns errNotInMemory if the host cannot spare
// that memory beside the other builds, which may still grow.
func (b *Builder) tryInMemory(ctx context.Context, e installJob, work string, limits container.Limits) error {
	giveBack, ok := b.memory.Lend(limits.MemoryBytes, 0)
	defer giveBack()
	if !ok {
		return errNotInMemory
	}
	_, err := b.tryInstall(ctx, e, work, limits, false)
	return err
}

// tryInstall does the work in one container. If the container was too small and may grow, it returns
// the limits for another attempt in larger.
func (b *Builder) tryInstall(
	ctx context.Context, e installJob, work string, limits container.Limits, mayGrow bool,
) (larger *container.Limits, err error) {
	ctx, cancel := context.WithTimeout(ctx, scaleTime(e.timeout, limits))
	defer cancel()
	files, err := stageInstall(e, work)
	if err != nil {
		return nil, err
	}
	defer files.removeFile()
	// Set the variable in the command. An image that is committed from the
	// container would inherit the container's environment.
	command := "TOOLBOX_WORKSPACE=" + buildOut + " exec " + installToolbox + " serve"
	if e.receive != nil {
		command = "cp -R " + buildOut + " " + memoryOut + " && TOOLBOX_WORKSPACE=" + memoryOut + " exec " +
			installToolbox + " serve"
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
	if served == nil && e.receive != nil { // the results have arrived and the exit code is not needed
		b.log.DebugContext(ctx, "a build container was used", "job", e.name, "start", started.Sub(began), "work and copy",
			worked.Sub(started))
		return nil, nil
	}
	gone := errors.Is(served, errContainerGone)
	if served != nil && !gone { // the exit state shows whether memory ran out
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
	mayBeKilled := gone && e.ifKilled != "" && exit.Code == company.ExitKilled
	short := findShortage(s, served, exit)
	if e.receive != nil && !s.received && (short != noShortage || gone && !s.answered) {
		// Copying the staged files into memory may have failed.
		b.log.InfoContext(ctx, "a build does not fit into memory", "job", e.name, "step", s.step, "short of", short,
			"err", served)
		return nil, errNotInMemory
	}
	if short != noShortage {
		if more, ok := short.growLimits(b.sizes, e.project, limits); ok && mayGrow {
			b.reportProgress("%s again, with %s", s.step, short.describeGrowth(limits, more))
			b.log.InfoContext(ctx, "a build container was too small", "job", e.name, "step", s.step, "memory",
				limits.MemoryBytes, "err", served)
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
	b.log.DebugContext(ctx, "a build container was used", "job", e.name, "start", started.Sub(began), "work",
		worked.Sub(started), "collect", time.Since(worked))
	return nil, err
}

// stageInstall writes the files that the container has at its start: the toolbox and the files of the
// job.
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

// serveBuild connects to the toolbox of a started container, does the work and shuts the container
// down.
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
		if err = client.KillAll(ctx); err == nil { // no process may change the files any more
			err = client.ReadTree(ctx, e.receive)
		}
	}
	if err != nil {
		if session.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: %w: %s", errContainerGone, err, strings.ToValidUTF8(strings.TrimSpace(c.Stderr()), "?"))
		}
		return err
	}
	if e.receive != nil { // removing the container ends it
		return nil
	}
	return client.Shutdown(ctx)
}

// maxWhy limits the line of a client's output that an error shows, in bytes.
const maxWhy = 300

// clientError returns the error of a failed step. The summary is the most useful line of its output;
// the details are the output. registry is the kind of registry of its packages, or empty.
func clientError(registry string, says ecosystem.Words, step ecosystem.Step, runResult toolproto.RunResult) error {
	text := strings.TrimSpace(runResult.Text())
	reason := fmt.Sprintf("exit code %d", runResult.ExitCode)
	if line := strings.ReplaceAll(mostUsefulLine(text, says), MirrorURL, ""); line != "" {
		reason = safetext.EscapeLine(line, maxWhy) + " (" + reason + ")"
	}
	fault := company.E(company.EImage, step.Failure).Because(reason).Fix(says.FindRemedy(text, step.Fix))
	fault.Details = text
	if asked := gitRE.FindString(text); asked != "" {
		why := "a package comes from a git repository, and no container of an image reaches one: " +
			safetext.EscapeLine(asked, maxWhy)
		told := fault.Because(why).
			Fix("replace the git URL by a version from the registry, and commit that").NeedsPerson()
		if registry == "" {
			return told
		}
		return told.Fix(told.Hint + "; or go on without the registry's packages, with deps.without: [" + registry +
			"] in company.yaml").
			MendedBy(company.ConfigLine{Key: "deps.without", Value: registry, Why: why})
	}
	if saysUnreachable(text) {
		return fault.Fix(fault.Hint + "; the client and the install scripts of packages reach the project's " +
			"registries only: keep what they download in the repository, or drop the package that " +
			"downloads it").NeedsPerson()
	}
	if isPermanent(runResult.ExitCode, text, says.Permanent) {
		return fault.NeedsPerson()
	}
	return fault
}

// gitRE matches a client's message that it tries to fetch a package with git. Clients report the
// failure in many ways, including messages of ssh and git, but every attempt fails alike.
var gitRE = lazyregexp.New(
	`git (--\S+ )*ls-remote [^\n]*|git clone [^\n]*|syscall spawn git\b|Cannot find command 'git'|Couldn't find the binary git|failed to fetch into: [^\n]*git[^\n]*|Unable to update https?://[^\n]*\.git[^\n]*`)

// isPermanent reports whether every attempt fails in the same way: the program is missing, memory ran
// out, or the client reports a fault in the files themselves. An unreachable registry is never
// permanent.
func isPermanent(code int, text string, permanent []string) bool {
	says := func(m string) bool { return strings.Contains(text, m) }
	if slices.ContainsFunc(temporaryErrors, says) {
		return false
	}
	return code == 126 || code == 127 || code == company.ExitKilled || slices.ContainsFunc(permanent, says) ||
		slices.ContainsFunc(permanentAnswers, says)
}

// permanentAnswers are responses of registries, or of our mirrors, that a second attempt gets too.
var permanentAnswers = []string{"is not in the project's lock files", "this repository may not use it", "404 Not Found",
	"410 Gone"}

// temporaryErrors are messages about faults that may be gone at the next attempt.
var temporaryErrors = []string{
	"the registry cannot be reached now", "the registry refuses the office", "left the cache; ask again",
	"cache of packages cannot be used now", "the host's disk is full", "Temporary failure", "connection reset",
	"i/o timeout",
	"Failed to fetch", "Hash Sum mismatch", "429 Too Many", "500 Internal", "502 Bad Gateway", "503 Service",
	"504 Gateway",
}

// mostUsefulLine returns the line of a client's output to show: the first one that begins with a
// telling mark and has more text, else the last one.
func mostUsefulLine(text string, says ecosystem.Words) string {
	const least = 16
	for _, mark := range says.Telling {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, mark) && len(line) > least {
				return line
			}
		}
	}
	last := lastLine(text)
	for says.Usage != "" && (strings.HasPrefix(last, says.Usage) || strings.TrimSpace(last) == "") && text != last {
		text = strings.TrimSuffix(text, "\n"+last)
		last = lastLine(text)
	}
	return strings.TrimSpace(last)
}
