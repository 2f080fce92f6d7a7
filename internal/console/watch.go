package console

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/retry"
)

const (
	// watchEvery is how soon a watch looks again where a company is at work.
	watchEvery = time.Second
	// watchIdleEvery is the same where none is: each look opens the office.
	watchIdleEvery = 5 * time.Second
)

// clearScreen moves to the corner of the terminal, and clears the rest of it.
const clearScreen = "\x1b[H\x1b[J"

// Watch prints what show prints on stdout again and again, in place, until ctx ends,
// whose cause it returns. show says whether a company is at work; an error of it ends the
// watch, unless the office was held.
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

// fitScreen cuts a text to the lines of a screen, and says that it did.
func fitScreen(text string, height int) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= height {
		return text
	}
	const cut = "… company status shows the rest"
	return strings.Join(lines[:max(0, height-2)], "") + cut
}
