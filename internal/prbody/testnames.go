package prbody

import (
	"fmt"
	"strings"

	"company/internal/testreport"
)

// foldedTest is a test with how many of its cases are named beside it.
type foldedTest struct {
	name  string
	cases int
}

// foldTests folds the cases of a test into it: subtests into a test that is named too
// (TestX/a into TestX), and parameters into what they are of (test_x[1] into test_x). The
// order is that of the first of each.
func foldTests(names []string) []foldedTest {
	named := map[string]bool{}
	for _, n := range names {
		named[n] = true
	}
	var out []foldedTest
	at := map[string]int{}
	for _, n := range names {
		parent := testreport.ParentOf(n, named)
		i, seen := at[parent]
		if !seen {
			i = len(out)
			at[parent] = i
			out = append(out, foldedTest{name: parent})
		}
		if parent != n {
			out[i].cases++
		}
	}
	return out
}

// joinFolded names the first of some tests; unnamed are those beyond the list.
func joinFolded(tests []foldedTest, unnamed int, o PROptions) string {
	var out []string
	more := max(0, unnamed)
	for i, t := range tests {
		if i >= o.maxRows {
			more += 1 + t.cases
			continue
		}
		text := codeSpan(t.name)
		if t.cases > 0 {
			text += " (" + countNoun(t.cases, "case") + ")"
		}
		out = append(out, text)
	}
	text := strings.Join(out, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
