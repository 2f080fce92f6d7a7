package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// What a manager is asked to look at once more, and what it is not bothered with.
func TestPlanWarnings(t *testing.T) {
	t.Parallel()
	writes := func(s PlannedSubtask, text string, globs ...string) PlannedSubtask {
		s.WriteSet, s.Description = globs, text
		return s
	}
	const plain = "Write the code for it, as the package beside it does."
	for _, c := range []struct {
		name string
		plan Plan
		want string // contained in the only warning; empty: none
	}{
		{"the same file again", flat(writes(part("a"), plain, "a.go"), writes(part("b", "a"), plain, "b.go", "a.go")),
			`subtask 2 (Do b well): edits "a.go", which subtask 1 (Do a well) edits before it`},
		{"the same file in a later wave",
			Plan{Waves: []Wave{{[]PlannedSubtask{writes(part("a"), plain, "a.go")}},
				{[]PlannedSubtask{writes(part("b"), plain, "a.go")}}}}, `wave 2, subtask 1 (Do b well): edits "a.go"`},
		{"a folder of an earlier one", flat(writes(part("a"), plain, "a/**"), writes(part("b", "a"), plain, "a/x.go")), ""},
		{"tests without a file of tests", flat(writes(part("a"), "Mend the parser and add tests for it.", "parse.go")),
			"subtask 1 (Do a well): asks for tests, and its write set has no file of tests"},
		{"tests in a criterion",
			flat(writes(PlannedSubtask{Title: "x", AcceptanceCriteria: []string{"a new test fails without the change"}}, plain,
				"parse.go")), "asks for tests"},
		{"tests with their file", flat(writes(part("a"), "Add a test.", "parse.go", "parse_test.go")), ""},
		{"tests below a folder", flat(writes(part("a"), "Add a test.", "parse/**")), ""},
		{"tests in the source", flat(writes(part("a"), "Add a test.", "src/lib.rs")), ""},
		{"no tests", flat(writes(part("a"), "Mend it; the tests pass.", "parse.go")), ""},
		{"a circle is refused elsewhere", flat(part("a", "b"), part("b", "a"), part("c")), ""},
	} {
		got := c.plan.Warnings(nil)
		switch {
		case c.want == "" && len(got) == 0:
		case c.want == "" || len(got) != 1 || !strings.Contains(got[0].String(), c.want) || got[0].Fix == "":
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
