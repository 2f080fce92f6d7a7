// Package yaml parses untrusted YAML with limits on size, depth and memory.
package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a text.
type Limits struct {
	Bytes int
	Lines int // the parser's time grows with the square of a mapping's keys
	Depth int // nested levels
}

// decodeLimits are the limits of Decode.
var decodeLimits = Limits{Bytes: 4 << 20, Lines: 100_000, Depth: 100}

// Error is the error for a text that was not parsed, with its position.
type Error struct {
	Line, Column int
	Message      string
	Fix          string // hint for a text beyond a limit; empty for bad syntax
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// Parse parses a text into its documents. Duplicate keys are allowed. Every error is an *Error.
func Parse(text []byte, limits Limits) (file *ast.File, err error) {
	defer recoverParser(&err)
	tokens, err := readTokens(text, limits)
	if err != nil {
		return nil, err
	}
	file, err = parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, placeOf(err)
	}
	return file, nil
}

// Decode decodes the first document of a file, such as the settings of another program. An empty text changes no
// values. Unknown keys are ignored unless strict is set. Aliases are refused, because each can stand for any amount of
// text. Every error is an *Error.
func Decode(text []byte, into any, strict bool) (err error) {
	defer recoverParser(&err)
	tokens, err := readTokens(text, decodeLimits)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if t.Type == token.AliasType {
			return &Error{t.Position.Line, t.Position.Column, "an alias is refused", "write the value out"}
		}
	}
	var options []yaml.DecodeOption
	if strict {
		options = append(options, yaml.Strict())
	}
	if err := yaml.UnmarshalWithOptions(text, into, options...); err != nil {
		return placeOf(err)
	}
	return nil
}

// readTokens checks a text against the limits before the parser runs. The lexer is not recursive.
func readTokens(text []byte, limits Limits) (token.Tokens, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(text) > limits.Bytes {
		return nil, &Error{1, 1, fmt.Sprintf("the file has %d bytes", len(text)), fmt.Sprintf("%d are allowed", limits.Bytes)}
	}
	if err := checkLines(text, limits.Lines); err != nil {
		return nil, err
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		before := text[:i]
		return nil, &Error{1 + bytes.Count(before, []byte("\n")), i - bytes.LastIndexByte(before, '\n'), "a NUL byte",
			"save the file as plain UTF-8 text"}
	}
	tokens := lexer.Tokenize(string(text))
	return tokens, checkTokens(tokens, limits.Depth)
}

// recoverParser turns a panic of the parser into an error.
func recoverParser(err *error) {
	if r := recover(); r != nil {
		*err = &Error{Line: 1, Column: 1, Message: "the file cannot be read as YAML"}
	}
}

// placeOf turns a parser's error into one with a position. It drops the parser's own text, which quotes lines of the
// file at any length and uses much memory.
func placeOf(err error) error {
	out := &Error{Line: 1, Column: 1}
	if e := yaml.Error(nil); errors.As(err, &e) {
		out.Message = e.GetMessage()
		if t := e.GetToken(); t != nil && t.Position != nil {
			out.Line, out.Column = t.Position.Line, t.Position.Column
		}
	} else {
		out.Message = err.Error()
	}
	out.Message, _, _ = strings.Cut(out.Message, "\n")
	return out
}
