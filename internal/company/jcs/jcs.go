// Package jcs writes the canonical JSON of a value, after RFC 8785: object keys in UTF-16 order, no white space,
// shortest numbers, no Unicode normalisation, no trailing newline. Canonical text stays unchanged when it is encoded
// again.
package jcs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Marshal returns the canonical JSON of a value. A json.RawMessage inside v is rewritten too.
//
// It refuses values that encoding/json refuses and objects with a repeated key. It also refuses an integer that a
// double cannot hold exactly (most integers above 2^53), since rounding would change it. Write such a number as a
// string.
func Marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("value has no JSON form: %w", err)
	}
	r := reader{text}
	return r.appendNext(make([]byte, 0, len(text)))
}

// reader parses the output of json.Marshal, which is well formed, compact and of limited depth. Using tokens of
// encoding/json would cost three times as much, and an append to the ledger writes its record several times.
type reader struct{ rest []byte }

// appendNext writes the next value.
func (r *reader) appendNext(out []byte) ([]byte, error) {
	switch r.rest[0] {
	case '{':
		return r.appendObject(out)
	case '[':
		return r.appendArray(out)
	case '"':
		s, err := r.readString()
		return AppendString(out, s), err
	}
	end := bytes.IndexAny(r.rest, ",]}")
	if end < 0 {
		end = len(r.rest)
	}
	literal := r.rest[:end]
	r.rest = r.rest[end:]
	if literal[0] >= 'a' { // true, false, null
		return append(out, literal...), nil
	}
	return appendNumber(out, string(literal))
}

// hasMore reports whether a list or an object has another element. It skips the comma or the closing bracket.
func (r *reader) hasMore(end byte) bool {
	c := r.rest[0]
	if c == ',' || c == end {
		r.rest = r.rest[1:]
	}
	return c != end
}

func (r *reader) appendArray(out []byte) ([]byte, error) {
	r.rest = r.rest[1:] // the bracket
	out = append(out, '[')
	for first := true; r.hasMore(']'); first = false {
		if !first {
			out = append(out, ',')
		}
		var err error
		if out, err = r.appendNext(out); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func (r *reader) appendObject(out []byte) ([]byte, error) {
	type member struct {
		key      string
		from, to int // offsets of its value, in the order of reading
	}
	r.rest = r.rest[1:] // the brace
	start := len(out)
	var members []member
	for r.hasMore('}') {
		key, err := r.readString()
		if err != nil {
			return nil, err
		}
		r.rest = r.rest[1:] // the colon
		from := len(out)
		if out, err = r.appendNext(out); err != nil {
			return nil, err
		}
		members = append(members, member{key, from - start, len(out) - start})
	}
	values := bytes.Clone(out[start:])
	slices.SortFunc(members, func(a, b member) int { return compareUTF16(a.key, b.key) })
	out = append(out[:start], '{')
	for i, m := range members {
		if i > 0 {
			if m.key == members[i-1].key {
				return nil, fmt.Errorf("JSON object names the key %q twice", m.key)
			}
			out = append(out, ',')
		}
		out = append(AppendString(out, m.key), ':')
		out = append(out, values[m.from:m.to]...)
	}
	return append(out, '}'), nil
}

// readString parses a string. Each byte that is not valid UTF-8 becomes U+FFFD.
func (r *reader) readString() (string, error) {
	end, plain := 1, true
	for ; r.rest[end] != '"'; end++ {
		if r.rest[end] == '\\' {
			end, plain = end+1, false
		}
	}
	literal := r.rest[:end+1]
	r.rest = r.rest[end+1:]
	if plain && utf8.Valid(literal) {
		return string(literal[1:end]), nil
	}
	var s string
	err := json.Unmarshal(literal, &s)
	return s, err
}

// compareUTF16 compares keys by their UTF-16 units. For ASCII keys that is the order of their bytes.
func compareUTF16(a, b string) int {
	if isASCII(a) && isASCII(b) {
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// AppendString appends a string in canonical form. s must be valid UTF-8.
func AppendString(out []byte, s string) []byte {
	out = append(out, '"')
	written := 0
	for i := range len(s) {
		b := s[i]
		if b >= 0x20 && b != '"' && b != '\\' {
			continue
		}
		out = append(out, s[written:i]...)
		written = i + 1
		if index := strings.IndexByte("\"\\\b\f\n\r\t", b); index >= 0 {
			out = append(out, '\\', `"\bfnrt`[index])
		} else {
			out = fmt.Appendf(out, `\u%04x`, b)
		}
	}
	return append(append(out, s[written:]...), '"')
}

// appendNumber appends a number in the form of ECMAScript.
func appendNumber(out []byte, literal string) ([]byte, error) {
	isInteger := !strings.ContainsAny(literal, ".eE")
	if isInteger && len(literal) <= 15 && literal != "-0" {
		return append(out, literal...), nil // exact, and already in the shortest form
	}
	f, err := strconv.ParseFloat(literal, 64) //mutant:equal number all that is not 32 is 64 to ParseFloat
	if err != nil {
		return nil, fmt.Errorf("JSON number %.40s is out of range: %w", literal, err)
	}
	text := "0" // -0 too
	switch abs := math.Abs(f); {
	case abs >= 1e-6 && abs < 1e21:
		text = strconv.FormatFloat(f, 'f', -1, 64)
	case f != 0:
		// Go writes at least two digits of exponent, ECMAScript as few as needed.
		text = strings.NewReplacer("e+0", "e+", "e-0", "e-").Replace(strconv.FormatFloat(f, 'e', -1, 64))
	}
	if isInteger && literal != "-0" && text != literal {
		return nil, fmt.Errorf("JSON number %.40s is not an exact double: write it as a string", literal)
	}
	return append(out, text...), nil
}
