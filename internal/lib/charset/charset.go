// Package charset finds out how a text is encoded, decodes it to UTF-8 and encodes an edited text in the same way, so
// that every byte outside of the edit stays. It knows UTF-8, UTF-16 and UTF-32. It never guesses an encoding of eight
// bits, because a wrong guess looks right: in any other text, each byte that is not UTF-8 is shown as ⟨e9⟩.
package charset

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"company/internal/lib/lazyregexp"
)

// Mark is the byte order mark as a character.
const Mark = "\uFEFF"

// Encoding is how a text is stored.
type Encoding struct {
	name  string
	mark  string            // the bytes of its byte order mark, or ""
	codec encoding.Encoding // nil for UTF-8
}

const (
	utf8Name    = "UTF-8"
	unknownName = "unknown"
)

var (
	utf16LE = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	utf16BE = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
)

// sniffed is how many bytes of a text are examined to recognize an encoding without a mark.
const sniffed = 8 << 10

// marked are the encodings with a mark. UTF-32 stands first, because its mark begins with that of UTF-16.
var marked = []Encoding{
	{"UTF-32LE", "\xff\xfe\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"UTF-32BE", "\x00\x00\xfe\xff", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"UTF-16LE", "\xff\xfe", utf16LE},
	{"UTF-16BE", "\xfe\xff", utf16BE},
	{utf8Name, Mark, nil},
}

// Detect returns the encoding of a text. It is one that decodes the whole text without a loss.
func Detect(data []byte) Encoding {
	for _, e := range marked {
		if bytes.HasPrefix(data, []byte(e.mark)) && e.isLossless(data) {
			return e
		}
	}
	if e, ok := detectUnmarked(data); ok {
		return e
	}
	if utf8.Valid(data) {
		return Encoding{name: utf8Name}
	}
	e := Encoding{name: unknownName}
	if bytes.HasPrefix(data, []byte(Mark)) {
		e.mark = Mark
	}
	return e
}

// detectUnmarked recognizes UTF-16 without a mark. Most characters of most texts are ASCII, with a zero in the same
// half.
func detectUnmarked(data []byte) (Encoding, bool) {
	if bytes.IndexByte(data, 0) < 0 {
		return Encoding{}, false
	}
	var zeros [2]int
	head := data[:min(len(data), sniffed)]
	for i := 0; i+1 < len(head); i += 2 {
		switch low, high := head[i], head[i+1]; {
		case low == 0 && high < utf8.RuneSelf:
			zeros[0]++
		case high == 0 && low < utf8.RuneSelf:
			zeros[1]++
		}
	}
	e := Encoding{name: "UTF-16LE", codec: utf16LE}
	if zeros[0] > zeros[1] {
		e = Encoding{name: "UTF-16BE", codec: utf16BE}
	}
	likely := min(zeros[0], zeros[1]) == 0 && max(zeros[0], zeros[1]) > len(head)/4
	return e, likely && e.isLossless(data) && !strings.ContainsFunc(e.Decode(data), isOddControl)
}

// isOddControl reports whether a character is in no text, but often in binary data.
func isOddControl(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\r\f", r) }

func (e Encoding) isLossless(data []byte) bool {
	if e.codec == nil {
		return utf8.Valid(data)
	}
	back, err := e.Encode(e.Decode(data))
	return err == nil && bytes.Equal(back, data)
}

// Known reports whether the encoding is one of Unicode.
func (e Encoding) Known() bool { return e.name != unknownName }

// Marked reports whether the text begins with a byte order mark.
func (e Encoding) Marked() bool { return e.mark != "" }

// IsUTF8 reports whether the text is UTF-8, with or without a mark.
func (e Encoding) IsUTF8() bool { return e.name == utf8Name }

// String returns the name of the encoding for people and models.
func (e Encoding) String() string {
	if e.mark != "" {
		return e.name + " with a byte order mark"
	}
	return e.name
}

// Decode returns the text in UTF-8 without its mark.
func (e Encoding) Decode(data []byte) string {
	data = data[len(e.mark):]
	switch {
	case !e.Known():
		return ShowBytes(string(data))
	case e.codec == nil:
		return string(data)
	}
	text, err := e.codec.NewDecoder().Bytes(data)
	if err != nil { // these decoders replace what they cannot read
		return ""
	}
	return string(text)
}

// Encode returns a text as it is stored. It is the reverse of Decode, but for a text of unknown encoding that already
// contains ⟨e9⟩ as characters.
func (e Encoding) Encode(text string) ([]byte, error) {
	switch {
	case !e.Known():
		return []byte(e.mark + shownByte.ReplaceAllStringFunc(text, func(shown string) string {
			n, _ := strconv.ParseUint(strings.Trim(shown, "⟨⟩"), 16, 8)
			return string([]byte{byte(n)})
		})), nil
	case e.codec == nil:
		return []byte(e.mark + text), nil
	}
	data, err := e.codec.NewEncoder().Bytes([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("encode in %s: %w", e.name, err)
	}
	return append([]byte(e.mark), data...), nil
}

// shownByte matches a byte of ShowBytes.
var shownByte = lazyregexp.New(`⟨[89a-f][0-9a-f]⟩`)

// HideBytes removes the bytes that ShowBytes made visible.
func HideBytes(text string) string { return shownByte.ReplaceAllString(text, "") }

// ShowBytes returns a text in which each byte that is not UTF-8 is visible, as ⟨e9⟩.
func ShowBytes(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		if _, n := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "⟨%02x⟩", text[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// DecodeUnicode returns a text of a known encoding in UTF-8 without its mark, and any other text as it is.
func DecodeUnicode(data []byte) string {
	e := Detect(data)
	if !e.Known() {
		return string(data)
	}
	return e.Decode(data)
}
