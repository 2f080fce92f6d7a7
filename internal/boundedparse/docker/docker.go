// Package docker parses Dockerfiles that others wrote and expands the variables in them, within
// bounds of size, depth and memory.
package docker

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"company/internal/lazyregexp"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"
)

const (
	maxText     = 256 << 10 // bytes of a Dockerfile
	maxLines    = 5000      // each line of a here-document copies those before it
	maxBraces   = 500       // ${ in an argument: each may be within another one
	maxExpanded = 4 << 20   // bytes of an argument with its variables expanded
	maxMatched  = 4000      // bytes that a pattern is compared with, in time of the square
	maxPatterns = 50        // in an argument
)

// Parse parses a Dockerfile. The parser reads lines, of at most 64 KiB, and does not call itself.
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

// ExpandWord replaces the variables of an argument, and takes its quotes away unless they are to
// be kept.
func ExpandWord(word string, escape rune, keepQuotes bool, env map[string]string) (string, error) {
	longest := len(word)
	for _, value := range env {
		longest = max(longest, len(value))
	}
	signs, patterns := strings.Count(word, "$"), len(patternRE.FindAllStringIndex(word, maxPatterns+1))
	expanded := float64(len(word) + signs*longest)
	if replaceRE.MatchString(word) { // a text within a text multiplies them
		expanded = math.Pow(float64(longest), float64(signs))
	}
	switch {
	case len(word) > maxText || strings.Count(word, "${") > maxBraces:
		return "", errors.New("it is too large")
	case expanded > maxExpanded || patterns > maxPatterns || patterns > 0 && longest > maxMatched:
		return "", errors.New("its variables come to too much text")
	}
	lex := shell.NewLex(escape)
	lex.SkipProcessQuotes = keepQuotes
	out, _, err := lex.ProcessWord(word, variables(env))
	return out, err
}

// variables give the parser its variables.
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
