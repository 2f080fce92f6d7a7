package toolserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"company/internal/toolbox/toolproto"
)

const (
	// mark is the environment variable that identifies all processes of a command.
	mark = "COMPANY_PROCESS"
	// pipeDelay is how long to wait for a command's output after it ended, if a leftover process keeps the output open.
	pipeDelay = 500 * time.Millisecond
	// maxProcesses and maxLogs limit the records of ended commands.
	maxProcesses = 200
	maxLogs      = 64 << 20
)

// process is a command that Run started.
type process struct {
	id, command string
	told        string // note for the agent from before the start; may be empty
	marker      string // value of mark, unique across toolboxes
	background  bool
	argv        []string    // of a program without a shell; nil for a script
	stdin       io.Reader   // nil for no input
	printsTo    []io.Writer // where stdout and stderr go instead of its log
	cmd         *exec.Cmd
	started     time.Time
	log         *logFile
	stdout      *capture
	stderr      *capture
	done        chan struct{}
	begun       chan struct{} // closed once cmd was started or failed to start

	// Set before done is closed.
	took     time.Duration
	exitCode int
	left     bool   // processes that outlived the command were killed
	starved  string // note for the agent if the container ran out of memory meanwhile

	timedOut atomic.Bool // set by the goroutine that stops it
	swept    atomic.Bool // all processes in the container were killed with it
}

// processes are all recorded processes, oldest first.
type processes struct {
	temp   string
	mu     sync.Mutex
	prefix string // of ids
	next   int
	all    []*process
}

func newProcesses(temp string) *processes { return &processes{temp: temp, prefix: "p"} }

// setHolder makes the ids of processes differ from those under earlier holders of the run.
func (ps *processes) setHolder(n int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if n > 0 {
		ps.prefix = fmt.Sprintf("p%d-", n)
	}
}

func (ps *processes) findProcess(id string) (*process, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range ps.all {
		if p.id == id {
			return p, nil
		}
	}
	return nil, toolproto.Refuse(toolproto.KindNotFound,
		"there is no process %q; run_command with background gives an id", id)
}

func (ps *processes) listRunning() []*process {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	var out []*process
	for _, p := range ps.all {
		if !p.hasEnded() {
			out = append(out, p)
		}
	}
	return out
}

// add assigns a process its id and log. It drops the oldest ended processes if there are too many or their logs are
// too large.
func (ps *processes) add(p *process) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	size := int64(0)
	for _, q := range ps.all {
		size += q.log.bytesWritten()
	}
	kept := ps.all[:0]
	for i, q := range ps.all {
		if (size > maxLogs || len(ps.all)-i > maxProcesses) && q.hasEnded() {
			size -= q.log.bytesWritten()
			q.log.closeAndRemove()
			continue
		}
		kept = append(kept, q)
	}
	ps.all = kept
	ps.next++
	p.id = fmt.Sprintf("%s%d", ps.prefix, ps.next)
	p.log = &logFile{path: filepath.Join(ps.temp, p.id+".log")}
	p.stdout, p.stderr = newCapture(p.log), newCapture(p.log)
	ps.all = append(ps.all, p)
}

func (p *process) hasEnded() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// stop ends a process and its descendants: SIGTERM, grace, SIGKILL. It first waits for a process that is about to
// start, which would survive otherwise.
func (s *Server) stop(p *process) {
	<-p.begun
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	p.sendSignal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(s.grace):
	}
	p.sendSignal(syscall.SIGKILL)
	if p.hasSurvivors() || hasTooManyProcesses(s.processes.listRunning(), s.services.listPIDs()) {
		// They multiply faster than they are found, or hide their origin.
		p.swept.Store(s.children.endEverything())
	}
	<-p.done // WaitDelay limits this wait once the process is dead
}

// hasSurvivors reports whether processes of a killed command still exist after being killed repeatedly for a second.
// The kernel needs a moment to remove them.
func (p *process) hasSurvivors() bool {
	for range 20 {
		if len(listMarked(mark+"="+p.marker)) == 0 {
			return false
		}
		time.Sleep(50 * time.Millisecond)
		p.sendSignal(syscall.SIGKILL)
	}
	return true
}

func (p *process) sendSignal(sig syscall.Signal) {
	if !p.hasEnded() {
		_ = syscall.Kill(-p.cmd.Process.Pid, sig)
	}
	for _, pid := range listMarked(mark + "=" + p.marker) {
		_ = syscall.Kill(pid, sig)
	}
}

func (s *Server) killAll() {
	var wg sync.WaitGroup
	for _, p := range s.processes.listRunning() {
		wg.Go(func() { s.stop(p) })
	}
	wg.Wait()
}

func (p *process) toResult() toolproto.RunResult {
	runResult := toolproto.RunResult{
		ProcessID: p.id, Running: !p.hasEnded(),
		Stdout: p.stdout.toOutput(), Stderr: p.stderr.toOutput(), LogBytes: p.log.bytesWritten(), Note: p.told,
	}
	if runResult.Running {
		runResult.DurationMS = time.Since(p.started).Milliseconds()
		return runResult
	}
	runResult.DurationMS = p.took.Milliseconds()
	runResult.ExitCode = p.exitCode
	runResult.TimedOut = p.timedOut.Load()
	var notes []string
	if p.told != "" {
		notes = append(notes, p.told)
	}
	if p.swept.Load() {
		notes = append(notes, "it left so many processes that everything in the container was ended, background processes "+
			"too")
	} else if p.timedOut.Load() {
		notes = append(notes, timeoutNote(p.command))
	}
	if p.starved != "" {
		notes = append(notes, p.starved)
	}
	if p.left && !p.timedOut.Load() && !p.background {
		notes = append(notes, "processes that the command left running were killed; use background for one that stays")
	}
	switch output := runResult.Stderr.String() + runResult.Stdout.String(); {
	case strings.Contains(output, toolproto.ModuleNotThere):
		notes = append(notes, "a Go module that is named there is not in the image, and nothing can be fetched into its "+
			"cache: ask for it with add_dependency, or do without")
	case runResult.ExitCode != 0:
		if note := noNetworkNote(output); note != "" {
			notes = append(notes, note)
		}
	}
	if runResult.Stdout.Omitted+runResult.Stderr.Omitted > 0 {
		notes = append(notes, "output was shortened; filter it (grep, head, tail) to see what is left out")
	}
	runResult.Note = strings.Join(notes, "; ")
	return runResult
}

func (s *Server) checkProcess(_ context.Context, r toolproto.ProcessRequest) (toolproto.RunResult, error) {
	process, err := s.processes.findProcess(r.ProcessID)
	if err != nil {
		return toolproto.RunResult{}, err
	}
	return process.toResult(), nil
}

func (s *Server) stopProcess(_ context.Context, r toolproto.ProcessRequest) (toolproto.RunResult, error) {
	process, err := s.processes.findProcess(r.ProcessID)
	if err != nil {
		return toolproto.RunResult{}, err
	}
	if !process.hasEnded() {
		s.stop(process)
	}
	return process.toResult(), nil
}

func (s *Server) listProcesses(context.Context, toolproto.Empty) (toolproto.ProcessList, error) {
	list := toolproto.ProcessList{Processes: []toolproto.Process{}}
	for _, process := range s.processes.listRunning() {
		list.Processes = append(list.Processes, toolproto.Process{
			ProcessID: process.id, Command: process.command, Background: process.background,
			DurationMS: time.Since(process.started).Milliseconds(),
		})
	}
	return list, nil
}

func (s *Server) handleLog(w http.ResponseWriter, r *http.Request) {
	process, err := s.processes.findProcess(r.URL.Query().Get("process_id"))
	if err != nil {
		writeAnswer(w, nil, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_ = process.log.copy(w)
}

// findProgram is like exec.LookPath with the PATH of a command.
func findProgram(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(lookupVar(env, "PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", &exec.Error{Name: name, Err: errors.Join(exec.ErrNotFound)}
}
