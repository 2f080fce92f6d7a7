// Package lazyregexp compiles regular expressions on first use. Its type has the methods of regexp.Regexp that this
// program calls. A process only pays for the expressions that it uses: compiling hundreds of them at each start took a
// third of the time of company --help. In tests every expression is compiled at once, so that any test finds an
// invalid one.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression. It is safe for concurrent use.
type Regexp struct {
	text    string
	compile func() *regexp.Regexp
}

// inTest reports whether this process runs tests.
var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// New returns the regular expression of a constant text. An invalid text panics on first use.
func New(text string) *Regexp {
	r := &Regexp{text: text, compile: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	if inTest {
		r.compile()
	}
	return r
}

// String returns the text of the expression.
func (r *Regexp) String() string { return r.text }

// MatchString reports whether s has a match.
func (r *Regexp) MatchString(s string) bool { return r.compile().MatchString(s) }

// Match reports whether b has a match.
func (r *Regexp) Match(b []byte) bool { return r.compile().Match(b) }

// Find returns the first match in b.
func (r *Regexp) Find(b []byte) []byte { return r.compile().Find(b) }

// FindString returns the first match in s.
func (r *Regexp) FindString(s string) string { return r.compile().FindString(s) }

// FindStringIndex returns the position of the first match in s.
func (r *Regexp) FindStringIndex(s string) []int { return r.compile().FindStringIndex(s) }

// FindSubmatch returns the first match in b with its groups.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.compile().FindSubmatch(b) }

// FindStringSubmatch returns the first match in s with its groups.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compile().FindStringSubmatch(s) }

// FindStringSubmatchIndex returns the positions of the first match in s and its groups.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compile().FindStringSubmatchIndex(s)
}

// FindAllString returns the first n matches in s, or all if n is -1.
func (r *Regexp) FindAllString(s string, n int) []string { return r.compile().FindAllString(s, n) }

// FindAllStringIndex returns the positions of the first n matches in s.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compile().FindAllStringIndex(s, n)
}

// FindAllSubmatch returns the first n matches in b with their groups.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.compile().FindAllSubmatch(b, n)
}

// FindAllStringSubmatch returns the first n matches in s with their groups.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compile().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex returns the positions of the first n matches in s and their groups.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compile().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAll replaces each match in b.
func (r *Regexp) ReplaceAll(b, by []byte) []byte { return r.compile().ReplaceAll(b, by) }

// ReplaceAllString replaces each match in s.
func (r *Regexp) ReplaceAllString(s, by string) string { return r.compile().ReplaceAllString(s, by) }

// ReplaceAllLiteralString replaces each match in s by a text without references.
func (r *Regexp) ReplaceAllLiteralString(s, by string) string {
	return r.compile().ReplaceAllLiteralString(s, by)
}

// ReplaceAllStringFunc replaces each match in s by the result of a function.
func (r *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.compile().ReplaceAllStringFunc(s, by)
}

// Split splits s at its matches.
func (r *Regexp) Split(s string, n int) []string { return r.compile().Split(s, n) }
