package company

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// asksForTests matches a request for tests in a ticket.
var asksForTests = regexp.MustCompile(
	`(?i)\b(add|adds|write|writes|extend|adapt|update|with|new)\b[^.\n]{0,40}\btests?\b`)

// Warnings returns possible faults of a valid plan, for the manager to check again. It reports:
//
//   - consecutive subtasks that write the same file
//   - requested tests that the write set does not allow
//   - parts of the instruction that no subtask does
//
// It returns at most 20 problems. They do not make the plan invalid.
func (p Plan) Warnings(parts []InstructionPart) []PlanProblem {
	c := planCheck{order: planOrderOf(p, func(int, string, string) {})}
	if c.order.findCycle() != nil {
		return nil
	}
	c.problems = append(c.problems, p.warnOfParts(parts)...)
	var subs []PlannedSubtask
	for _, wave := range p.Waves {
		subs = append(subs, wave.Subtasks...)
	}
	for i, subtask := range subs {
		at := p.labelOf(i)
		earlier := c.order.listEarlier(i)
		for j := range subs {
			if !earlier[j] {
				continue
			}
			if path := sharedFile(subtask, subs[j]); path != "" {
				c.add(at, fmt.Sprintf("edits %s, which %s edits before it", quoteShort(path), p.labelOf(j)),
					"fuse the two, unless one needs the other to be merged")
				break
			}
		}
		if text := subtask.Title + "\n" + subtask.Description + "\n" +
			strings.Join(subtask.AcceptanceCriteria, "\n"); asksForTests.MatchString(text) && !subtask.mayWriteTests() {
			c.add(at, "asks for tests, and its write set has no file of tests", "add the files of tests to its write set")
		}
	}
	return c.problemList()
}

// sharedFile returns a file that both subtasks name in their write sets, or "".
func sharedFile(s, other PlannedSubtask) string {
	for _, w := range s.WriteSet {
		if namesFile(w) && slices.Contains(other.WriteSet, w) {
			return w
		}
	}
	return ""
}

// namesFile reports whether an entry of a write set is a path and not a glob. It does not parse the entry: a plan may
// have thousands, and each pair of subtasks checks them all.
func namesFile(entry string) bool { return !strings.ContainsAny(entry, `*?[]{}\`) }

// mayWriteTests reports whether the write set may include a test file. A glob may, and a Rust source file contains its
// own tests.
func (s PlannedSubtask) mayWriteTests() bool {
	for _, w := range s.WriteSet {
		if !namesFile(w) || IsTest(w) || strings.HasSuffix(w, ".rs") {
			return true
		}
	}
	return false
}
