package charset

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDetect(t *testing.T) {
	for name, c := range map[string]struct{ stored, encoding, text string }{
		"empty":                {"", "UTF-8", ""},
		"UTF-8":                {"é日😀\r\n", "UTF-8", "é日😀\r\n"},
		"UTF-8, marked":        {"\xef\xbb\xbfé", "UTF-8 with a byte order mark", "é"},
		"UTF-16LE":             {"\xff\xfe\xe9\x00\x3d\xd8\x00\xde", "UTF-16LE with a byte order mark", "é😀"},
		"UTF-16BE":             {"\xfe\xff\x00\xe9", "UTF-16BE with a byte order mark", "é"},
		"UTF-32LE":             {"\xff\xfe\x00\x00\xe9\x00\x00\x00", "UTF-32LE with a byte order mark", "é"},
		"UTF-32BE":             {"\x00\x00\xfe\xff\x00\x00\x00\xe9", "UTF-32BE with a byte order mark", "é"},
		"UTF-16LE, unmarked":   {"a\x00b\x00\n\x00\xe9\x00\xe5\x65", "UTF-16LE", "ab\né日"},
		"no text of ÿ":         {strings.Repeat("\xff\x00", 50), "unknown", strings.Repeat("⟨ff⟩\x00", 50)},
		"UTF-16BE, unmarked":   {"\x00a\x00\n\x00\xe9", "UTF-16BE", "a\né"},
		"Latin-1":              {"caf\xe9", "unknown", "caf⟨e9⟩"},
		"Latin-1, marked":      {"\xef\xbb\xbfcaf\xe9", "unknown with a byte order mark", "caf⟨e9⟩"},
		"half a unit":          {"\xff\xfea", "unknown", "⟨ff⟩⟨fe⟩a"},
		"half a pair":          {"\xff\xfe\x3d\xd8a\x00", "unknown", "⟨ff⟩⟨fe⟩=⟨d8⟩a\x00"},
		"small numbers":        {"\x01\x00\x02\x00\x03\x00", "UTF-8", "\x01\x00\x02\x00\x03\x00"},
		"a NUL":                {"a\x00b", "UTF-8", "a\x00b"},
		"a character was lost": {"\ufffd", "UTF-8", "\ufffd"},
	} {
		e := Detect([]byte(c.stored))
		text := e.Decode([]byte(c.stored))
		if e.String() != c.encoding || text != c.text {
			t.Errorf("%s: %s, %q", name, e, text)
		}
		if back, err := e.Encode(text); err != nil || string(back) != c.stored {
			t.Errorf("%s: stored again as %q: %v", name, back, err)
		}
	}
}

// What is encoded again after a change keeps each byte that was not changed, in every encoding.
func FuzzEncodingIsKept(f *testing.F) {
	for _, seed := range []string{"caf\xe9 \x00", "\xff\xfea\x00\r\x00\n\x00", "\xef\xbb\xbfa", "a\x00b\x00", "⟨e9⟩\xe9"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e := Detect(data)
		text := e.Decode(data)
		if !utf8.ValidString(text) {
			t.Fatalf("%s: not UTF-8: %q", e, text)
		}
		if !e.Known() && shownByte.Match(data) { // refused by whoever writes it
			return
		}
		back, err := e.Encode(text + "end")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(back), string(data)) {
			t.Fatalf("%s: %q became %q", e, data, back)
		}
	})
}
