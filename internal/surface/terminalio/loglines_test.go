package terminalio

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"company/internal/surface/terminalio/terminaltest"
)

// A record of the log is one line for a person, in the form of the feed, with its attributes.
func TestLogLines(t *testing.T) {
	var lines []string
	log := slog.New(&lineHandler{show: func(line string) { lines = append(lines, line[len("15:04:05"):]) }})
	log.With("run_id", "t1-01.1").WithGroup("a").Debug("tool error", "tool", "run_command", "text", "exit 1")
	log.Warn("effect\x1b[2J failed", "err", errors.New("no\ndisk"))
	want := []string{
		" log     . tool error  run_id=t1-01.1 a.tool=run_command a.text=exit 1",
		" log     . warn: effect\\x1b[2J failed  err=no disk",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", lines)
	}
}

// With -v each record at a terminal is one line of the feed's form, as wide as the terminal; in a
// pipe it is as programs read it.
func TestLogOfATerminal(t *testing.T) {
	person, tty := terminaltest.OpenPTY(t) // it tells no size: 80 columns
	in, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, to := range []*os.File{tty, pipe} {
		con := &Console{Err: to, Verbose: true, NoColor: true, LookupEnv: func(string) (string, bool) { return "", false }}
		con.OpenLog()
		con.Log.Debug("tool error", "text", strings.Repeat("x", 200))
	}
	line := strings.TrimSuffix(terminaltest.ReadToPrompt(t, person, "\n"), "\n")
	if !strings.Contains(line, " log     . tool error  text=xxx") || utf8.RuneCountInString(line) > 80 ||
		strings.Contains(line, "level=") {
		t.Errorf("the terminal shows %q", line)
	}
	text := make([]byte, 1000)
	if n, err := in.Read(text); err != nil || !strings.Contains(string(text[:n]), "level=DEBUG") {
		t.Errorf("the pipe has %q, %v", text[:n], err)
	}
	if err := pipe.Close(); err != nil {
		t.Error(err)
	}
}
