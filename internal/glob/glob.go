package glob

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxGlobBytes    = 1 << 10  // of one glob
	maxGlobBranches = 64       // patterns after brace expansion
	maxGlobExpanded = 16 << 10 // bytes of all patterns together
)

// Glob is a pattern for paths relative to the repository root (SUB-18), in
// doublestar's syntax: ** (as a whole component: any number of components,
// none included), * and ? (within a component), [abc], [a-z], [^a], {a,b},
// and \ before a character that is meant as it is. A leading dot is a
// character like any other. A glob names files, so it does not end in a slash.
//
// The zero Glob matches nothing. A Glob is immutable and safe to share.
type Glob struct {
	src      string
	nfa      *automaton
	prefix   string   // every path matched starts with this
	examples []string // paths that the glob spells out, wildcards filled with a neutral name
}

// SyntaxError is a glob that cannot be read, or that could name something
// outside the repository.
type SyntaxError struct{ Glob, Problem, Fix string }

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("glob %s: %s", quoteShort(e.Glob), e.Problem)
}

// Parse reads a glob. Its error is a *SyntaxError.
func Parse(s string) (Glob, error) {
	bad := func(what, fix string) (Glob, error) {
		return Glob{}, &SyntaxError{Glob: s, Problem: what, Fix: fix}
	}
	switch {
	case s == "":
		return bad("it is empty", "name a file or a directory, such as internal/api/**")
	case len(s) > maxGlobBytes:
		return bad(fmt.Sprintf("it has %d bytes, %d are allowed", len(s), maxGlobBytes), "use a shorter glob, or several")
	case !utf8.ValidString(s):
		return bad("it is not valid UTF-8", "write the path in UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return bad("it contains a control character", "leave control characters out")
	case strings.HasPrefix(s, "/"):
		return bad("it is absolute", "write it relative to the repository root, without the leading /")
	}
	branches, err := expandBraces(s)
	if err != nil {
		return bad(err.Error(), "close every brace and class, and use fewer alternatives")
	}
	g := Glob{src: s, nfa: newAutomaton()}
	for i, b := range branches {
		parts, err := parsePattern(b)
		if err != nil {
			return bad(err.Error(), "write paths like internal/api/**, cmd/*/main.go, docs/{a,b}.md")
		}
		g.nfa.add(parts)
		prefix := literalPrefix(parts)
		if i == 0 {
			g.prefix = prefix
		} else {
			g.prefix = commonPrefix(g.prefix, prefix)
		}
		g.examples = append(g.examples, examplesOf(parts)...)
	}
	return g, nil
}

// MustParse reads globs that stand in the code.
func MustParse(list ...string) []Glob {
	globs := make([]Glob, len(list))
	for i, s := range list {
		g, err := Parse(s)
		if err != nil {
			panic(err)
		}
		globs[i] = g
	}
	return globs
}

// String is the glob as it was written.
func (g Glob) String() string { return g.src }

// Match reports whether the glob matches path. A path that no file of a
// repository can have (empty, absolute, with an empty, . or .. component, or a
// NUL) is matched by nothing.
func (g Glob) Match(path string) bool {
	if g.nfa == nil {
		return false
	}
	v := pathStart
	cur := g.nfa.epsilonClosure(g.nfa.start)
	for _, r := range path {
		if v = v.next(runeKindOf(r)); v == pathDead || r == 0 {
			return false
		}
		if cur = g.nfa.stepStates(cur, r); cur == nil {
			return false
		}
	}
	return v.isAccepting() && slices.Contains(cur, g.nfa.final)
}

// Prefix is what every path that the glob matches starts with.
func (g Glob) Prefix() string { return g.prefix }

// IsLiteral reports whether the glob names exactly one path.
func (g Glob) IsLiteral() bool { return len(g.examples) == 1 && g.prefix == g.examples[0] }

// CommonPath is a shortest path that both globs match, if there is one, whatever
// files exist. It spends the budget, of pairs of states that it looks at; a
// question that is too large to decide counts as an overlap without a path.
//
// It walks the product of both automata and of the one that accepts the
// paths a repository can have, breadth first.
func CommonPath(a, b Glob, budget *int) (string, bool) {
	if a.nfa == nil || b.nfa == nil {
		return "", false
	}
	if p := commonPrefix(a.prefix, b.prefix); p != a.prefix && p != b.prefix {
		return "", false
	}
	type node struct {
		a, b int32
		v    pathState
	}
	type from struct {
		prev node
		r    rune // 0: no character was read
	}
	first := node{a.nfa.start, b.nfa.start, pathStart}
	seen := map[node]from{first: {}}
	queue := []node{first}
	visit := func(n, prev node, r rune) {
		if _, ok := seen[n]; !ok {
			seen[n] = from{prev, r}
			queue = append(queue, n)
		}
	}
	for i := 0; i < len(queue); i++ {
		if *budget--; *budget < 0 {
			return "", true
		}
		n := queue[i]
		if n.a == a.nfa.final && n.b == b.nfa.final && n.v.isAccepting() {
			var path []rune
			for n != first {
				f := seen[n]
				if f.r != 0 {
					path = append(path, f.r)
				}
				n = f.prev
			}
			slices.Reverse(path)
			return string(path), true
		}
		for _, ea := range a.nfa.edges[n.a] {
			if ea.set == nil {
				visit(node{ea.to, n.b, n.v}, n, 0)
			}
		}
		for _, eb := range b.nfa.edges[n.b] {
			if eb.set == nil {
				visit(node{n.a, eb.to, n.v}, n, 0)
			}
		}
		for _, ea := range a.nfa.edges[n.a] {
			for _, eb := range b.nfa.edges[n.b] {
				if ea.set == nil || eb.set == nil {
					continue
				}
				both := ea.set.intersectWith(eb.set)
				// One character of each kind stands for all of its kind: no
				// edge below tells two of them apart once both sets hold them.
				for _, k := range [...]runeKind{kindOther, kindDot, kindSlash} {
					if v := n.v.next(k); v != pathDead {
						if r, ok := both.pickRune(k); ok {
							visit(node{ea.to, eb.to, v}, n, r)
						}
					}
				}
			}
		}
	}
	return "", false
}

// Mentions reports whether one glob speaks of what the other means: a path that
// one spells out, its wildcards filled with a neutral name, is matched by the
// other. It is the weaker sister of CommonPath for classes of paths that may lie
// anywhere: docs/** could hold docs/migrations/, and **/*.go could hold
// .github/x.go, but neither is what its author speaks of, and to refuse them
// would leave no plan.
func (g Glob) Mentions(class Glob) bool {
	return slices.ContainsFunc(g.examples, class.Match) || slices.ContainsFunc(class.examples, g.Match)
}

// IsWithin reports whether all that the glob spells out lies in one of the
// classes.
func (g Glob) IsWithin(classes []Glob) bool {
	for _, e := range g.examples {
		if !slices.ContainsFunc(classes, func(c Glob) bool { return c.Match(e) }) {
			return false
		}
	}
	return len(g.examples) > 0
}

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
