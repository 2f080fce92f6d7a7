package gitexec_test

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"company/internal/gitops/gitexec"
)

// TestSignalsOfOurGroup: what a terminal or a service manager sends to all our processes
// ends no git; a caller that goes away does, with SIGKILL. Before, a git that such a signal
// hit between fork and exec looked like one that failed, and its run was lost.
func TestSignalsOfOurGroup(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, nil, &before); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HUP", "INT", "TERM"} {
		r, err := gitexec.Command{Program: "/bin/sh",
			Args: []string{"-c", "kill -" + name + " $$; kill -" + name + " -$$; echo alive"}}.Run(t.Context())
		if err != nil || strings.TrimSpace(string(r.Out)) != "alive" {
			t.Errorf("after SIG%s: exit code %d, %q, %v", name, r.Exit, r.Out, err)
		}
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, nil, &after); err != nil || after != before {
		t.Errorf("our own thread blocks %x after it, %x before (%v)", after.Val[0], before.Val[0], err)
	}
}

// TestSignalBeforeExec sends SIGHUP to a process group again and again while its head
// starts git.
func TestSignalBeforeExec(t *testing.T) {
	const asked = "COMPANY_TEST_SIGNALLED_GROUP"
	if os.Getenv(asked) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestSignalBeforeExec$", "-test.v")
		cmd.Env = append(os.Environ(), asked+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	var over atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !over.Load() {
			_ = syscall.Kill(0, syscall.SIGHUP) // our own group is always there
			time.Sleep(time.Millisecond)        // the pace of signals, no wait for anything
		}
	}()
	for range 300 {
		if r, err := (gitexec.Command{Args: []string{"version"}}).Run(t.Context()); err != nil || r.Exit != 0 {
			t.Fatalf("git version: exit code %d, %v", r.Exit, err)
		}
	}
	over.Store(true)
	<-ended
}
