// Package jcs writes the canonical JSON of a value, after RFC 8785: object keys
// by UTF-16 order, no white space, shortest numbers, no Unicode normalisation,
// no trailing newline. The canonical text of a canonical text is itself.
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
)

// Marshal is the one JSON text of a value. A json.RawMessage inside v is
// rewritten with the rest.
//
// Refused are: what encoding/json refuses, an object that names a key twice,
// and an integer that a double cannot hold in full (above 2^53 most of them),
// since writing it shorter would change it. Write such a number as a string.
func Marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("value has no JSON form: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return appendNext(make([]byte, 0, len(text)), dec)
}

// appendNext writes the next value of dec, which reads what json.Marshal made:
// it is well formed and of bounded depth.
func appendNext(out []byte, dec *json.Decoder) ([]byte, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return appendObject(out, dec)
		}
		return appendArray(out, dec)
	case string:
		return appendString(out, t), nil
	case json.Number:
		return appendNumber(out, string(t))
	case bool:
		return strconv.AppendBool(out, t), nil
	}
	return append(out, "null"...), nil
}

func appendArray(out []byte, dec *json.Decoder) ([]byte, error) {
	out = append(out, '[')
	for first := true; dec.More(); first = false {
		if !first {
			out = append(out, ',')
		}
		var err error
		if out, err = appendNext(out, dec); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token() // the bracket
	return append(out, ']'), err
}

func appendObject(out []byte, dec *json.Decoder) ([]byte, error) {
	type member struct {
		key   string
		units []uint16 // of the key: what it is sorted by
		value []byte
	}
	var members []member
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		value, err := appendNext(nil, dec)
		if err != nil {
			return nil, err
		}
		key := token.(string)
		members = append(members, member{key, utf16.Encode([]rune(key)), value})
	}
	slices.SortFunc(members, func(a, b member) int { return slices.Compare(a.units, b.units) })
	out = append(out, '{')
	for i, m := range members {
		if i > 0 {
			if m.key == members[i-1].key {
				return nil, fmt.Errorf("JSON object names the key %q twice", m.key)
			}
			out = append(out, ',')
		}
		out = append(appendString(out, m.key), ':')
		out = append(out, m.value...)
	}
	_, err := dec.Token() // the brace
	return append(out, '}'), err
}

func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		b := s[i]
		if b >= 0x20 && b != '"' && b != '\\' {
			out = append(out, b)
		} else if at := strings.IndexByte("\"\\\b\f\n\r\t", b); at >= 0 {
			out = append(out, '\\', `"\bfnrt`[at])
		} else {
			out = fmt.Appendf(out, `\u%04x`, b)
		}
	}
	return append(out, '"')
}

// appendNumber writes a number as ECMAScript does.
func appendNumber(out []byte, literal string) ([]byte, error) {
	f, err := strconv.ParseFloat(literal, 64) //mutant:equal number all that is not 32 is 64 to ParseFloat
	if err != nil {
		return nil, fmt.Errorf("JSON number %.40s is out of range: %w", literal, err)
	}
	text := "0" // -0 too
	switch abs := math.Abs(f); {
	case abs >= 1e-6 && abs < 1e21:
		text = strconv.FormatFloat(f, 'f', -1, 64)
	case f != 0:
		// Go writes at least two digits of exponent, ECMAScript none too many.
		text = strings.NewReplacer("e+0", "e+", "e-0", "e-").Replace(strconv.FormatFloat(f, 'e', -1, 64))
	}
	if !strings.ContainsAny(literal, ".eE") && literal != "-0" && text != literal {
		return nil, fmt.Errorf("JSON number %.40s is no exact double: write it as a string", literal)
	}
	return append(out, text...), nil
}
