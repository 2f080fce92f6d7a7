package testenv

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Terminal is a command of company that a person runs at a terminal: what it
// shows can be waited on, and the person types.
type Terminal struct {
	h      *House
	name   string
	cmd    *exec.Cmd
	person *os.File // the person's end
	done   chan struct{}

	mu      sync.Mutex
	screen  strings.Builder // all that was shown, echoes included
	seen    int             // how much of it See has passed
	changed chan struct{}   // closed and replaced with every change
}

// AtTerminal starts a command of company at a terminal of 80 columns, which is
// the controlling one of its session: Ctrl-C is a key like any other.
func (h *House) AtTerminal(args ...string) *Terminal {
	h.T.Helper()
	person, tty, err := pseudoTerminal()
	if err != nil {
		h.T.Fatal(err)
	}
	t := &Terminal{h: h, name: strings.Join(args, " "), cmd: h.Command(args...), person: person, done: make(chan struct{}),
		changed: make(chan struct{})}
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = tty, tty, tty
	t.cmd.Env = append(t.cmd.Env, "TERM=xterm")
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	err = t.cmd.Start()
	_ = tty.Close() // the command has its own
	if err != nil {
		_ = person.Close()
		h.T.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			t.mu.Lock()
			t.screen.Write(buf[:n])
			close(t.changed)
			t.changed = make(chan struct{})
			t.mu.Unlock()
			if err != nil {
				return // nobody has the other end open any more
			}
		}
	}()
	go func() {
		defer close(t.done)
		_ = t.cmd.Wait() // how it ended is in the ProcessState
		<-read
	}()
	h.T.Cleanup(func() {
		select {
		case <-t.done:
		default:
			_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL) // it may end at this moment
			<-t.done
		}
		_ = person.Close()
	})
	return t
}

// pseudoTerminal is a terminal without a screen, 80 by 24.
func pseudoTerminal() (person, tty *os.File, err error) {
	if person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err != nil {
		return nil, nil, err
	}
	// Not by Fd, which would make the reads block where Close cannot end them.
	raw, err := person.SyscallConn()
	n := 0
	if err == nil {
		var failed error
		err = raw.Control(func(fd uintptr) {
			failed = errors.Join(unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0),
				unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
			if failed == nil {
				n, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
			}
		})
		err = errors.Join(err, failed)
	}
	if err == nil {
		tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		_ = person.Close()
		return nil, nil, err
	}
	return person, tty, nil
}

// Screen is all that was shown so far, with plain line ends.
func (t *Terminal) Screen() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ReplaceAll(t.screen.String(), "\r\n", "\n")
}

// See waits until the terminal shows these words behind what See has found
// before, and gives what was shown up to their end.
func (t *Terminal) See(timeout time.Duration, words string) string {
	t.h.T.Helper()
	end := time.After(timeout)
	for {
		t.mu.Lock()
		text, changed := strings.ReplaceAll(t.screen.String(), "\r\n", "\n"), t.changed
		from := t.seen
		if i := strings.Index(text[min(from, len(text)):], words); i >= 0 {
			t.seen = from + i + len(words)
			t.mu.Unlock()
			return text[from:t.seen]
		}
		t.mu.Unlock()
		select {
		case <-changed:
		case <-t.done:
			if t.Screen() == text {
				t.h.T.Fatalf("company %s ended before it showed %q:\n%s", t.name, words, text)
			}
		case <-end:
			t.h.T.Fatalf("company %s: no %q within %s:\n%s", t.name, words, timeout, text)
		}
	}
}

// Type types keys; "\n" is the return key, "\x03" Ctrl-C, "\x04" Ctrl-D.
func (t *Terminal) Type(keys string) {
	t.h.T.Helper()
	if _, err := t.person.WriteString(keys); err != nil {
		t.h.T.Fatal(err)
	}
}

// PID is the process's number.
func (t *Terminal) PID() int { return t.cmd.Process.Pid }

// Wait waits for the end of the command and gives its exit code.
func (t *Terminal) Wait(timeout time.Duration) int {
	t.h.T.Helper()
	select {
	case <-t.done:
	case <-time.After(timeout):
		t.h.T.Fatalf("company %s: not over after %s:\n%s", t.name, timeout, t.Screen())
	}
	return t.cmd.ProcessState.ExitCode()
}
