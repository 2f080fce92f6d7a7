package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/lib/retry"
	"company/internal/present/view"
)

// stopSize is how many workers are busy when the company is stopped, in how many tasks.
const (
	stopTasks   = 2
	stopPerTask = 10
)

// stopQuiet is for how long after a stop no model may be asked.
const stopQuiet = 2 * time.Second

// measureStop measures company stop while workers are busy: every other one waits for
// its model, the others for a command. The server counts what the model is asked.
func (h *pastOffice) measureStop(ctx context.Context) (lines []Line, err error) {
	if err := h.env.openDocker(ctx); err != nil {
		return nil, err
	}
	if err := commitFirst(ctx, h.repo, h.env.office+" stop"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.env.dropProject(context.WithoutCancel(ctx), h.repo)) }()
	perTask := h.env.sampleCount(stopPerTask, 1)
	workers := stopTasks * perTask
	model, err := newBusyModel(perTask)
	if err != nil {
		return nil, err
	}
	defer model.close()
	quiet := *h
	quiet.environ = append(h.environ, "COMPANY_WORKERS_WARM=0", fmt.Sprintf("COMPANY_WORKERS_MAX=%d", workers),
		"COMPANY_WORKERS_MEMORY=1500m", "COMPANY_WORKERS_DISK=64m",
		"COMPANY_GATES_LINT=none", "COMPANY_GATES_TEST=none", "COMPANY_GATES_NONE=allow",
		"COMPANY_MODELS_DEFAULT_ADAPTER=openai", "COMPANY_MODELS_DEFAULT_MODEL=bench",
		"COMPANY_MODELS_DEFAULT_BASE_URL="+model.baseURL())
	served, err := quiet.startServing(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, served.end()) }()
	run := func(args ...string) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		out, err := quiet.newCommand(ctx, args...).CombinedOutput()
		if err != nil {
			return company.E(company.EInternal, fmt.Sprintf("company %v failed", args)).Because(string(out)).Wrap(err)
		}
		return nil
	}
	for range stopTasks {
		if err := run("submit", "--no-input", "--detach", "keep busy"); err != nil {
			return nil, err
		}
	}
	late := 0
	letGo := func() {} // ends the process that resumed the work, and not the work
	defer func() { letGo() }()
	got, err := takeSamples(ctx, h.env.sampleCount(3, 1), func() (time.Duration, error) {
		if err := quiet.awaitBusy(ctx, workers); err != nil {
			return 0, err
		}
		letGo()
		asked := model.countRequests()
		began := time.Now()
		if err := run("stop"); err != nil {
			return 0, err
		}
		took := time.Since(began)
		if err := retry.Sleep(ctx, stopQuiet); err != nil {
			return 0, err
		}
		late += model.countRequests() - asked
		letGo, err = quiet.startResuming(ctx)
		return took, err
	})
	if err != nil {
		return nil, err
	}
	stop := timeLine(fmt.Sprintf("stop, %d busy workers", workers), got[0])
	calls := Line{What: "model calls after it", Ours: float64(late), Samples: len(got[0]),
		Note: fmt.Sprintf("counted at the model's server until %v after each stop", stopQuiet)}
	return []Line{stop.withTarget("≤ 1 s", stop.Ours <= 1000), calls.withTarget("0", late == 0)}, nil
}

// startResuming has the stopped work go on. The process that follows it is killed by
// letGo.
func (h *pastOffice) startResuming(ctx context.Context) (letGo func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := h.newCommand(ctx, "resume", "--no-input")
	if err := cmd.Start(); err != nil {
		cancel()
		return func() {}, err
	}
	return func() {
		cancel()
		_ = cmd.Wait() // it was killed
	}, nil
}

// awaitBusy waits until so many workers have a model's reply or a command to wait for.
func (h *pastOffice) awaitBusy(ctx context.Context, workers int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var seen view.Overview
	busy := func() (bool, error) {
		out, err := h.newCommand(ctx, "status", "-o", "json").Output()
		if err == nil {
			seen = view.Overview{}
			err = json.Unmarshal(out, &seen)
		}
		n := 0
		for _, r := range seen.Running {
			if r.Role == company.Worker && r.Doing != "" {
				n++
			}
		}
		return n == workers, err
	}
	if err := retry.Until(ctx, retry.Every(250*time.Millisecond), busy); err != nil {
		return company.E(company.EInternal, fmt.Sprintf("not all of %d workers are busy", workers)).
			Because(fmt.Sprintf("%+v", seen)).Wrap(err)
	}
	return retry.Sleep(ctx, time.Second) // for the commands to begin
}

// busyModel is a model that keeps workers busy for ever: every other one gets no reply,
// the others a command that sleeps.
type busyModel struct {
	http     *http.Server
	listener net.Listener
	serving  sync.WaitGroup
	stop     chan struct{}
	perTask  int

	mu       sync.Mutex
	requests int
	workers  int // requests of workers
}

func newBusyModel(perTask int) (*busyModel, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the model of the bench: %w", err)
	}
	m := &busyModel{listener: l, stop: make(chan struct{}), perTask: perTask}
	m.http = &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	m.serving.Go(func() { _ = m.http.Serve(l) }) // it ends with close
	return m, nil
}

func (m *busyModel) baseURL() string { return "http://" + m.listener.Addr().String() + "/v1" }

func (m *busyModel) close() {
	close(m.stop)
	_ = m.http.Close()
	m.serving.Wait()
}

func (m *busyModel) countRequests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests
}

// countRequest counts a request, and tells which of the workers' it is; 0: it is the
// manager's.
func (m *busyModel) countRequest(manager bool) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	if manager {
		return 0
	}
	m.workers++
	return m.workers
}

// ServeHTTP answers one request by a stream, or never.
func (m *busyModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
	if err != nil {
		return
	}
	n := m.countRequest(strings.Contains(string(body), `"submit_plan"`))
	name, args := "submit_plan", m.planOf()
	if n > 0 {
		name, args = "run_command", `{"command":"sleep 600","timeout_s":900}`
	}
	if n%2 == 1 {
		select {
		case <-r.Context().Done():
		case <-m.stop:
		}
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if writeCall(w, n, name, args) == nil { // otherwise the client is gone
		_, _ = io.WriteString(w, endOfReply)
	}
}

// planOf is a plan of one wave.
func (m *busyModel) planOf() string {
	var subtasks []map[string]any
	for i := range m.perTask {
		subtasks = append(subtasks, map[string]any{
			"title": fmt.Sprintf("Write file %d", i), "description": "Write one file.",
			"acceptance_criteria": []string{"it is there"},
			"write_set":           []string{fmt.Sprintf("d%d/**", i)}, "effort": "small",
		})
	}
	text, err := json.Marshal(map[string]any{"why": "files", "waves": []any{map[string]any{"subtasks": subtasks}}})
	if err != nil {
		panic(err) // of strings alone
	}
	return string(text)
}
