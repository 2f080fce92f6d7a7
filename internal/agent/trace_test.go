package agent

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// LOG-1: the level trace has the conversation, each part once. The other levels have none of it.
func TestTraceHasTheConversation(t *testing.T) {
	for level, want := range map[slog.Level]int{LevelTrace: 1, slog.LevelDebug: 0} {
		var out bytes.Buffer
		b := newBench(t, replies(calls(`read {"path":"a"}`), finish))
		b.cfg.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))
		b.mustRun(t)
		for _, part := range []string{`msg="tool call" run_id=`, `tool=read arguments="{\"path\":\"a\"}"`, "from=system"} {
			if got := strings.Count(out.String(), part); got < want || got > 2*want {
				t.Errorf("%s: %q is there %d times\n%s", level, part, got, out.String())
			}
		}
	}
}
