package console

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// A record of the log is one line for a person, in the form of the feed, with its attributes.
func TestLogLines(t *testing.T) {
	var lines []string
	log := slog.New(&lineHandler{show: func(line string) { lines = append(lines, line[len("15:04:05"):]) }})
	log.With("run_id", "t1-01.1").WithGroup("a").Debug("tool error", "tool", "run_command", "text", "exit 1")
	log.Warn("effect failed", "err", errors.New("no disk"))
	want := []string{
		" log     . tool error  run_id=t1-01.1 a.tool=run_command a.text=exit 1",
		" log     . warn: effect failed  err=no disk",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", lines)
	}
}
