package agenttools

import (
	"fmt"
	"strings"

	"company/internal/lazyregexp"
	"company/internal/toolproto"
)

// leastCourse is how many lines on the course of tests an output has at least that loses
// them: of one or two tests a model wants to see that they ran.
const leastCourse = 6

var (
	courseLine = lazyregexp.New(`^\s*(?:=== (?:RUN|PAUSE|CONT|NAME)\s|--- PASS: )`)
	testsEnded = lazyregexp.New(`(?m)^(?:ok  \t|FAIL\b|PASS$)`)
)

// dropTestCourse takes out of an output the lines by which go test -v tells that tests
// begin, wait and pass, and says how many. What fails or prints stays.
func dropTestCourse(o *toolproto.Output) (dropped bool) {
	if !testsEnded.MatchString(o.Head) && !testsEnded.MatchString(o.Tail) {
		return false
	}
	lines, passed := 0, 0
	drop := func(text string) string {
		var kept strings.Builder
		for line := range strings.Lines(text) {
			if !courseLine.MatchString(line) {
				kept.WriteString(line)
				continue
			}
			if lines++; strings.Contains(line, "--- PASS: ") {
				passed++
			}
		}
		return kept.String()
	}
	head, tail := drop(o.Head), drop(o.Tail)
	if lines < leastCourse {
		return false
	}
	o.Head, o.Tail = fmt.Sprintf("[%d lines of go test -v left out: the course of its tests; %d of them tell that a test or a case passed]\n", lines, passed)+head, tail
	return true
}
