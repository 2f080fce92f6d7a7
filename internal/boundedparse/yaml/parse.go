// Package yaml parses YAML that others wrote, within bounds of size, depth and memory.
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

// Limits are what a text may have.
type Limits struct {
	Bytes int
	Lines int // the parser takes time in the square of the keys of a mapping
	Depth int // values within values
}

// decodeLimits are those of Decode.
var decodeLimits = Limits{Bytes: 4 << 20, Lines: 100_000, Depth: 100}

// Error is a text that was not parsed, with its place.
type Error struct {
	Line, Column int
	Message      string
	Fix          string // what can be done about a limit that the text breaks; empty means bad syntax
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// Parse parses a text into its documents. Keys may be there twice. Every error is an *Error.
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

// Decode decodes the first document of a file that a person wrote for a program, such as
// the settings of another program. An empty text changes nothing, and keys for which the
// value has no field are passed over unless strict is set. Aliases are refused: each stands for any
// amount of text. Every error is an *Error.
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

// readTokens checks a text against its limits before any parser sees it. The lexer does not
// call itself.
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
		return nil, &Error{1 + bytes.Count(before, []byte("\n")), i - bytes.LastIndexByte(before, '\n'), "a NUL byte", "save the file as plain UTF-8 text"}
	}
	tokens := lexer.Tokenize(string(text))
	return tokens, checkTokens(tokens, limits.Depth)
}

// recoverParser turns a crash of the parser into an error.
func recoverParser(err *error) {
	if r := recover(); r != nil {
		*err = &Error{Line: 1, Column: 1, Message: "the file cannot be read as YAML"}
	}
}

// placeOf turns an error of the parser into one with its place. Its own text quotes lines of
// the file, however long they are, and takes much memory.
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
