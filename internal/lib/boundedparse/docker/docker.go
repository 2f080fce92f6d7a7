// Package docker parses untrusted Dockerfiles and expands their variables, with limits on size, depth and memory.
package docker

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"company/internal/lib/lazyregexp"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"
)

const (
	maxText     = 256 << 10 // bytes of a Dockerfile
	maxLines    = 5000      // each line of a here-document copies the earlier ones
	maxBraces   = 500       // ${ in an argument; they may be nested
	maxExpanded = 4 << 20   // size of an argument with its variables expanded, in bytes
	maxMatched  = 4000      // bytes that a pattern is compared with, in quadratic time
	maxPatterns = 50        // patterns in an argument
)

// Parse parses a Dockerfile. The parser reads lines of at most 64 KiB and is not recursive.
func Parse(text []byte) (*parser.Result, error) {
	if len(text) > maxText || bytes.Count(text, []byte("\n")) > maxLines {
		return nil, fmt.Errorf("it is larger than %d KiB, or has more than %d lines", maxText>>10, maxLines)
	}
	return parser.Parse(bytes.NewReader(text))
}

var (
	patternRE = lazyregexp.New(`\$\{[^}:+?=-]*[#%/]`) // ${name#pattern}, ${name%pattern}, ${name/pattern/text}
	replaceRE = lazyregexp.New(`\$\{[^}:+?=-]*/`)
)

// ExpandWord expands the variables of an argument, and removes its quotes unless keepQuotes is set.
func ExpandWord(word string, escape rune, keepQuotes bool, env map[string]string) (string, error) {
	longest := len(word)
	for _, value := range env {
		longest = max(longest, len(value))
	}
	signs, patterns := strings.Count(word, "$"), len(patternRE.FindAllStringIndex(word, maxPatterns+1))
	expanded := float64(len(word) + signs*longest)
	if replaceRE.MatchString(word) { // nested replacements multiply the size
		expanded = math.Pow(float64(longest), float64(signs))
	}
	switch {
	case len(word) > maxText || strings.Count(word, "${") > maxBraces:
		return "", errors.New("it is too large")
	case expanded > maxExpanded || patterns > maxPatterns || patterns > 0 && longest > maxMatched:
		return "", errors.New("the values of its variables are too long")
	}
	lex := shell.NewLex(escape)
	lex.SkipProcessQuotes = keepQuotes
	out, _, err := lex.ProcessWord(word, variables(env))
	return out, err
}

// variables supplies variables to the parser.
type variables map[string]string

func (v variables) Get(name string) (string, bool) {
	value, ok := v[name]
	return value, ok
}

func (v variables) Keys() []string {
	var names []string
	for name := range v {
		names = append(names, name)
	}
	return names
}
