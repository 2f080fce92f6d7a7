package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

const (
	tripleCode = "package calc\n\n// Triple is three times n.\nfunc Triple(n int) int { return 3 * n }\n"
	tripleTest = "package calc\n\nimport \"testing\"\n\nfunc TestTriple(t *testing.T) {\n\tif Triple(2) != 6 {\n" +
		"\t\tt.Error(Triple(2))\n\t}\n}\n"
	tripleCheck = "go test ./... && git add -A && git commit -m 'Add Triple'"
)

// doTicket lets a program, as npm's registry has it, do a ticket in the locked container. Its model is scripted, and
// calls the program's own tools: shell is its call of a command, and adds are those that write the code and its test.
// The company is killed in the middle, and the program then continues its conversation in a new container. logged is a
// part of what `company logs` shows at the end.
func doTicket(
	t *testing.T, program, via string, shell func(command string) scripted.Call, adds [2]scripted.Call, logged string,
) {
	t.Helper()
	hosttest.Long(t, "fetches a program of others from its registry")
	t.Parallel()
	// The work is saved before a request, at most every ten seconds.
	calls := []scripted.Call{adds[0], shell("sleep 11"), adds[1], shell(tripleCheck)}
	middle := stopAt("t1-01.1", 2)
	var mu sync.Mutex
	var asked []int
	brain := tripleStaff()
	brain.stops = []*stop{middle}
	brain.worker = func(x scripted.Exchange) scripted.Reply {
		if len(x.Tools) == 0 {
			return scripted.Reply{Text: "Triple"} // a title
		}
		done := 0 // calls; a program that continues may add replies of its own
		for _, message := range x.Messages {
			if message.Role == adapters.ToolRole {
				done++
			}
		}
		mu.Lock()
		asked = append(asked, done)
		mu.Unlock()
		if done == len(calls) {
			return scripted.Reply{Text: "Triple is there and tested"}
		}
		return scripted.Reply{Calls: calls[done : done+1]}
	}
	h := testenv.New(t, brain, calculator())
	t.Cleanup(middle.release)
	h.Config("  other: {adapter: anthropic, model: scripted, base_url: \"" + strings.TrimSuffix(h.Model.URL(), "/v1") +
		"\", api_key_env: TEST_MODEL_KEY, price: {input: 1, cached: 1, output: 1}}\n" +
		"  " + program + ": {adapter: cli, program: " + program + ", via: " + via + "}\n" +
		"agents: {worker: {model: " + program + "}}\n")
	p := h.Start("submit", "Add Triple\n\n"+tripleDescription)
	middle.wait(t, p)
	p.Kill()
	middle.release()
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
	runAndExpect(t, h, []string{"Triple is there and tested"}, "show", "t1-01", "-v")
	runAndExpect(t, h, []string{program + " by scripted (cli, profile " + program + ")"}, "show", "t1-01.1")
	runAndExpect(t, h, []string{logged}, "logs", "t1-01.1", "--full")
	checkSecretNowhere(t, h, canary)
	mu.Lock()
	defer mu.Unlock()
	if fmt.Sprint(asked) != "[0 1 2 2 3 4]" {
		t.Errorf("the model was asked after %v calls: the conversation did not continue", asked)
	}
}

// TestRealOpencode: opencode does a ticket.
func TestRealOpencode(t *testing.T) {
	doTicket(t, "opencode", "default",
		func(command string) scripted.Call {
			return scripted.Call{Tool: "bash", Args: m{"command": command, "description": "run"}}
		}, [2]scripted.Call{
			{Tool: "write", Args: m{"filePath": "/work/repo/triple.go", "content": tripleCode}},
			{Tool: "write", Args: m{"filePath": "/work/repo/triple_test.go", "content": tripleTest}},
		}, "bash go test ./... && git add -A")
}

// TestRealClaude (ADP-13): Claude Code does a ticket.
func TestRealClaude(t *testing.T) {
	doTicket(t, "claude", "other",
		func(command string) scripted.Call {
			return scripted.Call{Tool: "Bash", Args: m{"command": command, "description": "run"}}
		}, [2]scripted.Call{
			{Tool: "Write", Args: m{"file_path": "/work/repo/triple.go", "content": tripleCode}},
			{Tool: "Write", Args: m{"file_path": "/work/repo/triple_test.go", "content": tripleTest}},
		}, "Bash go test ./... && git add -A")
}

// TestRealCodex (ADP-13): Codex does a ticket.
func TestRealCodex(t *testing.T) {
	shell := func(command string) scripted.Call {
		return scripted.Call{Tool: "exec_command", Args: m{"cmd": command, "yield_time_ms": 30_000}}
	}
	add := func(name, text string) scripted.Call { return shell("cat > " + name + " <<'END'\n" + text + "END\n") }
	doTicket(t, "codex", "default", shell,
		[2]scripted.Call{add("triple.go", tripleCode), add("triple_test.go", tripleTest)},
		"go test ./... && git add -A")
}
