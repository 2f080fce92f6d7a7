package toolserver

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"company/internal/toolbox/toolproto"
)

// Feature: agent-execution-engine, Property 12: Command Timeout Enforcement
//
// A command that is still running at its timeout is ended with all its processes and says so; one that ends before
// does not (PRC-1). The test decides when the timer goes off, so that it waits for no timeout.
func TestAnyTimeoutIsEnforced(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Grace = 10 * time.Millisecond })
	expires, set := false, time.Duration(0)
	b.server.newTimer = func(timeout time.Duration) *time.Timer {
		if set = timeout; !expires {
			return time.NewTimer(time.Hour)
		}
		waitFor(t, "the command to begin", func() bool {
			info, err := os.Stat(filepath.Join(b.dir, "pid"))
			return err == nil && info.Size() > 0
		})
		return time.NewTimer(0)
	}
	rapid.Check(t, func(rt *rapid.T) {
		if err := os.RemoveAll(filepath.Join(b.dir, "pid")); err != nil {
			rt.Fatal(err)
		}
		expires = rapid.Bool().Draw(rt, "expires")
		timeout := rapid.OneOf(rapid.Just(0), rapid.IntRange(1, 3600)).Draw(rt, "timeout")
		code := rapid.IntRange(0, 125).Draw(rt, "code")
		command := rapid.SampledFrom([]string{
			"%s", "(%s)", "bash -c '%s'", "trap true TERM; %s", "trap true TERM; bash -c '%s'",
			"bash -c '%s' & wait $!",
		}).Draw(rt, "command")
		inner := fmt.Sprintf("echo begun; echo $BASHPID >pid; exit %d", code)
		if expires {
			inner = "echo begun; echo $BASHPID >pid; while :; do sleep 1000; done"
		}
		request := toolproto.RunRequest{Command: fmt.Sprintf(command, inner), TimeoutS: timeout}
		result, err := b.Run(t.Context(), request)
		if err != nil {
			rt.Fatal(err)
		}
		if want := time.Duration(timeout) * time.Second; set != want && (timeout > 0 ||
			set != toolproto.CommandTimeout) {
			rt.Errorf("a timeout of %v for %d", set, timeout)
		}
		if result.TimedOut != expires || result.Stdout.String() != "begun\n" || !expires && result.ExitCode != code ||
			expires && result.ExitCode == 0 {
			rt.Errorf("%+v", result)
		}
		pid := b.pid(t, "pid")
		waitFor(t, "the command to die", func() bool { return gone(pid) })
	})
}
