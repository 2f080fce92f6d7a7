// Package generate writes the parts of docs/ that are made from the code: the keys
// of company.yaml, the error codes, the variables, the limits, and the shapes of
// the JSON output with their schemas.
//
// It owns the marks between which a page of docs/ holds generated lines, and the
// tables that go there. It promises that the same tree gives the same bytes, and
// that lines outside of the marks stay as they are. It is for tools/handbook and
// for tests: the program company does not contain it.
package generate
