package agenttools

import (
	"fmt"
	"strings"

	"company/internal/lib/lazyregexp"
	"company/internal/toolbox/toolproto"
)

// leastCourse is the number of progress lines from which they are removed from an output. For one or two tests,
// a model wants to see that they ran.
const leastCourse = 6

var (
	courseLine = lazyregexp.New(`^\s*(?:=== (?:RUN|PAUSE|CONT|NAME)\s|--- PASS: )`)
	resultLine = lazyregexp.New(`^\s*--- (?:FAIL|SKIP): `)
	testsEnded = lazyregexp.New(`(?m)^(?:ok  \t|FAIL\b|PASS$)`)
)

// dropTestCourse removes the lines of go test -v that report that tests start, pause and pass, and adds their
// number. Failures and output stay, each after the name of its test.
func dropTestCourse(output *toolproto.Output) (dropped bool) {
	if !testsEnded.MatchString(output.Head) && !testsEnded.MatchString(output.Tail) {
		return false
	}
	lines, passed := 0, 0
	drop := func(text string) string {
		var kept strings.Builder
		underWay := "" // the line that names the test of the following output
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
	head, tail := drop(output.Head), drop(output.Tail)
	if lines < leastCourse {
		return false
	}
	output.Head, output.Tail = fmt.Sprintf(
		"[%d lines of go test -v left out: the course of its tests; %d of them tell that a test or a case passed]\n", lines,
		passed)+head, tail
	return true
}
