package company

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// asksForTests finds a demand for tests in a ticket.
var asksForTests = regexp.MustCompile(`(?i)\b(add|adds|write|writes|extend|adapt|update|with|new)\b[^.\n]{0,40}\btests?\b`)

// Warnings lists what may be wrong with a plan that stands, for the manager to look at once
// more: subtasks that gain little, subtasks one after the other that write the same
// file, tests that are asked for and may not be written, parts of the instruction that no subtask does. checks is
// how long a run of the checks takes; 0: that is not known. At most 20; the plan's own check does not need them.
func (p Plan) Warnings(checks time.Duration, parts []InstructionPart) []PlanProblem {
	c := planCheck{order: planOrderOf(p, func(int, string, string) {})}
	if c.order.findCycle() != nil {
		return nil
	}
	if problem, is := p.warnOfGain(checks); is {
		c.problems = append(c.problems, problem)
	}
	c.problems = append(c.problems, p.warnOfParts(parts)...)
	var subs []PlannedSubtask
	for _, wave := range p.Waves {
		subs = append(subs, wave.Subtasks...)
	}
	for i, s := range subs {
		at := p.labelOf(i)
		earlier := c.order.listEarlier(i)
		for j := range subs {
			if !earlier[j] {
				continue
			}
			if path := sharedFile(s, subs[j]); path != "" {
				c.add(at, fmt.Sprintf("edits %s, which %s edits before it", quoteShort(path), p.labelOf(j)), "fuse the two, unless one needs the other to be merged")
				break
			}
		}
		if text := s.Title + "\n" + s.Description + "\n" + strings.Join(s.AcceptanceCriteria, "\n"); asksForTests.MatchString(text) && !s.mayWriteTests() {
			c.add(at, "asks for tests, and its write set has no file of tests", "add the files of tests to its write set")
		}
	}
	return c.problemList()
}

// sharedFile is a file that both subtasks name in their write sets; empty: there is none.
func sharedFile(s, other PlannedSubtask) string {
	for _, w := range s.WriteSet {
		if namesFile(w) && slices.Contains(other.WriteSet, w) {
			return w
		}
	}
	return ""
}

// namesFile reports whether an entry of a write set is a path, and no glob. It reads no glob: a
// plan has thousands, and a pair of subtasks has them all.
func namesFile(entry string) bool { return !strings.ContainsAny(entry, `*?[]{}\`) }

// mayWriteTests reports whether the write set may hold a file of tests: a glob may, and a
// source file of Rust has its tests in it.
func (s PlannedSubtask) mayWriteTests() bool {
	for _, w := range s.WriteSet {
		if !namesFile(w) || IsTest(w) || strings.HasSuffix(w, ".rs") {
			return true
		}
	}
	return false
}
