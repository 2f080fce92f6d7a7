package e2e

import (
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// A project without a lock file: its manifest is resolved once, the feed says what was
// taken, checks and workers have it, nothing of it is committed, and a second task on
// the same manifest has the same without asking again.
func TestProjectWithoutALockFile(t *testing.T) {
	hosttest.Long(t, "internal/container/image resolves without a lock file, test/strangers has tasks on such projects")
	t.Parallel()
	registryAnswers(t, "npm")
	files := counter()
	delete(files, "package-lock.json")
	files["package.json"] = strings.Replace(files["package.json"], `"is-number":"7.0.0"`, `"is-number":"^7.0.0"`, 1)
	brain := &staff{
		manager: submitPlan([]m{ticket("Tell numbers", "Add number.js, which exports is-number.", "number.js")}),
		worker: replyInSteps(
			call("run_command", m{"command": "npm test && ls"}),
			call("write_file", m{"path": "number.js", "content": "module.exports = require('is-number');\n"}),
			call("run_command", m{"command": "node -p \"require('./number')(3)\"; npm test"}),
			call("git_commit", m{"message": "Tell numbers"}),
			call("finish", m{"summary": "numbers are told"}), // asks for a test, once
			call("finish", m{"summary": "numbers are told", "risks": "No test shows it."}),
		),
	}
	h := testenv.New(t, brain, files)
	for i, want := range []string{
		"package.json has no lock file: 1 package resolved for this task: is-number 7.0.0 (to have the same each time, " +
			"commit what `npm install --package-lock-only` makes)",
		"package.json has no lock file: 1 package as resolved for an earlier task at ",
	} {
		p := h.Start("submit", "tell numbers")
		if sum := waitForSummary(t, p, 0); sum.Result != "COMPLETE" {
			t.Fatalf("%+v\n%s", sum, p.Tell())
		}
		if told := p.Tell(); !strings.Contains(told, want) {
			t.Errorf("task %d: the feed does not say %q:\n%s", i+1, want, told)
		}
		if list := h.Git(h.Origin, "ls-tree", "--name-only", integrationBranch(h, i+1)); strings.Contains(list, "lock") ||
			!strings.Contains(list, "number.js") {
			t.Errorf("task %d delivered %q", i+1, list)
		}
	}
}
