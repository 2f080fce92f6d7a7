package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// servedOffice is the demo's office under company serve: the page shows it while it works
// and afterwards.
type servedOffice struct {
	cmd   *exec.Cmd
	log   *os.File
	ended chan struct{} // closed when the process has ended
}

// serve starts company serve, and gives its link into the page.
func (s *stage) serve(ctx context.Context) (*servedOffice, string, error) {
	log, err := os.Create(filepath.Join(s.Dir, "serve.log"))
	if err != nil {
		return nil, "", err
	}
	out := &firstLine{read: make(chan string, 1)}
	// An interrupt from the terminal ends the demo, which then ends the office.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), s.Company, "serve")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.repo(), s.env, out, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, "", errors.Join(err, log.Close())
	}
	o := &servedOffice{cmd: cmd, log: log, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in the ProcessState
		close(o.ended)
	}()
	select {
	case link := <-out.read:
		return o, link, nil
	case <-o.ended:
		err = fmt.Errorf("company serve ended at once: see %s", log.Name())
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return nil, "", errors.Join(err, o.close())
}

// close ends the office as Ctrl-C does, and waits for it.
func (o *servedOffice) close() error {
	err := o.cmd.Process.Signal(syscall.SIGTERM)
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	select {
	case <-o.ended:
	case <-time.After(time.Minute):
		err = errors.Join(err, errors.New("company serve did not end in a minute"), o.cmd.Process.Kill())
		<-o.ended
	}
	if code := o.cmd.ProcessState.ExitCode(); code != 0 && err == nil {
		err = fmt.Errorf("company serve ended with %d: see %s", code, o.log.Name())
	}
	return errors.Join(err, o.log.Close())
}

// firstLine is a stream whose first line is wanted.
type firstLine struct {
	read chan string
	text []byte
	had  bool
}

// Write takes a part of the stream.
func (f *firstLine) Write(p []byte) (int, error) {
	if !f.had {
		f.text = append(f.text, p...)
		if line, _, whole := bytes.Cut(f.text, []byte("\n")); whole {
			f.had = true
			f.read <- string(line)
		}
	}
	return len(p), nil
}

// freshLink asks the served office for one more link.
func (s *stage) freshLink(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, s.Company, "open", "--no-browser")
	cmd.Dir, cmd.Env = s.repo(), s.env
	return output(cmd)
}

// StayWatched tells how to look at a demo that is served, and returns when ctx ends.
func (o Outcome) StayWatched(ctx context.Context, w io.Writer) {
	fmt.Fprint(w, "\n"+strings.Join([]string{
		"the page of the office, with this run: " + o.Link,
		"  the link opens it once, within ten minutes; another link: " + o.open,
		"  Ctrl-C stops the office and ends the demo; the folder stays",
	}, "\n")+"\n")
	<-ctx.Done()
}
