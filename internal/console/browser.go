package console

import (
	"context"
	"os/exec"
	"runtime"
	"time"
)

// browserPatience is how long the program that finds the browser has to fail. Some wait
// there until the browser ends.
const browserPatience = 3 * time.Second

// OpenBrowser opens a link in the person's browser, where stdout is a terminal and there is
// a screen for one. What fails becomes a note: another link was printed. Other users of the
// machine may read this one in the list of processes, so that it has to be of no use to them.
func (con *Console) OpenBrowser(ctx context.Context, makeLink func() (string, error)) {
	if con.NoInput || !IsTerminal(con.Out) {
		return
	}
	opener := con.findOpener()
	if opener == "" {
		return
	}
	link, err := makeLink()
	if err != nil {
		con.PrintNote("no browser was opened: %v", err)
		return
	}
	failed := make(chan error, 1)
	cmd := exec.CommandContext(context.WithoutCancel(ctx), opener, link) // the browser stays when this process ends
	go func() { failed <- cmd.Run() }()
	select {
	case err := <-failed:
		if err != nil {
			con.PrintNote("no browser was opened (%s: %v): open the link yourself", opener, err)
		}
	case <-time.After(browserPatience):
	case <-ctx.Done():
	}
}

// findOpener is the program that opens links here; empty: there is no screen, or none.
func (con *Console) findOpener() string {
	name := "open"
	if runtime.GOOS != "darwin" {
		name = "xdg-open"
		x11, _ := con.LookupEnv("DISPLAY")
		wayland, _ := con.LookupEnv("WAYLAND_DISPLAY")
		if x11 == "" && wayland == "" {
			return ""
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}
