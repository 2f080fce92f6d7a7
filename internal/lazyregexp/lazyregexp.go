// Package lazyregexp compiles a regular expression when it is first used. It owns a
// type with the methods of regexp.Regexp that this program calls. It promises that
// a process pays for the expressions that it uses alone: hundreds of them, compiled
// at each start, were a third of the time of company --help. In a test every
// expression is compiled at once, so that a wrong one is found by any test.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression. It may be used by many goroutines.
type Regexp struct {
	text    string
	compile func() *regexp.Regexp
}

// inTest says that this process is a test's.
var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// New is the expression of a text that is part of the program: a wrong one panics, at
// its first use.
func New(text string) *Regexp {
	r := &Regexp{text: text, compile: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	if inTest {
		r.compile()
	}
	return r
}

// String is the text of the expression.
func (r *Regexp) String() string { return r.text }

// MatchString reports whether s has a match.
func (r *Regexp) MatchString(s string) bool { return r.compile().MatchString(s) }

// Match reports whether b has a match.
func (r *Regexp) Match(b []byte) bool { return r.compile().Match(b) }

// Find is the first match in b.
func (r *Regexp) Find(b []byte) []byte { return r.compile().Find(b) }

// FindString is the first match in s.
func (r *Regexp) FindString(s string) string { return r.compile().FindString(s) }

// FindStringIndex is where the first match in s lies.
func (r *Regexp) FindStringIndex(s string) []int { return r.compile().FindStringIndex(s) }

// FindSubmatch is the first match in b with its groups.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.compile().FindSubmatch(b) }

// FindStringSubmatch is the first match in s with its groups.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compile().FindStringSubmatch(s) }

// FindStringSubmatchIndex is where the first match in s lies, with its groups.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compile().FindStringSubmatchIndex(s)
}

// FindAllString is the first n matches in s, all for -1.
func (r *Regexp) FindAllString(s string, n int) []string { return r.compile().FindAllString(s, n) }

// FindAllStringIndex is where the first n matches in s lie.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compile().FindAllStringIndex(s, n)
}

// FindAllSubmatch is the first n matches in b with their groups.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.compile().FindAllSubmatch(b, n)
}

// FindAllStringSubmatch is the first n matches in s with their groups.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compile().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is where the first n matches in s lie, with their groups.
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

// ReplaceAllStringFunc replaces each match in s by what a function makes of it.
func (r *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.compile().ReplaceAllStringFunc(s, by)
}

// Split cuts s at its matches.
func (r *Regexp) Split(s string, n int) []string { return r.compile().Split(s, n) }
