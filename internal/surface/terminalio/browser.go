package terminalio

import (
	"context"
	"os/exec"
	"runtime"
	"time"
)

// browserPatience is how long to wait for a failure of the program that opens the browser. Some of
// these programs run until the browser closes.
const browserPatience = 3 * time.Second

// OpenBrowser opens a link in the user's browser if stdout is a terminal and there is a display. A
// failure is printed as a note, because another link was printed before. Other users of the
// machine may see this link in the process list, so it must be useless to them.
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
	cmd := exec.CommandContext(context.WithoutCancel(ctx), opener, link) // the browser stays open when this process ends
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

// findOpener returns the program that opens links, or "" without a display or such a program.
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
