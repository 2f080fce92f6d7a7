package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"company/internal/bus"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/ledger"
	"company/internal/lib/retry"
	"company/internal/office"
	"company/internal/present/view"
)

// benchOffice measures an office with a long past.
func benchOffice(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	tasks := w.sampleCount(10_000, 30)
	dir := filepath.Join(w.dir, "office")
	repo := filepath.Join(dir, "repo")
	if err := errors.Join(os.MkdirAll(repo, 0o700), os.Mkdir(filepath.Join(dir, "run"), 0o700)); err != nil {
		return nil, err
	}
	if _, err := runGit(ctx, repo, nil, "init", "-q", "-b", "main"); err != nil {
		return nil, err
	}
	w.Progress(fmt.Sprintf("an office with %d tasks of the past is made", tasks))
	h := newPastOffice(w, dir, tasks)
	if err := h.open(ctx, func(off *office.Office, b bus.Bus) error {
		return fillWithPast(ctx, w, b, off, repo, tasks)
	}); err != nil {
		return nil, err
	}
	for _, measure := range []func(context.Context) ([]Line, error){h.measureStart, h.measureServed, h.measureStop} {
		more, err := measure(ctx)
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	return lines, nil
}

// pastOffice is the office that is measured.
type pastOffice struct {
	env     *benchEnv
	repo    string
	tasks   int
	environ []string
}

// newPastOffice is the office of the checkout repo in a folder, for commands that have
// their own files in that folder, too.
func newPastOffice(w *benchEnv, dir string, tasks int) *pastOffice {
	h := &pastOffice{env: w, repo: filepath.Join(dir, "repo"), tasks: tasks,
		environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run")}}
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		h.environ = append(h.environ, "DOCKER_HOST="+host)
	}
	return h
}

// open opens the office's folders and its bus for a while.
func (h *pastOffice) open(ctx context.Context, use func(*office.Office, bus.Bus) error) (err error) {
	paths, err := office.Find(office.FindOptions{Dir: h.repo})
	if err != nil {
		return err
	}
	off, err := office.Open(ctx, paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, off.Close()) }()
	b, err := nats.Open(ctx, nats.Options{Folder: off.BusFolder, Logger: h.env.Logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return use(off, b)
}

// measureStart measures from the bus to the state, and how large that is.
func (h *pastOffice) measureStart(ctx context.Context) ([]Line, error) {
	var size int64
	var opened, read []time.Duration // until the bus is open, and the ledger on it
	got, err := takeSamples(ctx, h.env.sampleCount(10, 1), func() (took time.Duration, err error) {
		began := time.Now()
		err = h.open(ctx, func(off *office.Office, b bus.Bus) error {
			opened = append(opened, time.Since(began))
			l, err := ledger.Open(ctx, b, ledger.Options{Folder: off.StateFolder, Logger: h.env.Logger})
			if err != nil {
				return err
			}
			read = append(read, time.Since(began)-opened[len(opened)-1])
			o, err := orchestrator.Open(ctx, orchestrator.Config{Ledger: l, Office: off.ID, Logger: h.env.Logger})
			if err != nil {
				return err
			}
			took = time.Since(began)
			var n countWriter
			err = o.View().WriteJSON(&n)
			size = int64(n)
			return err
		})
		return took, err
	})
	if err != nil {
		return nil, err
	}
	start := Line{What: fmt.Sprintf("start, %d past tasks", h.tasks), Unit: "ms", Ours: medianMillis(got[0]),
		Samples: len(got[0]), Note: "from the closed office to its state"}
	state := Line{What: "its state", Unit: "MB", Ours: float64(size) / 1e6, Samples: 1, Note: "as a snapshot holds it"}
	return []Line{
		start.withTarget("≤ 500 ms", start.Ours <= 500),
		{What: "of it, the bus", Unit: "ms", Ours: medianMillis(opened[1:]), Samples: len(opened) - 1},
		{What: "of it, the ledger", Unit: "ms", Ours: medianMillis(read[1:]), Samples: len(read) - 1},
		state.withTarget("≤ 10 MB", state.Ours <= 10),
	}, nil
}

// countWriter counts bytes.
type countWriter int64

func (n *countWriter) Write(p []byte) (int, error) {
	*n += countWriter(len(p))
	return len(p), nil
}

// newCommand is the program in the office's checkout.
func (h *pastOffice) newCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, h.env.Program, args...)
	cmd.Dir, cmd.Env = h.repo, h.environ
	return cmd
}

// servedOffice is a company that serves the office, as a process.
type servedOffice struct {
	pid int
	end func() error // has it end, and waits for that
}

// startServing starts a company that serves the office, and waits until it does.
func (h *pastOffice) startServing(ctx context.Context) (s servedOffice, err error) {
	serve := h.newCommand(ctx, "serve")
	said := &tail{}
	serve.Stdout, serve.Stderr = said, said
	serve.Cancel = func() error { return serve.Process.Signal(syscall.SIGTERM) }
	if err := serve.Start(); err != nil {
		return s, err
	}
	ended := make(chan error, 1)
	go func() { ended <- serve.Wait() }()
	s = servedOffice{pid: serve.Process.Pid, end: func() error {
		_ = serve.Process.Signal(syscall.SIGTERM) // it may have ended
		if e := <-ended; e != nil {
			return company.E(company.EInternal, "company serve failed").Because(said.String()).Wrap(e)
		}
		return nil
	}}
	atWork := func() (bool, error) {
		out, err := h.newCommand(ctx, "status", "-o", "json").Output()
		var v view.Overview
		return err == nil && json.Unmarshal(out, &v) == nil && v.Open, nil
	}
	waited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := retry.Until(waited, retry.Every(100*time.Millisecond), atWork); err != nil {
		return s, errors.Join(company.E(company.EInternal, "company serve does not serve").
			Because(said.String()).Wrap(err), s.end())
	}
	return s, nil
}

// measureServed measures the commands at an office that is served, and what serving takes.
func (h *pastOffice) measureServed(ctx context.Context) (lines []Line, err error) {
	serve, err := h.startServing(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, serve.end()) }()
	run := func(args ...string) func() (time.Duration, error) {
		return timeFunc(func() error {
			out, err := h.newCommand(ctx, args...).CombinedOutput()
			if err != nil {
				return company.E(company.EInternal, fmt.Sprintf("company %v failed", args)).Because(string(out)).Wrap(err)
			}
			return nil
		})
	}
	got, err := takeSamples(ctx, h.env.sampleCount(20, 1), run("version"), run("status"), run("list"), run("show", "t1"))
	if err != nil {
		return nil, err
	}
	status := compareLine("status, served", "company version", got[1], got[0])
	lines = append(lines, status.withTarget("≤ 50 ms", status.Ours <= 50),
		compareLine("list, served", "company version", got[2], got[0]),
		compareLine("show of an archived task, served", "company version", got[3], got[0]))
	if err := retry.Sleep(ctx, time.Duration(h.env.sampleCount(40, 1))*time.Second); err != nil {
		return nil, err
	}
	held, err := ownMemory(serve.pid)
	if err != nil {
		return nil, err
	}
	idle := Line{What: "serve, idle", Unit: "MB", Ours: held, Samples: 1,
		Note: "anonymous and shared memory, without the program's text"}
	return append(lines, idle.withTarget("≤ 60 MB", idle.Ours <= 60)), nil
}

// tail keeps the end of a process's output.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-4000):]
	return len(p), nil
}

func (t *tail) String() string { return string(t.text) }

// ownMemory is the memory that a process holds by itself, in MB (decision 0077).
func ownMemory(pid int) (float64, error) {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, company.E(company.EConfig, "the memory of a process cannot be read").Wrap(err).Fix("run the bench on Linux")
	}
	var sum float64
	for line := range strings.Lines(string(status)) {
		for _, own := range []string{"RssAnon:", "RssShmem:"} {
			if n, ok := strings.CutPrefix(line, own); ok {
				kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(n), "kB")), 64)
				if err != nil {
					return 0, err
				}
				sum += kib * 1.024 / 1000
			}
		}
	}
	return sum, nil
}
