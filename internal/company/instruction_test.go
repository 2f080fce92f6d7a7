package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// The criteria of an instruction are those that it lists as such. Sentences, headings and steps are none.
func TestCriteriaOfAnInstruction(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The cache is slow. It forgets what it had!\n\n## Steps to reproduce\n1. start it\n2. wait": "",
		"Mend it.\n\n## Acceptance criteria\n\nAll of:\n- a is\n  so\n- [x] b\n\n## Notes\n- c":     "a is so|b",
		"Acceptance criteria:\n- a\n\nMore words.\n- b":                                             "a",
		"**Definition of done**\n\n1. a\n2. b":                                                      "a|b",
		"To do:\n- [ ] a\n- [x] was there\n- c":                                                     "a",
		"Like\n```\n## Acceptance criteria\n- [ ] a\n```\n":                                         "",
		"# Acceptance criteria\n" + strings.Repeat("- a\n", 21):                                     "",
		"Acceptance criteria:\n1. a\n2. b\nSteps to reproduce:\n1. run\n2. see":                     "a|b",
		"Acceptance criteria:\n- a\n**Notes:**\n- b":                                                "a",
		"Fix the cache.\nAcceptance criteria:\n- a\n- b":                                            "a|b",
		"## Acceptance criteria\n### API\n- a\n### CLI\n- b\n## Notes\n- c":                         "a|b",
		"Acceptance criteria:\n# Notes\n- a":                                                        "",
		"- Do this:\n  - [ ] a\n  - [x] was there\n    - [ ] b\n- c":                                "a|b",
		"1. Mend it.\n   Acceptance criteria:\n   - a\n2. Acceptance criteria:\n   - b\n3. c":       "a|b",
		"Acceptance criteria\n===================\n- a\n\nNotes\n-----\n- b":                        "a",
		"Definition of Done (all)\n\n- a":                                                           "a",
		"The acceptance criteria are old. Do:\n- a":                                                 "",
		"Like\n```\nAcceptance criteria:\n```\n- a":                                                 "",
		"Like\n````\n```\n- [ ] a\n````\n- [ ] b":                                                   "b",
		"Definition of done:\r\n- `sed 's/a  b/[1] /'`  is run\r\n- b":                              "`sed 's/a  b/[1] /'`  is run|b",
		"## Acceptance criteria\n- a:\n  - first\n\n  and more\n- b":                                "a: - first and more|b",
	} {
		task := &Task{Instruction: text}
		if got := strings.Join(task.Criteria(), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		task.Issue = &IssueRef{Number: 12}
		if got := task.Criteria(); got != nil {
			t.Errorf("criteria of a stranger: %q", got)
		}
	}
}
