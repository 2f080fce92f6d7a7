package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/depproxy"
	"company/internal/dockerapi"
	"company/internal/ecosystem"
	"company/internal/image/toolboxbin"
	"company/internal/mux"
	"company/internal/toolproto"
)

// installToolbox is where a build container has its toolbox, whatever the image
// holds.
const installToolbox = "/opt/company/errand"

// buildOut is where staged files lie, and what a build container leaves.
const buildOut = "/opt/out"

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
	ifKilled   string                              // see ecosystem.Install
	timeout    time.Duration
}

var errContainerGone = errors.New("the build container is gone")

// exitKilled is how a container ends that is killed, mostly for memory.
const exitKilled = 137

// buildSession is the open container of an installation.
type buildSession struct {
	ctx    context.Context
	client *toolproto.Client
}

// runCommand runs a command and gives its whole outcome; a time-out is an error.
func (s *buildSession) runCommand(dir, command string, env map[string]string) (toolproto.RunResult, error) {
	r, err := s.client.Run(s.ctx, toolproto.RunRequest{Command: command, Cwd: dir, Env: env, TimeoutS: int(toolproto.MaxCommandTimeout / time.Second)})
	if err != nil {
		return r, err
	}
	if r.TimedOut {
		return r, fmt.Errorf("it took longer than %s", toolproto.MaxCommandTimeout)
	}
	return r, nil
}

// registryURL is where a build container reaches the registries: at the toolbox's own port.
var registryURL = fmt.Sprintf("http://127.0.0.1:%d", toolproto.GatewayPort)

// runInstall makes the container, does the work, and clears up.
func (b *Builder) runInstall(ctx context.Context, e installJob, work string) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	files, err := stageInstall(e, work)
	if err != nil {
		return err
	}
	defer files.removeFile()
	// The setting stands in the command: an image that is committed from the
	// container inherits its environment.
	spec := container.Spec{Profile: container.Build, Name: e.name, Image: e.image, Files: files.newReader(),
		Command: []string{"/bin/sh", "-c", "TOOLBOX_WORKSPACE=" + buildOut + " exec " + installToolbox + " serve"}}
	if e.root {
		spec.Profile = container.BuildRoot
	}
	began := time.Now()
	c, remove, err := b.startBuild(ctx, spec)
	if err != nil {
		return err
	}
	defer remove()
	started := time.Now()
	served := b.serveBuild(ctx, c, e)
	worked := time.Now()
	mayBeKilled := e.ifKilled != "" && errors.Is(served, errContainerGone)
	if served != nil && !mayBeKilled {
		return e.access.explainError(served)
	}
	exit, err := c.Wait(ctx)
	switch {
	case err != nil:
		return err
	case served != nil && exit.Code != exitKilled:
		return e.access.explainError(served)
	case served != nil:
		b.reportProgress("%s", e.ifKilled)
		b.log.InfoContext(ctx, "a build container was killed", "job", e.name, "err", served)
	}
	if e.collect == nil {
		return nil
	}
	err = e.collect(ctx, dockerapi.BuildPrefix+e.name)
	b.log.DebugContext(ctx, "a build container was used", "job", e.name, "start", started.Sub(began), "work", worked.Sub(started), "collect", time.Since(worked))
	return err
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
func (b *Builder) serveBuild(ctx context.Context, c container.Container, e installJob) error {
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
	if err := e.work(&buildSession{ctx, client}); err != nil {
		if session.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: %w: %s", errContainerGone, err, strings.ToValidUTF8(strings.TrimSpace(c.Stderr()), "?"))
		}
		return err
	}
	return client.Shutdown(ctx)
}

// registryAccess is what a build container, or the host's go command, may have of
// registries.
type registryAccess struct {
	store  *depproxy.Store
	policy *depproxy.Policy

	mu          sync.Mutex
	withheld    error // the first refusal of a package that is not for this repository
	unreachable bool  // a registry did not answer as it should
}

func (f *registryAccess) newHandler() http.Handler {
	if f == nil || f.store == nil || f.policy == nil {
		return http.NotFoundHandler()
	}
	serves := f.store.NewHandler(depproxy.HandlerOptions{Policy: f.policy, OnRefusal: func(r depproxy.FetchReport) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.withheld == nil {
			f.withheld = r.Withheld
		}
	}})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &statusWriter{ResponseWriter: w}
		serves.ServeHTTP(answer, r)
		if answer.status >= http.StatusInternalServerError {
			f.mu.Lock()
			f.unreachable = true
			f.mu.Unlock()
		}
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (a *statusWriter) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap gives the writer below to http.ResponseController.
func (a *statusWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// explainError adds our refusal of a package that is not for this repository to
// a client's failure: clients do not always show it. Nor do they tell a
// registry that is away from one without the package: after the former another
// try may succeed.
func (f *registryAccess) explainError(err error) error {
	if f == nil || err == nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var e *company.Error
	if errors.As(f.withheld, &e) {
		return e.Wrap(err)
	}
	if f.unreachable && errors.As(err, &e) && company.NeedsPerson(e) {
		c := *e
		c.Class = company.Recoverable
		return &c
	}
	return err
}

// clientError makes the error of a step that ended badly: the end of its
// output, and the line of it that says most as the summary.
func clientError(says ecosystem.Words, step ecosystem.Step, r toolproto.RunResult) error {
	text := strings.TrimSpace(r.Text())
	e := company.E(company.EImage, step.Failure).Because(fmt.Sprintf("exit code %d", r.ExitCode)).Wrap(errors.New(mostUsefulLine(text, says.Telling))).Fix(step.Fix)
	e.Details = text
	if isPermanent(r.ExitCode, text, says.Permanent) {
		return e.NeedsPerson()
	}
	return e
}

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
	"the registry cannot be reached now", "the registry refuses the office", "left the cache; ask again", "the host's disk is full", "Temporary failure", "connection reset", "i/o timeout",
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
