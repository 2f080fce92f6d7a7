package ecosystem

import (
	"bytes"
	"errors"

	"github.com/BurntSushi/toml"
)

// Bounds of a TOML file of a repository. The parser calls itself for each value
// within a value, and what overflows the stack of one goroutine ends the whole
// process; it takes time in the square of a key's parts.
const (
	maxTOML      = 8 << 20 // bytes
	maxTOMLDepth = 64      // values within values
	maxTOMLParts = 32      // of one dotted key
)

var errTOML = errors.New("it is no TOML")

// ReadTOML reads an untrusted TOML file.
func ReadTOML(text []byte, into any) error {
	if err := checkTOMLBounds(text); err != nil {
		return err
	}
	return toml.Unmarshal(text, into)
}

// checkTOMLBounds refuses what would cost the parser too much. It knows of the
// grammar only where text ends: texts and comments hold brackets that count for
// nothing, and must not hide those that do.
func checkTOMLBounds(text []byte) error {
	if len(text) > maxTOML {
		return errors.New("it is too large for a TOML file")
	}
	depth, parts := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '#':
			n := bytes.IndexByte(text[i:], '\n')
			if n < 0 {
				return nil
			}
			i, parts = i+n, 0
		case '"', '\'':
			n, ok := quotedLength(text[i:])
			if !ok {
				return errTOML
			}
			i += n - 1
		case '[', '{':
			if depth, parts = depth+1, 0; depth > maxTOMLDepth {
				return errors.New("its values lie too deep in one another")
			}
		case ']', '}':
			depth, parts = depth-1, 0
		case '\n', '=', ',':
			parts = 0
		case '.':
			if parts++; parts > maxTOMLParts {
				return errors.New("one of its keys has too many parts")
			}
		}
	}
	return nil
}

// quotedLength is the length of the text that a file begins with, its quotes
// included; not ok if it has no end.
func quotedLength(text []byte) (n int, ok bool) {
	q := text[0]
	long := len(text) >= 3 && text[1] == q && text[2] == q
	i := 1
	if long {
		i = 3
	}
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && q == '"':
			i++
		case c == '\n' && !long:
			return 0, false
		case c == q && !long:
			return i + 1, true
		case c == q && i+2 < len(text) && text[i+1] == q && text[i+2] == q:
			// Up to two more quotes belong to the text.
			for i += 3; i < len(text) && text[i] == q && n < 2; n++ {
				i++
			}
			return i, true
		}
	}
	return 0, false
}
