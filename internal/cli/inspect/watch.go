package inspect

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/retry"
)

const (
	// watchEvery is how soon status --watch looks again where a company is at work.
	watchEvery = time.Second
	// watchIdleEvery is the same where none is: each look opens the office.
	watchIdleEvery = 5 * time.Second
)

// clearScreen moves to the corner of the terminal, and clears the rest of it.
const clearScreen = "\x1b[H\x1b[J"

// watchStatus shows the status again and again, in place, until an interrupt. It holds
// the office for no longer than a look.
func watchStatus(ctx context.Context, env *command.Environment, show func(context.Context) (served bool, err error)) error {
	if !env.MovesCursor(env.Out) || env.Output == "json" {
		return company.E(company.EUsage, "--watch is for a terminal").Because("it redraws in place, which a pipe cannot do, nor a terminal whose TERM is dumb or not set").Fix("company feed --follow -o json tells what happens")
	}
	screen := env.Out
	defer func() { env.Out = screen }()
	for {
		var text bytes.Buffer
		env.Out = &text
		served, err := show(ctx)
		env.Out = screen
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && company.CodeOf(err) != company.EHeld {
			return err
		}
		if err == nil {
			if _, err := fmt.Fprint(screen, clearScreen+fitScreen(text.String(), command.TerminalHeight(screen))); err != nil {
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
