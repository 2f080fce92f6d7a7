package e2e

import (
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// TestRealOpencode: opencode, as npm's registry has it, does a ticket in the locked container. Its model is scripted, with
// the calls of opencode's own tools.
func TestRealOpencode(t *testing.T) {
	hosttest.Long(t, "fetches a program of others from its registry")
	t.Parallel()
	brain := tripleStaff()
	brain.worker = func(x scripted.Exchange) scripted.Reply {
		if len(x.Tools) == 0 {
			return scripted.Reply{Text: "Triple"} // a title
		}
		return replyInSteps(
			call("write", m{"filePath": "/work/repo/triple.go",
				"content": "package calc\n\n// Triple is three times n.\nfunc Triple(n int) int { return 3 * n }\n"}),
			call("write", m{"filePath": "/work/repo/triple_test.go",
				"content": "package calc\n\nimport \"testing\"\n\nfunc " +
					"TestTriple(t *testing.T) {\n\tif Triple(2) != 6 {\n\t\tt.Error(Triple(2))\n\t}\n}\n"}),
			call("bash", m{"command": "go test ./... && git add -A && git commit -m 'Add Triple'",
				"description": "test"}),
			scripted.Reply{Text: "Triple is there and tested"})(x)
	}
	h := testenv.New(t, brain, calculator())
	h.Config("  opencode: {adapter: cli, program: opencode, via: default}\nagents: {worker: {model: opencode}}\n")
	waitForSummary(t, h.Start("submit", "Add Triple\n\n"+tripleDescription), 0)
	checkDelivered(t, h, 1, 1, 1)
	runAndExpect(t, h, []string{"Triple is there and tested", "4 turns"}, "show", "t1-01", "-v")
	runAndExpect(t, h, []string{"opencode by scripted (cli, profile opencode)"}, "show", "t1-01.1")
	runAndExpect(t, h, []string{"bash go test ./... && git add -A"}, "logs", "t1-01.1", "--full")
	checkSecretNowhere(t, h, canary)
}
