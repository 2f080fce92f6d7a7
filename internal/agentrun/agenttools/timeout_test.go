package agenttools

import (
	"strings"
	"testing"
	"time"

	"company/internal/agent"
)

// workers.command_timeout is for commands that ask for no time of their own,
// and the model is told of it.
func TestCommandTimeout(t *testing.T) {
	b := newBench(t)
	b.config.CommandTimeout = time.Second
	w := WorkerTools(b.config)
	requireText(t, call(t, w, "run_command", `{"command":"sleep 60"}`), false, "timed out")
	for _, tool := range w {
		if tool.Spec.Name == "run_command" && !strings.Contains(string(tool.Spec.Schema), `"default 1,`) {
			t.Errorf("the model is told %s", tool.Spec.Schema)
		}
	}
	for limit, want := range map[time.Duration]int{0: 300, time.Millisecond: 1, 90 * time.Second: 90, time.Hour: 900} {
		if got := (&toolFactory{Config: Config{CommandTimeout: limit}}).commandTimeout(); got != want {
			t.Errorf("%s: %d s, want %d", limit, got, want)
		}
	}
}

// X43: the model is told which programs its commands may start.
func TestAllowedPrograms(t *testing.T) {
	b := newBench(t)
	b.config.Commands = []string{"ls", "cat"}
	for _, tools := range [][]agent.Tool{WorkerTools(b.config), ReadOnlyTools(b.config)} {
		requireText(t, call(t, tools, "run_command", `{"command":"ls; cat /dev/null"}`), false, "")
		requireText(t, call(t, tools, "run_command", `{"command":"ls | grep x"}`), true,
			"command_not_in_allowlist: it starts grep")
		for _, tool := range tools {
			if tool.Spec.Name == "run_command" && !strings.Contains(tool.Spec.Description, "and: ls, cat.") {
				t.Errorf("the model is told %s", tool.Spec.Description)
			}
		}
	}
}
