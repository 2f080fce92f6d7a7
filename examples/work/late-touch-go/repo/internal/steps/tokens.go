package steps

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Fault is what is wrong with a text of steps.
type Fault struct {
	Column  int // of the character, from 1
	Message string
}

func (f *Fault) Error() string { return fmt.Sprintf("column %d: %s", f.Column, f.Message) }

type kind int

const (
	word   kind = iota
	quoted      // a text that stood in quotes
	sign        // a comma or a bar
	end
)

// token is a word, a quoted text or a sign.
type token struct {
	kind   kind
	text   string
	column int
}

func (t token) String() string {
	if t.kind == end {
		return "the end"
	}
	return fmt.Sprintf("%q", t.text)
}

// scan cuts a text into tokens. The last one is the end.
func scan(text string) ([]token, error) {
	var tokens []token
	letters := []rune(text)
	for i := 0; i < len(letters); {
		start := i
		switch c := letters[i]; {
		case unicode.IsSpace(c):
			i++
			continue
		case c == ',' || c == '|':
			i++
			tokens = append(tokens, token{sign, string(c), start + 1})
		case c == '"':
			inner, length, closed := unquote(letters[i:])
			if !closed {
				return nil, &Fault{start + 1, "the quotes are not closed"}
			}
			i += length
			tokens = append(tokens, token{quoted, inner, start + 1})
		default:
			for i < len(letters) && !unicode.IsSpace(letters[i]) && !strings.ContainsRune(`,|"`, letters[i]) {
				i++
			}
			tokens = append(tokens, token{word, string(letters[start:i]), start + 1})
		}
	}
	return append(tokens, token{end, "", len(letters) + 1}), nil
}

// unquote reads a text in quotes. It returns the text and how many characters it took.
func unquote(letters []rune) (text string, length int, closed bool) {
	var out strings.Builder
	for i := 1; i < len(letters); i++ {
		switch {
		case letters[i] == '"':
			return out.String(), i + 1, true
		case letters[i] == '\\' && i+1 < len(letters):
			i++
		}
		out.WriteRune(letters[i])
	}
	return "", 0, false
}

var plain = regexp.MustCompile(`^[^\s,|"\\]+$`)

// quote writes a name or a value as scan reads it.
func quote(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// quoteAll writes several names or values, with commas between them.
func quoteAll(texts []string) string {
	var out []string
	for _, text := range texts {
		out = append(out, quote(text))
	}
	return strings.Join(out, ", ")
}
