package e2e

import (
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

// Two tickets add packages of npm at the same time: package.json has both by a rule, npm
// makes package-lock.json anew, no merger is asked, and the gates install what it names.
// The task replayed makes the same tree (SUB-19).
func TestLockFileOfTwoTicketsIsMadeAnew(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	registryAnswers(t, "npm")
	adds := func(name, version, use string) func(scripted.Exchange) scripted.Reply {
		return replyInSteps(
			call("add_dependency", m{"ecosystem": "npm", "name": name, "version": version}),
			call("run_command", m{"command": "npm install " + name + "@" + version}),
			call("write_file", m{"path": name + ".test.js", "content": "const test = require('node:test');\nconst assert = " +
				"require('node:assert');\ntest('" + name + "', () => assert(" + use + "));\n"}),
			call("git_commit", m{"message": "Use " + name}),
			call("finish", m{"summary": name + " is used"}),
		)
	}
	files := counter()
	files["package.json"] = "{\n  \"name\": \"counter\",\n  \"version\": \"1.0.0\",\n  \"private\": true,\n  " +
		"\"scripts\": {\n    \"test\": \"node --test\"\n  },\n  \"dependencies\": {\n    \"is-number\": \"7.0.0\"\n  }\n}\n"
	hold := stopAt("t1-02-review.1", 0)
	h := testenv.New(t, &staff{
		manager: submitPlan([]m{ticket("Know odd numbers", "Show in is-odd.test.js that is-odd knows an odd number; add "+
			"the package.", "is-odd.test.js"),
			ticket("Pad on the left", "Show in left-pad.test.js that left-pad fills up on the left; add the package.",
				"left-pad.test.js")}),
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
			"t1-01": adds("is-odd", "3.0.1", "require('is-odd')(3)"),
			"t1-02": adds("left-pad", "1.3.0", "require('left-pad')('x', 2) === ' x'"),
		}),
		stops: []*stop{hold},
	}, files)
	h.LetManagerPlan()
	t.Cleanup(hold.release)
	p := h.Start("submit", "use two packages")
	mergeSecond(h, p, t, hold)
	if sum := waitForSummary(t, p, 0); sum.Result != "COMPLETE" {
		t.Fatalf("%+v\n%s", sum, p.Tell())
	}
	requireMadeAnew(t, p, ", package-lock.json made anew by `npm install --package-lock-only`")
	for file, all := range map[string][]string{
		"package.json": {`"is-number": "7.0.0"`, `"is-odd": "^3.0.1"`, `"left-pad": "^1.3.0"`},
		"package-lock.json": {`"node_modules/is-odd"`, `"node_modules/left-pad"`,
			`"https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz"`},
	} {
		text := h.Git(h.Origin, "show", integrationBranch(h, 1)+":"+file)
		for _, want := range all {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s:\n%s", file, want, text)
			}
		}
	}
	runAndExpect(t, h, []string{"Files made anew", "package-lock.json", "npm install --package-lock-only"}, "pr",
		"show", "1")
	var same replay.Report
	h.JSON(&same, "replay", "t1")
	if !same.Same || string(same.Tree) != h.Git(h.Origin, "rev-parse", integrationBranch(h, 1)+"^{tree}") {
		t.Errorf("replayed: %+v", same)
	}
}

// requireMadeAnew waits for the merge whose line in the feed has a text, and holds that no merger
// was asked.
func requireMadeAnew(t *testing.T, p *testenv.Process, text string) {
	t.Helper()
	p.Until(patience, "the merge", func(it feed.Item) bool {
		return it.Kind == "merge.done" && strings.Contains(it.Text, text)
	})
	if n := count(p, "merge.conflicted"); n > 0 {
		t.Errorf("a merger was asked:\n%s", p.Tell())
	}
}
