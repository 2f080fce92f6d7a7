// Package bash parses untrusted bash scripts with limits on size and depth.
package bash

import (
	"errors"
	"io"
	"runtime"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxText   = 128 << 10 // bytes of a script
	maxFrames = 1000      // limit for the stack under the parser; one level of a script takes five to ten
	maxLevels = 2000      // limit for the tree; a pipeline of n commands has 2n levels without any nesting
	chunkSize = 256       // bytes between two checks of the stack
)

var (
	errSize  = errors.New("the script is larger than 128 KiB")
	errDepth = errors.New("the script is nested too deeply")
)

// Parse parses a script. It returns an error for invalid syntax, and for a script that is too large or nested too
// deeply: its behaviour is unknown to callers. Callers may walk the tree recursively.
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

// isTooDeep reports whether a tree has more than maxLevels levels. The parser reads a | b | c in a loop, but makes a
// level of each command.
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

// frameGuard passes a script to the parser in small chunks. The parser reads the next chunk from within its own
// recursion, so the depth of the stack shows how deeply the text so far is nested. Counting brackets would be less
// exact: brackets in a here-document do not count, and other constructs nest, too.
type frameGuard struct{ rest string }

// Read fails once the stack is too deep. Between two calls the parser descends by at most one level per byte.
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
