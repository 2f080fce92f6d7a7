// Package toolserver is the toolbox's own side: the tools' handlers over one
// workspace, the processes they start, and the two modes of the binary, serve
// (PID 1 of a worker's container) and gate (untar, then become the gate's
// command).
//
// It runs inside the container, under the agent's own user. So it promises
// help, not safety: it refuses what would go wrong and says why, keeps its
// promises on bytes, and ends everything when the host is gone. Nothing that
// it says is believed by the host.
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

	"company/internal/toolproto"
)

// Config of a Server. Root and Temp are created when absent.
type Config struct {
	Root  string        // the workspace; toolproto.Workspace when empty
	Temp  string        // logs of commands and the checkpoint's index; a new folder in the system's when empty
	Env   []string      // what commands get before the built-in defaults are filled in; os.Environ() when nil
	Grace time.Duration // from SIGTERM to SIGKILL; toolproto.StopGrace when zero, none when negative
	Ready string        // script that is run in a fresh clone; "" or absent = nothing
	// Services is the file that lists the servers beside commands; "" or absent = none.
	Services string
	// Cgroup is where the counters of the container's limits lie; cgroupDir when empty.
	Cgroup string
	// Shutdown is called, once answered, when the host asks for the end.
	Shutdown func()
}

// Server is the tools of one workspace.
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
	spare     spareShells
	repo      repo

	seenMu sync.Mutex
	seen   map[string]digest // path → content that the agent knows
	files  sync.Mutex        // one writer of files at a time

	lastCall atomic.Pointer[time.Time] // with its monotonic reading: a wall clock that is set is no silence
}

// New opens the workspace. Close ends every process that was started.
func New(c Config) (*Server, error) {
	c.Root = cmp.Or(c.Root, toolproto.Workspace)
	if c.Env == nil {
		c.Env = os.Environ()
	}
	c.Grace = cmp.Or(c.Grace, toolproto.StopGrace)
	if c.Shutdown == nil {
		c.Shutdown = func() {}
	}
	if err := os.MkdirAll(c.Root, 0o755); err != nil {
		return nil, fmt.Errorf("make the workspace: %w", err)
	}
	dir, err := filepath.EvalSymlinks(c.Root)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	if c.Temp == "" {
		if c.Temp, err = os.MkdirTemp("", "toolbox-"); err != nil {
			return nil, fmt.Errorf("make a folder for logs: %w", err)
		}
	} else if err := os.MkdirAll(c.Temp, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for logs: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	s := &Server{
		root: root, dir: dir, temp: c.Temp, env: buildEnv(c.Env), grace: c.Grace, readyAt: c.Ready,
		shutdown: c.Shutdown, memory: memory{dir: cmp.Or(c.Cgroup, cgroupDir)}, children: newChildren(), seen: make(map[string]digest),
	}
	if s.services, err = readServices(c.Services, s.children, s.env); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	s.env = s.services.addEnv(s.env)
	s.processes = newProcesses(s.temp)
	s.spare.children = s.children
	s.noteCall()
	return s, nil
}

// Close kills every process and gives the folders back.
func (s *Server) Close() error {
	s.killAll()
	s.spare.close()
	s.services.stopServices()
	s.memory.close()
	return errors.Join(s.root.Close(), os.RemoveAll(s.temp))
}

// Idle is how long ago the host last called.
func (s *Server) Idle() time.Duration { return time.Since(*s.lastCall.Load()) }

func (s *Server) noteCall() {
	now := time.Now()
	s.lastCall.Store(&now)
}

// maxRequest bounds a request: the largest file in base64 with room around it.
const maxRequest = toolproto.MaxFile/3*4 + 1<<20

// Handler serves the protocol.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	handleTool(mux, s, "heartbeat", func(context.Context, toolproto.Empty) (toolproto.Empty, error) { return toolproto.Empty{}, nil })
	handleTool(mux, s, "shutdown", func(context.Context, toolproto.Empty) (toolproto.Empty, error) {
		// Later, so that the answer gets out.
		time.AfterFunc(50*time.Millisecond, s.shutdown)
		return toolproto.Empty{}, nil
	})
	handleTool(mux, s, "baked", s.nameBaked)
	handleTool(mux, s, "lay_out", s.layBakedTree)
	mux.HandleFunc("POST /v1/seed", s.handleSeed)
	mux.HandleFunc("POST /v1/attach", s.handleAttach)
	handleTool(mux, s, "prepare", s.prepareWorkspace)
	handleTool(mux, s, "read_file", s.readFile)
	handleTool(mux, s, "write_file", s.writeFile)
	handleTool(mux, s, "edit_file", s.editFile)
	handleTool(mux, s, "search", s.searchFiles)
	handleTool(mux, s, "list_files", s.listFiles)
	mux.HandleFunc("POST /v1/run_command", s.handleRun)
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
		if s.spare.isMissing() {
			_ = http.NewResponseController(w).Flush() // the answer goes first
			s.spare.startNext()
		}
	})
}

// handleTool serves one tool: a request struct in, a result struct or a Refusal
// out. Any other error is a fault of the toolbox.
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

// readRequest reads the arguments of a tool.
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
