package cli

import (
	"context"
	"testing"

	"golang.org/x/sys/unix"

	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
	"company/internal/surface/terminalio/terminaltest"
)

// A command whose output a signal cuts on a terminal that takes nothing (Ctrl-S) does not end
// with success, also where it does not look at what became of its output.
func TestCutOutputIsNoSuccess(t *testing.T) {
	_, tty := terminaltest.OpenPTY(t)
	if err := unix.IoctlSetInt(int(tty.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // what waits can go
		if err := unix.IoctlSetInt(int(tty.Fd()), unix.TCXONC, unix.TCOON); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(terminalio.ErrTerminated)
	env := command.NewEnvironment(
		terminalio.Console{In: tty, Out: tty, Err: tty, LookupEnv: func(string) (string, bool) { return "", false }})
	if code := execute(ctx, env, []string{"diff", "--help"}); code != command.ExitInterrupt {
		t.Errorf("exit %d", code)
	}
}
