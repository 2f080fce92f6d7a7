package company

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// shortInstruction is the length, in characters, up to which an instruction of one line is
// rarely worth three workers.
const shortInstruction = 200

// asksForTests finds a demand for tests in a ticket.
var asksForTests = regexp.MustCompile(`(?i)\b(add|adds|write|writes|extend|adapt|update|with|new)\b[^.\n]{0,40}\btests?\b`)

// Warnings lists what may be wrong with a plan that stands, for the manager to look at once
// more: a split of a short instruction, subtasks one after the other that write the same
// file, tests that are asked for and may not be written. At most 20; the plan's own check
// does not need them.
func (p Plan) Warnings(instruction string) []PlanProblem {
	c := planCheck{order: planOrderOf(p, func(int, string, string) {})}
	if c.order.findCycle() != nil {
		return nil
	}
	var subs []PlannedSubtask
	small := true
	for _, wave := range p.Waves {
		for _, s := range wave.Subtasks {
			subs = append(subs, s)
			small = small && s.Effort == EffortSmall
		}
	}
	instruction = strings.TrimSpace(instruction)
	if len(subs) > 2 && small && utf8.RuneCountInString(instruction) <= shortInstruction && !strings.Contains(instruction, "\n") {
		c.add("plan", fmt.Sprintf("splits a short instruction into %d small parts, each with a worker, checks and a review of its own", len(subs)), "plan one subtask, unless the parts are worth that")
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
