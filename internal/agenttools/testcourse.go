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
	resultLine = lazyregexp.New(`^\s*--- (?:FAIL|SKIP): `)
	testsEnded = lazyregexp.New(`(?m)^(?:ok  \t|FAIL\b|PASS$)`)
)

// dropTestCourse takes out of an output the lines by which go test -v tells that tests
// begin, wait and pass, and says how many. Failures and output stay, each behind the name of its test.
func dropTestCourse(o *toolproto.Output) (dropped bool) {
	if !testsEnded.MatchString(o.Head) && !testsEnded.MatchString(o.Tail) {
		return false
	}
	lines, passed := 0, 0
	drop := func(text string) string {
		var kept strings.Builder
		underWay := "" // the line that names the test whose output comes next
		for line := range strings.Lines(text) {
			switch {
			case !courseLine.MatchString(line):
				if underWay != "" && !resultLine.MatchString(line) {
					kept.WriteString(underWay)
					lines--
				}
				underWay = ""
				kept.WriteString(line)
				continue
			case strings.Contains(line, "--- PASS: "):
				underWay = ""
				passed++
			default:
				underWay = line
			}
			lines++
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
