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
	"unicode/utf16"
	"unicode/utf8"
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
	c := canonicalizer{in: text, out: make([]byte, 0, len(text))}
	if err := c.writeValue(); err != nil {
		return nil, err
	}
	return c.out, nil
}

// canonicalizer rewrites JSON that json.Marshal made: it is well formed,
// compact and of bounded depth, so only meaning is checked here, not syntax.
type canonicalizer struct {
	in  []byte
	pos int
	out []byte
}

func (c *canonicalizer) writeValue() error {
	switch c.in[c.pos] {
	case '{':
		return c.writeObject()
	case '[':
		return c.writeArray()
	case '"':
		c.out = appendString(c.out, c.readString())
		return nil
	case 't', 'n':
		return c.copyLiteral(4)
	case 'f':
		return c.copyLiteral(5)
	default:
		return c.writeNumber()
	}
}

func (c *canonicalizer) copyLiteral(n int) error {
	c.out = append(c.out, c.in[c.pos:c.pos+n]...)
	c.pos += n
	return nil
}

func (c *canonicalizer) writeArray() error {
	c.pos++
	c.out = append(c.out, '[')
	for c.in[c.pos] != ']' {
		if c.in[c.pos] == ',' {
			c.pos++
			c.out = append(c.out, ',')
		}
		if err := c.writeValue(); err != nil {
			return err
		}
	}
	c.pos++
	c.out = append(c.out, ']')
	return nil
}

func (c *canonicalizer) writeObject() error {
	type member struct {
		key      []byte
		from, to int // where its value stands in out, before sorting
	}
	c.pos++
	start := len(c.out)
	var members []member
	for c.in[c.pos] != '}' {
		if c.in[c.pos] == ',' {
			c.pos++
		}
		key := c.readString()
		c.pos++ // the colon
		from := len(c.out)
		if err := c.writeValue(); err != nil {
			return err
		}
		members = append(members, member{key, from, len(c.out)})
	}
	c.pos++

	slices.SortFunc(members, func(a, b member) int { return compareUTF16(a.key, b.key) })
	values := bytes.Clone(c.out[start:])
	c.out = append(c.out[:start], '{')
	for i, m := range members {
		if i > 0 {
			if bytes.Equal(m.key, members[i-1].key) {
				return fmt.Errorf("JSON object names the key %q twice", m.key)
			}
			c.out = append(c.out, ',')
		}
		c.out = append(appendString(c.out, m.key), ':')
		c.out = append(c.out, values[m.from-start:m.to-start]...)
	}
	c.out = append(c.out, '}')
	return nil
}

// readString reads a string and returns its bytes, always valid UTF-8: like
// encoding/json, it puts U+FFFD where bytes or lone surrogates mean nothing.
func (c *canonicalizer) readString() []byte {
	c.pos++
	end := c.pos
	plain := true
	for c.in[end] != '"' {
		if c.in[end] == '\\' {
			plain = false
			end++
		}
		end++
	}
	raw := c.in[c.pos:end]
	c.pos = end + 1
	if !plain {
		raw = unescapeString(raw)
	}
	if !utf8.Valid(raw) {
		// Not bytes.ToValidUTF8: it writes one mark for a run of bad bytes,
		// where encoding/json reads one per byte.
		raw = []byte(string([]rune(string(raw))))
	}
	return raw
}

func unescapeString(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := parseHexRune(s[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(s) >= i+7 && s[i+1] == '\\' && s[i+2] == 'u' {
					low = parseHexRune(s[i+3:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default: // quote, backslash, slash
			out = append(out, s[i])
		}
	}
	return out
}

func parseHexRune(s []byte) rune {
	n, err := strconv.ParseUint(string(s[:4]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

func appendString(out, s []byte) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for _, b := range s {
		switch {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b >= 0x20:
			out = append(out, b)
		case b == '\b':
			out = append(out, '\\', 'b')
		case b == '\f':
			out = append(out, '\\', 'f')
		case b == '\n':
			out = append(out, '\\', 'n')
		case b == '\r':
			out = append(out, '\\', 'r')
		case b == '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', digits[b>>4], digits[b&15])
		}
	}
	return append(out, '"')
}

// compareUTF16 orders valid UTF-8 by its UTF-16 code units. It differs from
// byte order only where a character beyond U+FFFF meets one of U+E000–U+FFFF.
func compareUTF16(a, b []byte) int {
	for len(a) > 0 && len(b) > 0 {
		ra, na := utf8.DecodeRune(a)
		rb, nb := utf8.DecodeRune(b)
		if ra != rb {
			ua, ub := ra, rb
			if (ra > 0xffff) != (rb > 0xffff) {
				ua, ub = firstUnit(ra), firstUnit(rb)
			}
			return int(ua) - int(ub)
		}
		a, b = a[na:], b[nb:]
	}
	return len(a) - len(b)
}

func firstUnit(r rune) rune {
	if r > 0xffff {
		r, _ = utf16.EncodeRune(r)
	}
	return r
}

func (c *canonicalizer) writeNumber() error {
	end := c.pos
	integer := true
scan:
	for ; end < len(c.in); end++ {
		switch c.in[end] {
		case ',', ']', '}':
			break scan
		case '.', 'e', 'E':
			integer = false
		}
	}
	literal := string(c.in[c.pos:end])
	c.pos = end
	if literal == "-0" {
		literal = "0"
	}
	if integer && len(literal) <= 15 {
		c.out = append(c.out, literal...) // exact and already shortest
		return nil
	}
	f, err := strconv.ParseFloat(literal, 64) //mutant:equal number all that is not 32 is 64 to ParseFloat
	if err != nil {
		return fmt.Errorf("JSON number %.40s is out of range: %w", literal, err)
	}
	from := len(c.out)
	c.out = appendNumber(c.out, f)
	if integer && string(c.out[from:]) != literal {
		return fmt.Errorf("JSON number %.40s is no exact double: write it as a string", literal)
	}
	return nil
}

// appendNumber writes a finite double as ECMAScript does.
func appendNumber(out []byte, f float64) []byte {
	if f == 0 {
		return append(out, '0') // -0 too
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	from := len(out)
	out = strconv.AppendFloat(out, f, 'e', -1, 64)
	// Go writes at least two digits of exponent, ECMAScript none too many.
	if n := len(out); n-from >= 4 && out[n-2] == '0' && (out[n-3] == '-' || out[n-3] == '+') {
		out[n-2] = out[n-1]
		out = out[:n-1]
	}
	return out
}
