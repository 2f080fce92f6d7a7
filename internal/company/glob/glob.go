package glob

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxGlobBytes    = 1 << 10  // of one glob
	maxGlobBranches = 64       // patterns after brace expansion
	maxGlobExpanded = 16 << 10 // bytes of all patterns together
)

// Glob is a pattern for paths relative to the repository root (SUB-18). It may contain ** (as a whole component: any
// number of components, or zero), * and ? (within a component), [abc], [a-z], [^a], {a,b}, and \ before a literal
// character. A leading dot is an ordinary character. A glob names files, so it does not end in a slash.
//
// The zero Glob matches no path. A Glob is immutable and safe to share.
type Glob struct {
	src      string
	nfa      *automaton
	prefix   string   // every path matched starts with this
	examples []string // sample paths of the glob, with a neutral name for each wildcard
}

// SyntaxError is the error of a glob that is invalid or that could match a path outside the repository.
type SyntaxError struct{ Glob, Problem, Fix string }

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("glob %s: %s", quoteShort(e.Glob), e.Problem)
}

// Syntax selects the syntax that a pattern may use in addition to *, ? and [...].
type Syntax int

const (
	Full   Syntax = iota // {a,b}, ** and [!a]; a/** matches a too
	Ignore               // ** and [!a]; a/** matches files below a: .dockerignore, CODEOWNERS
	Plain                // no additions: path.Match
)

// Parse parses a glob of a plan or of the config. It refuses a glob that could match no path of a repository. Its error
// is a *SyntaxError.
func Parse(s string) (Glob, error) {
	switch {
	case s == "":
		return Glob{}, &SyntaxError{s, "it is empty", "name a file or a directory, such as internal/api/**"}
	case !utf8.ValidString(s):
		return Glob{}, &SyntaxError{s, "it is not valid UTF-8", "write the path in UTF-8"}
	case strings.ContainsFunc(s, unicode.IsControl):
		return Glob{}, &SyntaxError{s, "it contains a control character", "leave control characters out"}
	case strings.HasPrefix(s, "/"):
		return Glob{}, &SyntaxError{s, "it is absolute", "write it relative to the repository root, without the leading /"}
	}
	return parse(s, Full, func(err error) bool { return true })
}

// ParsePattern parses a pattern that a repository has for another program, such as a line of its .dockerignore.
// Alternatives that no path of a repository can match, such as ../x, are skipped. Its error is a *SyntaxError.
func ParsePattern(s string, syntax Syntax) (Glob, error) {
	return parse(s, syntax, func(err error) bool {
		unreachable := unreachableError("")
		return !errors.As(err, &unreachable)
	})
}

// parse parses a glob. It skips invalid alternatives if isFatal is false for their error.
func parse(s string, syntax Syntax, isFatal func(error) bool) (Glob, error) {
	if len(s) > maxGlobBytes {
		return Glob{}, &SyntaxError{s, fmt.Sprintf("it has %d bytes, %d are allowed", len(s), maxGlobBytes),
			"use a shorter glob, or several"}
	}
	branches := []string{s}
	if syntax == Full {
		var err error
		if branches, err = expandBraces(s); err != nil {
			return Glob{}, &SyntaxError{s, err.Error(), "close every brace and class, and use fewer alternatives"}
		}
	}
	glob := Glob{src: s, nfa: &automaton{}}
	for _, b := range branches {
		parts, err := parsePattern(b, syntax)
		if err != nil && !isFatal(err) {
			continue
		}
		if err != nil {
			return Glob{}, &SyntaxError{s, err.Error(), "write paths like internal/api/**, cmd/*/main.go, docs/{a,b}.md"}
		}
		prefix := literalPrefix(parts)
		if len(glob.nfa.starts) > 0 {
			prefix = commonPrefix(glob.prefix, prefix)
		}
		glob.prefix = prefix
		if err := glob.nfa.add(parts, syntax); err != nil {
			return Glob{}, &SyntaxError{s, err.Error(), "use several globs, or name folders instead of their files"}
		}
		glob.examples = append(glob.examples, examplesOf(parts)...)
	}
	glob.nfa.index()
	return glob, nil
}

// MustParse parses constant globs. It panics if one is invalid.
func MustParse(list ...string) []Glob {
	globs := make([]Glob, len(list))
	for i, s := range list {
		glob, err := Parse(s)
		if err != nil {
			panic(err)
		}
		globs[i] = glob
	}
	return globs
}

// Size returns the number of characters and wildcards of the glob after expanding its braces. Parsing it took time and
// memory in proportion to that.
func (g Glob) Size() int {
	if g.nfa == nil {
		return 0
	}
	return len(g.nfa.positions)
}

// String returns the glob as it was written.
func (g Glob) String() string { return g.src }

// Match reports whether the glob matches path. No glob matches a path that no file of a repository can have: an empty
// or absolute one, or one with an empty, . or .. component or a NUL.
func (g Glob) Match(path string) bool {
	unlimited := math.MaxInt
	return g.MatchWithin(path, &unlimited)
}

// MatchWithin is like Match but subtracts its steps from a budget. Once the budget is negative, no path matches.
func (g Glob) MatchWithin(path string, budget *int) bool {
	*budget--
	if *budget < 0 || g.nfa == nil || !strings.HasPrefix(path, g.prefix) {
		return false
	}
	return g.nfa.match(path, budget)
}

// Prefix returns the common beginning of all paths that the glob matches.
func (g Glob) Prefix() string { return g.prefix }

// IsLiteral reports whether the glob names exactly one path.
func (g Glob) IsLiteral() bool { return len(g.examples) == 1 && g.prefix == g.examples[0] }

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

func quoteShort(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%q...", s[:60])
	}
	return fmt.Sprintf("%q", s)
}
