package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/demo/check"
)

// witness writes down what the Docker daemon says about containers.
type witness struct {
	cmd  *exec.Cmd
	file *os.File
}

// watchDocker starts to write down events. It asks for all since now, so none
// is lost while the command connects.
func watchDocker(ctx context.Context, path string) (*witness, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "docker", "events",
		"--since", fmt.Sprintf("%d.%09d", now.Unix(), now.Nanosecond()), "--filter", "type=container", "--format",
		"{{json .}}")
	cmd.Stdout, cmd.Stderr = f, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it ends when we say so
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &witness{cmd: cmd, file: f}, nil
}

// stop ends the record once it is complete: a signal that a container of ours
// ignores is the last event in it.
func (w *witness) stop(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	_, err := output(exec.CommandContext(ctx, "docker", "kill", "--signal", "CONT", id))
	if err == nil {
		_, arrived := hosttest.WaitUntil(func() (any, bool) {
			var text []byte
			text, err = os.ReadFile(w.file.Name())
			return nil, err != nil || lastKill(text, id)
		})
		if !arrived {
			err = errors.New("the daemon's last event did not arrive")
		}
	}
	if serr := w.cmd.Process.Signal(syscall.SIGTERM); serr != nil && !errors.Is(serr, os.ErrProcessDone) {
		err = errors.Join(err, serr)
	}
	_ = w.cmd.Wait() // it ends by our signal
	return errors.Join(err, w.file.Close())
}

// lastKill looks for the event of a signal to a container, in whole lines.
func lastKill(events []byte, id string) bool {
	for line := range bytes.Lines(events) {
		if bytes.Contains(line, []byte(`"kill"`)) && bytes.Contains(line, []byte(id)) && bytes.HasSuffix(line, []byte("\n")) {
			return true
		}
	}
	return false
}

// minutes writes down what the reviewer found, as it goes over the wire: what
// company makes of it is another matter.
type minutes struct {
	brain scripted.Responder
	mu    sync.Mutex
	file  *os.File
	err   error
}

func newMinutes(path string, b scripted.Responder) (*minutes, error) {
	f, err := os.Create(path)
	return &minutes{brain: b, file: f}, err
}

// reviewed is where a reviewer's first message says which commit it is about.
var reviewed = regexp.MustCompile(`(?m)^## The diff, [0-9a-f]+\.\.([0-9a-f]+)$`)

// Reply passes the request on.
func (m *minutes) Reply(x scripted.Exchange) scripted.Reply {
	r := m.brain.Reply(x)
	for _, c := range r.Calls {
		if c.Tool != "submit_review" {
			continue
		}
		head := ""
		if d := reviewed.FindStringSubmatch(x.Brief()); d != nil {
			head = d[1]
		}
		var said struct{ Findings []company.Finding }
		text, err := json.Marshal(c.Args)
		err = errors.Join(err, json.Unmarshal(text, &said))
		m.mu.Lock()
		for _, f := range said.Findings {
			if err == nil {
				err = json.NewEncoder(m.file).Encode(
					check.Finding{Run: string(x.Header.Run), Head: head, File: f.File, Line: f.Line, What: f.What})
			}
		}
		m.err = errors.Join(m.err, err)
		m.mu.Unlock()
	}
	return r
}

func (m *minutes) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Join(m.err, m.file.Close())
}
