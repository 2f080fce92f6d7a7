package e2e

import (
	"strings"
	"testing"

	"company/internal/adapters/scripted"
)

// TestWrongPathsInOneReply: a worker names files by absolute paths of another machine, several in one reply. It reads
// what was wrong, goes on and delivers, and the pull request tells of no access that was refused.
func TestWrongPathsInOneReply(t *testing.T) {
	t.Parallel()
	read := func(path string) scripted.Call { return scripted.Call{Tool: "read_file", Args: m{"path": path}} }
	wrong := scripted.Reply{Calls: []scripted.Call{read("/app/greet.sh"), read("/home/dev/project/greet.sh"),
		read("/etc/hosts"), read("../../greet.sh"), {Tool: "list_files", Args: m{"glob": "/app/**"}},
		{Tool: "search", Args: m{"pattern": "echo", "glob": "/app/*.sh"}},
		{Tool: "write_file", Args: m{"path": "/app/new.sh", "content": "echo\n"}}}}
	works, told := saysGoodbye(), make(chan []string, 1)
	h := openTinyProject(t, &staff{manager: submitPlan(farewellTicket()),
		worker: func(x scripted.Exchange) scripted.Reply {
			if x.Turn == 0 {
				return wrong
			}
			if x.Turn == 1 {
				told <- x.Results("read_file")
			}
			x.Turn--
			return works(x)
		}})
	waitForSummary(t, h.Start("submit", "say goodbye"), 0)
	checkDelivered(t, h, 1, 1, 1)
	for _, answer := range <-told {
		if !strings.Contains(answer, "outside the workspace: give the path from its root") ||
			strings.Contains(answer, "recorded") {
			t.Errorf("a wrong path is not a mistake: %s", answer)
		}
	}
	if text := h.MustRun(patience, "pr", "show", "1").Stdout; strings.Contains(text, "access that agents were refused") ||
		strings.Contains(text, "Refused accesses") {
		t.Errorf("the pull request tells of a wrong path:\n%s", text)
	}
}
