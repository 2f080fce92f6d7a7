package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"company/internal/company"
	"company/internal/orchestrator"
)

// interactive says whether a person can be asked on the terminal.
func (a *app) interactive() bool {
	return !a.noInput && a.output == "text" && isTerminal(a.in) && isTerminal(a.err)
}

// isTerminal asks the kernel: /dev/null is a character device, too.
func isTerminal(v any) bool {
	if r, ok := v.(*result); ok {
		v = r.w
	}
	f, ok := v.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// note says something about the progress, on stderr: a line for people, an
// item of the feed for programs.
func (a *app) note(format string, args ...any) {
	text := clean(fmt.Sprintf(format, args...))
	switch {
	case a.output == "json":
		_ = a.printJSON(a.err, orchestrator.Item{SchemaVersion: 1, Time: now(), Kind: "note", Mark: orchestrator.Info, Text: text})
	case !a.quiet:
		fmt.Fprintln(a.err, text)
	}
}

// ask puts an open question to the person at the terminal.
func (a *app) ask(ctx context.Context, acc access, q *company.Approval) error {
	fmt.Fprintf(a.err, "\n%s %s\n", q.ID, clean(q.Question))
	cmd := company.Answer{Approval: q.ID, By: "terminal"}
	opts := q.Options()
	for cmd.Option == "" {
		prompt := fmt.Sprintf("y = %s, n = %s\n[y/n]> ", opts[company.OptApprove], opts[company.OptReject])
		if q.Kind == company.AskClarification {
			prompt = "answer> "
		}
		fmt.Fprint(a.err, prompt)
		answer, err := readLine(ctx, a)
		if err != nil {
			return err
		}
		switch word := strings.ToLower(answer); {
		case q.Kind == company.AskClarification:
			if answer != "" {
				cmd.Option, cmd.Text = company.OptAnswer, answer
			}
		case word == "y" || word == "yes":
			cmd.Option = company.OptApprove
		case word == "n" || word == "no":
			cmd.Option = company.OptReject
		}
	}
	_, err := acc.Do(ctx, "", cmd)
	if company.CodeOf(err) == company.EConflict {
		return nil // answered elsewhere meanwhile
	}
	return err
}

// readLine reads a line of the terminal; an interrupt ends the wait.
func readLine(ctx context.Context, a *app) (string, error) {
	type got struct {
		s   string
		err error
	}
	if a.lines == nil {
		a.lines = bufio.NewReader(a.in) // kept: it may hold the next line already
	}
	ch := make(chan got, 1)
	go func() { // it ends with the line, or with the process
		s, err := a.lines.ReadString('\n')
		ch <- got{strings.TrimSpace(s), err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case g := <-ch:
		return g.s, g.err
	}
}
