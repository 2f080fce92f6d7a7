package prbody

import (
	"fmt"
	"strings"

	"company/internal/ecosystem/testreport"
)

// foldedTest is a test with the number of its named cases.
type foldedTest struct {
	name  string
	cases int
}

// foldTests groups the cases of a test: subtests with their test if that is listed too (TestX/a with TestX), and
// parameters with their function (test_x[1] with test_x). The order is that of first occurrences.
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

// joinFolded lists the first tests. unnamed is the number of tests beyond the list.
func joinFolded(tests []foldedTest, unnamed int, prOptions PROptions) string {
	var out []string
	more := max(0, unnamed)
	for i, t := range tests {
		if i >= prOptions.maxRows {
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
