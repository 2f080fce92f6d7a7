package e2e

import (
	"strings"
	"sync"
	"testing"

	"company/internal/adapters/scripted"
)

// TestGitInsideAContainer: a worker looks at its own work with git, in its real
// container, and sees it.
func TestGitInsideAContainer(t *testing.T) {
	t.Parallel()
	looks := []struct{ command, says string }{
		{"git diff", "+echo hello again"},
		{"git stash && git stash show -p && git stash pop", "+echo hello again"},
		{"git commit -qam try && git show", "+echo hello again"},
		{"git log -p -1", "+echo hello again"},
		{"git blame greet.sh", "echo hello again"},
		{"git diff HEAD~1 --stat", "greet.sh"},
		{"git reset -q --keep HEAD~1 && git status --short && git diff && echo clean", "clean"},
	}
	replies := []scripted.Reply{
		call("run_command", m{"command": "printf 'echo hello\\necho hello again\\n' > greet.sh"}),
	}
	for _, l := range looks {
		replies = append(replies, call("run_command", m{"command": l.command}))
	}
	worker, answers := doFirst(replies...)
	h := openTinyProject(t, &staff{manager: submitPlan(farewellTicket()), worker: worker})
	waitForSummary(t, h.Start("submit", "say goodbye"), 0)
	checkDelivered(t, h, 1, 1, 1)
	seen := answers()
	if len(seen) != len(looks)+1 {
		t.Fatalf("%d answers: %q", len(seen), seen)
	}
	for i, l := range looks {
		if got := seen[i+1]; !strings.Contains(got, l.says) || !strings.Contains(got, "exit code 0") ||
			strings.Contains(got, "fatal:") {
			t.Errorf("%s says\n%s", l.command, got)
		}
	}
}

// doFirst is a worker who does this before the farewell, and what run_command
// answered meanwhile.
func doFirst(replies ...scripted.Reply) (worker func(scripted.Exchange) scripted.Reply, answers func() []string) {
	var mu sync.Mutex
	var seen []string
	works, ahead := saysGoodbye(), replyInSteps(replies...)
	return func(x scripted.Exchange) scripted.Reply {
			if x.Turn < len(replies) {
				return ahead(x)
			}
			if x.Turn == len(replies) {
				mu.Lock()
				seen = x.Results("run_command")
				mu.Unlock()
			}
			x.Turn -= len(replies)
			return works(x)
		}, func() []string {
			mu.Lock()
			defer mu.Unlock()
			return seen
		}
}
