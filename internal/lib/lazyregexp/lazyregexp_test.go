package lazyregexp

import (
	"testing"
)

// TestFirstUse: an expression is compiled by its first use and not before, except in
// tests; a wrong one panics there.
func TestFirstUse(t *testing.T) {
	if !inTest {
		t.Error("this is a test, and is not seen as one")
	}
	panics := func(f func()) (does bool) {
		defer func() { does = recover() != nil }()
		f()
		return
	}
	if !panics(func() { New(`(`) }) {
		t.Error("a wrong expression is taken in a test")
	}
	inTest = false
	defer func() { inTest = true }()
	var wrong *Regexp
	if panics(func() { wrong = New(`(`) }) {
		t.Error("an expression is compiled before it is used")
	}
	if !panics(func() { wrong.MatchString("") }) {
		t.Error("a wrong expression is used")
	}
	r := New(`a(b*)`)
	for range 2 {
		if got := r.ReplaceAllString("xabbx", "[$1]"); got != "x[bb]x" || r.String() != `a(b*)` || r.MatchString("b") {
			t.Errorf("%q", got)
		}
	}
}
