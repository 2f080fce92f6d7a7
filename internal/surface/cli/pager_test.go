package cli

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
	"company/internal/surface/terminalio/terminaltest"
	"company/test/heldoffice"
)

// A status that is longer than the terminal is printed, as one looks at it in passing. Help has the
// person's pager.
func TestStatusHasNoPager(t *testing.T) {
	o := heldoffice.Open(t)
	o.Executing("the first", 2)
	o.Serve()
	o.Setenv("PAGER", "cat >/dev/null; echo paged")
	o.Setenv("TERM", "xterm")
	for args, paged := range map[string]bool{"status": false, "wait --help": true} {
		person, tty := terminaltest.OpenPTY(t)
		if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 4, Col: 80}); err != nil {
			t.Fatal(err)
		}
		env := command.NewEnvironment(terminalio.Console{In: tty, Out: tty, Err: tty, LookupEnv: o.LookupEnv})
		if code := execute(t.Context(), env, append(strings.Fields(args), "--repo", o.Repo)); code != 0 {
			t.Errorf("%s: exit %d", args, code)
		}
		fmt.Fprint(tty, "the end")
		shown := terminaltest.ReadToPrompt(t, person, "the end")
		if got := strings.Contains(shown, "paged\n"); got != paged || strings.Contains(shown, "the first") == paged {
			t.Errorf("%s, paged %v:\n%s", args, got, shown)
		}
	}
}
