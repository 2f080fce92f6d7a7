// Package toml decodes untrusted TOML with limits on size and depth.
package toml

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"
)

// Limits of a text. The parser is recursive for nested values, and a stack overflow ends the whole process. Its time
// grows with the square of a key's parts.
const (
	maxText  = 8 << 20 // bytes
	maxDepth = 64      // nested levels
	maxParts = 32      // parts of one dotted key
)

var errSyntax = errors.New("it is not TOML")

// Decode decodes a text into a value.
func Decode(text []byte, into any) error {
	if err := checkBounds(text); err != nil {
		return err
	}
	return toml.Unmarshal(text, into)
}

// DecodeOneSpelling is like Decode, for a text that another program also reads. It refuses a table with two keys that
// differ only in case: Decode would accept either for a field, but the other program reads only one.
func DecodeOneSpelling(text []byte, into any) error {
	if err := checkBounds(text); err != nil {
		return err
	}
	var all map[string]any
	if toml.Unmarshal(text, &all) != nil {
		return errSyntax
	}
	if hasTwoSpellings(all) {
		return errors.New("a table has two keys that differ only in case")
	}
	return toml.Unmarshal(text, into)
}

func hasTwoSpellings(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		folded := map[string]bool{}
		for key, inner := range v {
			at := foldCase(key)
			if folded[at] || hasTwoSpellings(inner) {
				return true
			}
			folded[at] = true
		}
	case []map[string]any:
		for _, inner := range v {
			if hasTwoSpellings(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasTwoSpellings)
	}
	return false
}

// foldCase maps all texts that strings.EqualFold treats as equal to the same text.
func foldCase(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

// checkBounds refuses texts that cost the parser too much. It only parses the ends of quoted texts and comments:
// brackets in them do not count, and must not hide brackets that do.
func checkBounds(text []byte) error {
	if len(text) > maxText {
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
				return errSyntax
			}
			i += n - 1
		case '[', '{':
			if depth, parts = depth+1, 0; depth > maxDepth {
				return errors.New("its values are nested too deep")
			}
		case ']', '}':
			depth, parts = depth-1, 0
		case '\n', '=', ',':
			parts = 0
		case '.':
			if parts++; parts > maxParts {
				return errors.New("one of its keys has too many parts")
			}
		}
	}
	return nil
}

// quotedLength returns the length of the quoted text at the start, quotes included. ok is false if it has no end.
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
