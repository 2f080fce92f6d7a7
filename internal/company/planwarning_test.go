package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// What a manager is asked to look at once more, and what it is not bothered with.
func TestPlanWarnings(t *testing.T) {
	t.Parallel()
	small := func(name string, after ...string) PlannedSubtask {
		s := part(name, after...)
		s.Effort = EffortSmall
		return s
	}
	writes := func(s PlannedSubtask, text string, globs ...string) PlannedSubtask {
		s.WriteSet, s.Description = globs, text
		return s
	}
	const plain = "Write the code for it, as the package beside it does."
	const list = "Do all of this:\n- the parser\n- the store\n- the command"
	three := flat(small("a"), small("b"), small("c"))
	for _, c := range []struct {
		name, instruction string
		plan              Plan
		want              string // contained in the only warning; empty: none
	}{
		{"a short instruction in three small parts", "add a limit", three, "plan: splits a short instruction into 3 small parts"},
		{"a list of demands", list, three, ""},
		{"a long instruction", strings.Repeat("word ", 50), three, ""},
		{"two parts", "add a limit", flat(small("a"), small("b")), ""},
		{"a large part", "add a limit", flat(small("a"), small("b"), part("c")), ""},
		{"the same file again", list, flat(writes(part("a"), plain, "a.go"), writes(part("b", "a"), plain, "b.go", "a.go")), `subtask 2 (Do b well): edits "a.go", which subtask 1 (Do a well) edits before it`},
		{"the same file in a later wave", list, Plan{Waves: []Wave{{[]PlannedSubtask{writes(part("a"), plain, "a.go")}}, {[]PlannedSubtask{writes(part("b"), plain, "a.go")}}}}, `wave 2, subtask 1 (Do b well): edits "a.go"`},
		{"a folder of an earlier one", list, flat(writes(part("a"), plain, "a/**"), writes(part("b", "a"), plain, "a/x.go")), ""},
		{"tests without a file of tests", list, flat(writes(part("a"), "Mend the parser and add tests for it.", "parse.go")), "subtask 1 (Do a well): asks for tests, and its write set has no file of tests"},
		{"tests in a criterion", list, flat(writes(PlannedSubtask{Title: "x", AcceptanceCriteria: []string{"a new test fails without the change"}}, plain, "parse.go")), "asks for tests"},
		{"tests with their file", list, flat(writes(part("a"), "Add a test.", "parse.go", "parse_test.go")), ""},
		{"tests below a folder", list, flat(writes(part("a"), "Add a test.", "parse/**")), ""},
		{"tests in the source", list, flat(writes(part("a"), "Add a test.", "src/lib.rs")), ""},
		{"no tests", list, flat(writes(part("a"), "Mend it; the tests pass.", "parse.go")), ""},
		{"a circle is refused elsewhere", "x", flat(small("a", "b"), small("b", "a"), small("c")), ""},
	} {
		got := c.plan.Warnings(c.instruction)
		switch {
		case c.want == "" && len(got) == 0:
		case c.want == "" || len(got) != 1 || !strings.Contains(got[0].String(), c.want) || got[0].Fix == "":
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
