package glob

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// globPart is one component of a pattern without braces.
type globPart struct {
	globstar bool
	tokens   []globToken
}

// globToken is a star, or one character of a set.
type globToken struct {
	star    bool
	set     runeSet
	literal bool // the set is a single literal character
}

// unreachableError is the error of a pattern that no path of a repository can match.
type unreachableError string

func (e unreachableError) Error() string { return string(e) }

// expandBraces returns the patterns that a glob with {a,b} expands to.
func expandBraces(s string) ([]string, error) {
	var out []string
	size := 0
	var expand func(s string, from int) error
	expand = func(s string, from int) error {
		open := -1
		var depth, start int
		var alts []string
		for i := from; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '[':
				end, err := classEnd(s, i)
				if err != nil {
					return err
				}
				i = end
			case '{':
				if depth++; depth == 1 {
					open, start = i, i+1
				}
			case ',':
				if depth == 1 {
					alts, start = append(alts, s[start:i]), i+1
				}
			case '}':
				if depth == 0 {
					return fmt.Errorf("a } without its {")
				}
				if depth--; depth > 0 {
					continue
				}
				for _, a := range append(alts, s[start:i]) {
					if err := expand(s[:open]+a+s[i+1:], open); err != nil {
						return err
					}
				}
				return nil
			}
		}
		if depth > 0 {
			return fmt.Errorf("a { without its }")
		}
		if size += len(s); len(out) == maxGlobBranches || size > maxGlobExpanded {
			return fmt.Errorf("its braces stand for more than %d patterns or %d bytes", maxGlobBranches, maxGlobExpanded)
		}
		out = append(out, s)
		return nil
	}
	if err := expand(s, 0); err != nil {
		return nil, err
	}
	return out, nil
}

// classEnd returns the index of the ] that closes the class opened at s[i].
func classEnd(s string, i int) (int, error) {
	j := i + 1
	if j < len(s) && (s[j] == '!' || s[j] == '^') {
		j++
	}
	for first := j; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case '/':
			return 0, fmt.Errorf("a class with a / in it")
		case ']':
			if j == first {
				return 0, fmt.Errorf("an empty class")
			}
			return j, nil
		}
	}
	return 0, fmt.Errorf("a [ without its ]")
}

// parsePattern parses a pattern without braces.
func parsePattern(s string, syntax Syntax) ([]globPart, error) {
	var parts []globPart
	var cur globPart
	begin := 0
	end := func(i int) error {
		switch raw := s[begin:i]; {
		case raw == "" && i == len(s):
			return unreachableError("it ends in a /, and a glob names files")
		case raw == "":
			return unreachableError("an empty component")
		case raw == "**" && syntax != Plain:
			cur = globPart{globstar: true}
		case isDots(cur.tokens):
			return unreachableError("a component . or .. in it")
		}
		// a/**/**/b equals a/**/b
		if !cur.globstar || len(parts) == 0 || !parts[len(parts)-1].globstar {
			parts = append(parts, cur)
		}
		cur, begin = globPart{}, i+1
		return nil
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		tok := globToken{set: runeSet{{r, r}}, literal: true}
		switch r {
		case '/':
			if err := end(i); err != nil {
				return nil, err
			}
			i += size
			continue
		case '*':
			tok = globToken{star: true}
		case '?':
			tok = globToken{set: nameSet}
		case '[':
			close, err := classEnd(s, i)
			if err != nil {
				return nil, err
			}
			if tok.set, err = parseClass(s[i+1:close], syntax); err != nil {
				return nil, err
			}
			tok.literal = false
			size = close + 1 - i
		case '\\':
			r, n := utf8.DecodeRuneInString(s[i+1:])
			if n == 0 || r == '/' {
				return nil, fmt.Errorf("a \\ before nothing that it could escape")
			}
			tok.set, size = runeSet{{r, r}}, n+1
		}
		if cur.tokens == nil {
			cur.tokens = make([]globToken, 0, strings.IndexByte(s[i:]+"/", '/'))
		}
		if n := len(cur.tokens); !tok.star || n == 0 || !cur.tokens[n-1].star {
			cur.tokens = append(cur.tokens, tok)
		}
		i += size
	}
	if err := end(len(s)); err != nil {
		return nil, err
	}
	return parts, nil
}

// parseClass parses the text between [ and ].
func parseClass(s string, syntax Syntax) (runeSet, error) {
	negate := s[0] == '!' && syntax != Plain || s[0] == '^'
	if negate {
		s = s[1:]
	}
	next := func() rune {
		if s[0] == '\\' {
			s = s[1:]
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		return r
	}
	var list runeSet
	for s != "" {
		lo := next()
		hi := lo
		if len(s) > 1 && s[0] == '-' {
			s = s[1:]
			if hi = next(); hi < lo {
				return nil, fmt.Errorf("a range in [...] that runs backwards")
			}
		}
		list = append(list, [2]rune{lo, hi})
	}
	rest := nameSet.subtract(list)
	if negate {
		return rest, nil
	}
	return nameSet.subtract(rest), nil
}

func isDots(tokens []globToken) bool {
	for _, t := range tokens {
		if !t.literal || t.set[0][0] != '.' {
			return false
		}
	}
	return len(tokens) == 1 || len(tokens) == 2
}

// literalPrefix returns the common beginning of all paths that the pattern matches.
func literalPrefix(parts []globPart) string {
	var b strings.Builder
	for i, p := range parts {
		if p.globstar && i == len(parts)-1 {
			break // a/** matches a, so the separator may be missing
		}
		if i > 0 {
			b.WriteByte('/')
		}
		if p.globstar {
			break
		}
		for _, globToken := range p.tokens {
			if !globToken.literal {
				return b.String()
			}
			b.WriteRune(globToken.set[0][0])
		}
	}
	return b.String()
}

// examplesOf returns sample paths of the pattern, with neutral names for its wildcards. One sample has a component for
// every **, the other has none.
func examplesOf(parts []globPart) []string {
	var out []string
	for _, fill := range []bool{true, false} {
		var names []string
		for _, p := range parts {
			if p.globstar {
				if fill {
					names = append(names, "_")
				}
				continue
			}
			var b strings.Builder
			for _, globToken := range p.tokens {
				switch {
				case globToken.star || globToken.set.contains('_'):
					b.WriteByte('_')
				default:
					r, ok := globToken.set.pickRune(kindOther)
					if !ok {
						r = '.'
					}
					b.WriteRune(r)
				}
			}
			names = append(names, b.String())
		}
		if e := strings.Join(names, "/"); e != "" && (len(out) == 0 || out[0] != e) {
			out = append(out, e)
		}
	}
	return out
}
