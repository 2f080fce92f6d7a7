// Package bash parses scripts for bash that others wrote, within bounds of size and depth.
package bash

import (
	"errors"
	"io"
	"runtime"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxText   = 128 << 10 // bytes of a script
	maxFrames = 1000      // of the stack under the parser; one level of a script takes five to ten
	maxLevels = 2000      // of the tree; a pipeline of n commands has 2n, without any nesting
	chunkSize = 256       // bytes between two looks at the stack
)

var (
	errSize  = errors.New("the script is larger than 128 KiB")
	errDepth = errors.New("the script is nested too deeply")
)

// Parse parses a script. A script that is too large or nested too deeply is an error,
// and so is bad syntax: callers cannot tell what such a script does. They may walk the
// tree, which calls itself for each level.
func Parse(text string) (*syntax.File, error) {
	if len(text) > maxText {
		return nil, errSize
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(&frameGuard{rest: text}, "")
	if err == nil && isTooDeep(file) {
		err = errDepth
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

// isTooDeep reports whether a tree has more than maxLevels. The parser reads a | b | c in
// a loop and still makes a level of each command.
func isTooDeep(file *syntax.File) bool {
	levels, deep := 0, false
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			levels--
			return true
		}
		levels++
		if levels <= maxLevels && !deep {
			return true
		}
		levels--
		deep = true
		return false
	})
	return deep
}

// frameGuard hands a script to the parser in small chunks. The parser asks for the next
// chunk from within its own recursion, so the stack at that moment is as deep as the
// text before it is nested. No counting of signs is that exact: brackets in a
// here-document count for nothing, and any construct that nests is seen.
type frameGuard struct{ rest string }

// Read fails once the stack is too deep. Between two calls the parser descends by at
// most one level a byte.
func (g *frameGuard) Read(p []byte) (int, error) {
	if runtime.Callers(maxFrames, make([]uintptr, 1)) > 0 {
		return 0, errDepth
	}
	if g.rest == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), chunkSize)], g.rest)
	g.rest = g.rest[n:]
	return n, nil
}
