package testenv

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"company/internal/present/feed"
)

// Process is a command of company that runs beside the test, with -o json: its
// feed can be waited on, and it can be killed.
type Process struct {
	h    *House
	name string
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan struct{} // closed when the process has ended and its streams are read

	mu      sync.Mutex
	items   []feed.Item
	rest    strings.Builder // lines of stderr that are no items: errors
	changed chan struct{}   // closed and replaced with every line
}

// Start starts a command of company. What still runs when the test ends is
// killed.
func (h *House) Start(args ...string) *Process {
	h.T.Helper()
	p := &Process{h: h, name: strings.Join(args, " "), cmd: h.Command(append(args, "-o", "json")...),
		done: make(chan struct{}), changed: make(chan struct{})}
	p.cmd.Stdout = &p.out
	feed, err := p.cmd.StderrPipe()
	if err != nil {
		h.T.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		h.T.Fatal(err)
	}
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(feed)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			p.line(lines.Bytes())
		}
		_ = p.cmd.Wait() // how it ended is in the ProcessState
		p.line(nil)
	}()
	h.T.Cleanup(func() {
		p.Signal(syscall.SIGKILL)
		<-p.done
	})
	return p
}

func (p *Process) line(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var it feed.Item
	if json.Unmarshal(text, &it) == nil && it.Kind != "" {
		p.items = append(p.items, it)
	} else if len(text) > 0 {
		p.rest.Write(text)
		p.rest.WriteByte('\n')
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// Items is a copy of the feed so far.
func (p *Process) Items() []feed.Item {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]feed.Item(nil), p.items...)
}

// Until waits for an item of the feed, among those that were there before too.
func (p *Process) Until(timeout time.Duration, what string, is func(feed.Item) bool) feed.Item {
	p.h.T.Helper()
	end := time.After(timeout)
	for seen := 0; ; {
		p.mu.Lock()
		items, changed := p.items, p.changed
		p.mu.Unlock()
		for ; seen < len(items); seen++ {
			if is(items[seen]) {
				return items[seen]
			}
		}
		select {
		case <-changed:
		case <-p.done:
			if len(p.Items()) == seen {
				p.h.T.Fatalf("company %s ended before %s:\n%s", p.name, what, p.Tell())
			}
		case <-end:
			p.h.T.Fatalf("company %s: no %s within %s:\n%s", p.name, what, timeout, p.Tell())
		}
	}
}

// Event waits for an event of a kind ("gate.finished"), of a subtask where
// one is named.
func (p *Process) Event(timeout time.Duration, kind, subtask string) feed.Item {
	p.h.T.Helper()
	return p.Until(timeout, kind, func(it feed.Item) bool {
		return it.Seq > 0 && it.Kind == kind && (subtask == "" || string(it.Subtask) == subtask)
	})
}

// Signal sends a signal to the process and all its children.
func (p *Process) Signal(s syscall.Signal) {
	select {
	case <-p.done: // its number may be somebody else's by now
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, s) // it may end at this moment
	}
}

// Kill kills the process as kill -9 does, and checks that this is what ended
// it.
func (p *Process) Kill() {
	p.h.T.Helper()
	p.Signal(syscall.SIGKILL)
	if r := p.Wait(Patience); r.Signal != syscall.SIGKILL {
		p.h.T.Fatalf("company %s was to die by SIGKILL, and ended with %d, signal %v:\n%s", p.name, r.Code,
			r.Signal, p.Tell())
	}
}

// Wait waits for the end of the process.
func (p *Process) Wait(timeout time.Duration) Result {
	p.h.T.Helper()
	select {
	case <-p.done:
	case <-time.After(timeout):
		stopForTrace(p.cmd.Process)
		<-p.done
		p.h.T.Fatalf("company %s: not over after %s:\n%s", p.name, timeout, p.Tell())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := Result{Code: p.cmd.ProcessState.ExitCode(), Stdout: p.out.String(), Stderr: p.rest.String()}
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.Signal = ws.Signal()
	}
	return r
}

// PID is the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Tell is the feed so far and what else was said, for a failed test.
func (p *Process) Tell() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, it := range p.items {
		b.WriteString(it.Time.Format("15:04:05.000 ") + string(it.Task) + " " + string(it.Subtask) + " " + string(it.Run) +
			" " + it.Kind + " " + it.Text + "\n")
	}
	b.WriteString(p.rest.String())
	return b.String()
}

// WaitUpTo waits for the end of the process. One that is not over in time is interrupted,
// as by Ctrl-C, and killed where that does not end it within a minute. over reports
// whether it ended by itself.
func (p *Process) WaitUpTo(timeout time.Duration) (r Result, over bool) {
	p.h.T.Helper()
	select {
	case <-p.done:
		return p.Wait(Patience), true
	case <-time.After(timeout):
	}
	p.Signal(syscall.SIGINT)
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		p.Signal(syscall.SIGKILL)
	}
	return p.Wait(Patience), false
}
