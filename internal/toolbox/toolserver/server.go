// Package toolserver implements the toolbox: the handlers of the tools for one workspace, the processes that they
// start, and the two modes of the binary. These are serve (PID 1 of a worker's container) and gate (extract a tar,
// then become the gate's command).
//
// It runs inside the container as the agent's user. So it helps the agent, but is not a security boundary. It refuses
// requests that would fail and explains why, limits sizes, and ends all processes when the host is gone. The host does
// not trust its answers.
package toolserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"company/internal/toolbox/toolproto"
)

// Config configures a Server. Root and Temp are created if absent.
type Config struct {
	Root  string        // the workspace; empty means toolproto.Workspace
	Temp  string        // logs of commands and the checkpoint's index; empty means a new temporary folder
	Env   []string      // environment of commands before defaults are added; nil means os.Environ()
	Grace time.Duration // time from SIGTERM to SIGKILL; zero means toolproto.StopGrace, negative means none
	Ready string        // script to run in a fresh clone; may be empty or absent
	// Services is the file that lists the servers beside commands. It may be empty or absent.
	Services string
	// Cgroup is the folder with the counters of the container's limits. If empty, it is cgroupDir.
	Cgroup string
	// Shutdown is called after answering the host's request to shut down.
	Shutdown func()
}

// Server implements the tools of one workspace.
type Server struct {
	root     *os.Root
	dir      string // Root, absolute and without symlinks
	temp     string
	env      []string
	grace    time.Duration
	readyAt  string
	shutdown func()

	memory    memory
	children  *children
	services  *services
	processes *processes
	repo      repo

	seenMu sync.Mutex
	seen   map[string]digest // path → content that the agent knows
	// written holds the paths that tools have written, under seenMu. A later container does not need them: it gets no
	// ignored files.
	written map[string]bool
	files   sync.Mutex // serializes writers of files

	newTimer func(time.Duration) *time.Timer // for the timeouts of commands

	lastCall atomic.Pointer[time.Time] // includes the monotonic reading, so that setting the wall clock does not matter
}

// New opens the workspace. Close ends all processes that were started.
func New(config Config) (*Server, error) {
	config.Root = cmp.Or(config.Root, toolproto.Workspace)
	if config.Env == nil {
		config.Env = os.Environ()
	}
	config.Grace = cmp.Or(config.Grace, toolproto.StopGrace)
	if config.Shutdown == nil {
		config.Shutdown = func() {}
	}
	if err := os.MkdirAll(config.Root, 0o755); err != nil {
		return nil, fmt.Errorf("make the workspace: %w", err)
	}
	dir, err := filepath.EvalSymlinks(config.Root)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	if config.Temp == "" {
		if config.Temp, err = os.MkdirTemp("", "toolbox-"); err != nil {
			return nil, fmt.Errorf("make a folder for logs: %w", err)
		}
	} else if err := os.MkdirAll(config.Temp, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for logs: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	server := &Server{
		root: root, dir: dir, temp: config.Temp, env: buildEnv(config.Env), grace: config.Grace, readyAt: config.Ready,
		shutdown: config.Shutdown, memory: memory{dir: cmp.Or(config.Cgroup, cgroupDir)}, children: newChildren(),
		seen: make(map[string]digest), written: make(map[string]bool), newTimer: time.NewTimer,
	}
	if server.services, err = readServices(config.Services, server.children, server.env); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	server.env = server.services.addEnv(server.env)
	server.processes = newProcesses(server.temp)
	server.noteCall()
	return server, nil
}

// Close kills all processes and removes the temporary folder.
func (s *Server) Close() error {
	s.killAll()
	s.services.stopServices()
	s.memory.close()
	return errors.Join(s.root.Close(), os.RemoveAll(s.temp))
}

// Idle returns the time since the host's last call.
func (s *Server) Idle() time.Duration { return time.Since(*s.lastCall.Load()) }

func (s *Server) noteCall() {
	now := time.Now()
	s.lastCall.Store(&now)
}

// maxRequest limits the size of a request: the largest file in base64, with some overhead.
const maxRequest = toolproto.MaxFile/3*4 + 1<<20

// Handler returns the HTTP handler of the protocol.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	handleTool(mux, s, "heartbeat",
		func(context.Context, toolproto.Empty) (toolproto.Empty, error) { return toolproto.Empty{}, nil })
	handleTool(mux, s, "shutdown", func(context.Context, toolproto.Empty) (toolproto.Empty, error) {
		// Delay it, so that the answer is sent first.
		time.AfterFunc(50*time.Millisecond, s.shutdown)
		return toolproto.Empty{}, nil
	})
	mux.HandleFunc("POST /v1/attach", s.handleAttach)
	handleTool(mux, s, "prepare", s.prepareWorkspace)
	handleTool(mux, s, "read_file", s.readFile)
	handleTool(mux, s, "write_file", s.writeFile)
	handleTool(mux, s, "edit_file", s.editFile)
	handleTool(mux, s, "search", s.searchFiles)
	handleTool(mux, s, "list_files", s.listFiles)
	mux.HandleFunc("POST /v1/run_command", s.handleRun)
	mux.HandleFunc("POST /v1/program", s.handleProgram)
	mux.HandleFunc("POST /v1/home", s.handleHome)
	handleTool(mux, s, "check_process", s.checkProcess)
	handleTool(mux, s, "stop_process", s.stopProcess)
	handleTool(mux, s, "list_processes", s.listProcesses)
	handleTool(mux, s, "kill_all", func(context.Context, toolproto.Empty) (toolproto.Empty, error) {
		s.killAll()
		return toolproto.Empty{}, nil
	})
	handleTool(mux, s, "git_status", s.gitStatus)
	handleTool(mux, s, "git_commit", s.gitCommit)
	handleTool(mux, s, "push", s.handlePush)
	handleTool(mux, s, "checkpoint", s.saveCheckpoint)
	handleTool(mux, s, "recall", s.recallKnown)
	mux.HandleFunc("POST /v1/log", s.handleLog)
	mux.HandleFunc("POST /v1/tree", s.handleTree)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.noteCall()
		mux.ServeHTTP(w, r)
		s.noteCall()
	})
}

// handleTool registers the handler of a tool. It decodes the request, and encodes the result or a Refusal. Any other
// error is a fault of the toolbox.
func handleTool[Q, A any](mux *http.ServeMux, _ *Server, tool string, do func(context.Context, Q) (A, error)) {
	mux.HandleFunc("POST /v1/"+tool, func(w http.ResponseWriter, r *http.Request) {
		request, err := readRequest[Q](w, r, tool)
		if err != nil {
			writeAnswer(w, nil, err)
			return
		}
		result, err := do(r.Context(), request)
		writeAnswer(w, result, err)
	})
}

// readRequest decodes the arguments of a tool.
func readRequest[Q any](w http.ResponseWriter, r *http.Request, tool string) (Q, error) {
	var request Q
	body := http.MaxBytesReader(w, r.Body, maxRequest)
	if err := json.NewDecoder(body).Decode(&request); err != nil {
		return request, toolproto.Refuse(toolproto.KindArgument, "bad arguments for %s: %v", tool, err)
	}
	_, _ = io.Copy(io.Discard, body)
	return request, nil
}

func writeAnswer(w http.ResponseWriter, result any, err error) {
	status := http.StatusOK
	var refusal *toolproto.Refusal
	switch {
	case errors.As(err, &refusal):
		status, result = http.StatusUnprocessableEntity, refusal
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	data, err := json.Marshal(result)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", itoa(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data)
}
