package terminalio

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/retry"
)

const (
	// watchEvery is the refresh interval while a company is running.
	watchEvery = time.Second
	// watchIdleEvery is the refresh interval without a company, when each refresh opens the office.
	watchIdleEvery = 5 * time.Second
)

// clearScreen moves to the top left corner of the terminal and clears the rest.
const clearScreen = "\x1b[H\x1b[J"

// Watch prints the output of show in place, again and again, until ctx ends. It then returns ctx's
// cause. show reports whether a company is running. An error of show ends the watch, except EHeld.
func (con *Console) Watch(ctx context.Context, show func(context.Context) (served bool, err error)) error {
	screen := con.Out
	defer func() { con.Out = screen }()
	for {
		var text bytes.Buffer
		con.Out = &text
		served, err := show(ctx)
		con.Out = screen
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && company.CodeOf(err) != company.EHeld {
			return err
		}
		if err == nil {
			_, height := terminalSize(screen)
			if _, err := fmt.Fprint(screen, clearScreen+fitScreen(text.String(), height)); err != nil {
				return err
			}
		}
		every := watchIdleEvery
		if served {
			every = watchEvery
		}
		if err := retry.Sleep(ctx, every); err != nil {
			return context.Cause(ctx)
		}
	}
}

// fitScreen cuts a text to the lines of a screen, and adds a note if it did.
func fitScreen(text string, height int) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= height {
		return text
	}
	const cut = "… company status shows the rest"
	return strings.Join(lines[:max(0, height-2)], "") + cut
}
