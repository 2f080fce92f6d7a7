package toolserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"company/internal/toolbox/toolproto"
)

// utf16Text returns a text in UTF-16.
func utf16Text(text string, big bool) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		pair := []byte{byte(unit), byte(unit >> 8)}
		if big {
			pair[0], pair[1] = pair[1], pair[0]
		}
		b.Write(pair)
	}
	return b.String()
}

const (
	latin    = "// caf\xe9 cr\xe8me\nx := 1\n"
	shiftJIS = "# \x83e\x83X\x83g\r\nx = 1\r\n"
	mixed    = "é and \xe9\nx = 1\n"
	bom      = "\xef\xbb\xbf"
)

// An edit changes what it names. All other bytes of the file stay, and so do its encoding, mark, line ends and mode.
func TestEditKeepsTheFormOfTheFile(t *testing.T) {
	for name, c := range map[string]struct{ stored, old, repl, want, kept string }{
		"Latin-1, ASCII":       {latin, "x := 1", "x := 2", strings.Replace(latin, "1", "2", 1), "not UTF-8"},
		"Latin-1, bytes":       {latin, "caf⟨e9⟩ cr⟨e8⟩me", "th⟨e9⟩", "// th\xe9\nx := 1\n", "not UTF-8"},
		"Shift-JIS":            {shiftJIS, "x = 1\n", "x = 2\ny = 3\n", "# \x83e\x83X\x83g\r\nx = 2\r\ny = 3\r\n", "CRLF"},
		"UTF-8 beside Latin-1": {mixed, "x = 1", "é = 2", "é and \xe9\né = 2\n", "not UTF-8"},
		"mark":                 {bom + "a\nb\n", "a\nb", "c\nd", bom + "c\nd\n", "UTF-8 with a byte order mark"},
		"mark in old":          {bom + "a\n", "\ufeffa", "\ufeffc", bom + "c\n", "byte order mark"},
		"mark, CRLF":           {bom + "a\r\nb\r\n", "a\n", "é\n", bom + "é\r\nb\r\n", "CRLF"},
		"mark before Latin-1":  {bom + "caf\xe9 a\n", "a\n", "b\n", bom + "caf\xe9 b\n", "not UTF-8"},
		"UTF-16LE": {"\xff\xfe" + utf16Text("één\r\ntwo\r\n", false), "één\n", "日本 😀\n",
			"\xff\xfe" + utf16Text("日本 😀\r\ntwo\r\n", false), "UTF-16LE with a byte order mark, CRLF line ends"},
		"UTF-16BE":              {"\xfe\xff" + utf16Text("a\nb\n", true), "b", "ç", "\xfe\xff" + utf16Text("a\nç\n", true), "UTF-16BE"},
		"UTF-16 without a mark": {utf16Text("[a]\nb=1\n", false), "b=1", "b=é", utf16Text("[a]\nb=é\n", false), "UTF-16LE"},
		"UTF-32": {"\xff\xfe\x00\x00a\x00\x00\x00b\x00\x00\x00", "b", "é", "\xff\xfe\x00\x00a\x00\x00\x00\xe9\x00\x00\x00",
			"UTF-32LE"},
		"CRLF":                 {"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc\r\n", "CRLF line ends"},
		"CRLF, by lines":       {"a  b\r\nc\r\n", "a b", "d", "d\r\nc\r\n", "CRLF"},
		"CR":                   {"a\rb\rc\r", "b\n", "x\ny\n", "a\rx\ry\rc\r", "CR line ends"},
		"mixed line ends":      {"a\r\nb\nc\r\n", "b", "x\ny", "a\r\nx\ny\nc\r\n", ""},
		"mixed, by lines":      {"a\r\n b\r\nc\n", "a\nb\n", "x\ny\n", "x\r\ny\r\nc\n", ""},
		"a lost character":     {"a \ufffd\nb\n", "b\n", "\ufffd\n", "a \ufffd\n\ufffd\n", ""},
		"binary":               {"\x00\xff\x00a\x01", "a", "b", "\x00\xff\x00b\x01", "not UTF-8"},
		"UTF-8 without a mark": {"é\n", "é", "日本", "日本\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.file(t, "f", c.stored)
			if err := os.Chmod(filepath.Join(b.dir, "f"), 0o751); err != nil {
				t.Fatal(err)
			}
			r, err := b.EditFile(t.Context(), toolproto.EditFileRequest{Path: "f", Old: c.old, New: c.repl})
			if err != nil {
				t.Fatal(err)
			}
			if got := b.content(t, "f"); got != c.want {
				t.Errorf("stored %q, want %q", got, c.want)
			}
			if (c.kept == "") != (r.Kept == "") || !strings.Contains(r.Kept, c.kept) {
				t.Errorf("kept %q, want %q", r.Kept, c.kept)
			}
			if info := must[os.FileInfo](t)(os.Stat(filepath.Join(b.dir, "f"))); info.Mode().Perm() != 0o751 {
				t.Errorf("mode %o", info.Mode().Perm())
			}
		})
	}
}

// A file that is written again keeps its form, too, and a model need not know it.
func TestWriteKeepsTheFormOfTheFile(t *testing.T) {
	for name, c := range map[string]struct{ stored, content, want, kept string }{
		"CRLF":                {"a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n", "CRLF line ends"},
		"CRLF, given both":    {"a\r\nb\r\n", "x\r\ny\n", "x\r\ny\r\n", "CRLF"},
		"CR":                  {"a\rb\r", "x\ny\n", "x\ry\r", "CR line ends"},
		"mixed line ends":     {"a\r\nb\n", "x\ny\n", "x\ny\n", ""},
		"LF":                  {"a\nb\n", "x\r\ny\r\n", "x\r\ny\r\n", ""},
		"no end of a line":    {"a\r\nb\r\n", "x", "x", "CRLF"},
		"mark":                {bom + "a\n", "é\n", bom + "é\n", "byte order mark"},
		"mark, given":         {bom + "a\n", "\ufeffé\n", bom + "é\n", "byte order mark"},
		"UTF-16":              {"\xff\xfe" + utf16Text("a\r\nb\r\n", false), "é\nb\n", "\xff\xfe" + utf16Text("é\r\nb\r\n", false), "UTF-16LE"},
		"Latin-1, all ASCII":  {latin, "x := 1\n", "x := 1\n", "not UTF-8"},
		"Latin-1, with bytes": {latin, "// caf⟨e9⟩\n", "// caf\xe9\n", "not UTF-8"},
		"empty":               {"", "é\n", "é\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.file(t, "f", c.stored)
			must[toolproto.ReadFileResult](t)(b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "f"}))
			r := must[toolproto.WriteFileResult](t)(
				b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: "f", Content: []byte(c.content)}))
			if got := b.content(t, "f"); got != c.want || r.Bytes != len(c.want) {
				t.Errorf("stored %q (%d bytes), want %q", got, r.Bytes, c.want)
			}
			if (c.kept == "") != (r.Kept == "") || !strings.Contains(r.Kept, c.kept) {
				t.Errorf("kept %q, want %q", r.Kept, c.kept)
			}
		})
	}
}

// A write that would mix two encodings, or store a lost character, is refused with what to do.
func TestLossesAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ stored, old, repl, says string }{
		"a letter into Latin-1":         {latin, "x := 1", "x := \"é\"", "the text has 'é', whose bytes"},
		"the word as it is meant":       {latin, "café", "thé", "stands in old as ⟨e9⟩"},
		"all of Latin-1 as UTF-8":       {latin, "", "// café crème\nx := 1\n", "iconv -f ENCODING -t UTF-8"},
		"another letter in a mixed one": {mixed, "x", "ü", "'ü'"},
		"a lost character":              {"a\n", "a", "\ufffd", `write it as an escape (\uFFFD) or by run_command`},
		"all of Latin-1, lost":          {latin, "", strings.ToValidUTF8(latin, "\ufffd"), "U+FFFD"},
		"a new file with a lost one":    {"", "", "caf\ufffd\n", "U+FFFD"},
		"shown bytes into UTF-8":        {"a\n", "a", "caf⟨e9⟩", "copy the file by run_command"},
		"the bytes' form as text":       {"⟨e9⟩ \xe9 a\n", "a", "b", "as text, too"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.file(t, "f", c.stored)
			must[toolproto.ReadFileResult](t)(b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "f"}))
			var err error
			if c.old != "" {
				_, err = b.EditFile(t.Context(), toolproto.EditFileRequest{Path: "f", Old: c.old, New: c.repl})
			} else {
				_, err = b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: "f", Content: []byte(c.repl)})
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if got := b.content(t, "f"); got != c.stored {
				t.Errorf("stored %q", got)
			}
		})
	}
}

// A model reads a file without its mark, and is told how it is stored where that matters.
func TestReadShowsTheTextOfAnyEncoding(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct{ stored, want string }{
		"latin":  {latin, "// caf⟨e9⟩ cr⟨e8⟩me\nx := 1\n(not UTF-8: ⟨e9⟩ and the like are single bytes"},
		"mark":   {bom + "a\r\nb", "a\nb\n"},
		"wide":   {"\xff\xfe" + utf16Text("één\r\n", false), "één\n(stored as UTF-16LE with a byte order mark; an edit is stored so"},
		"cr":     {"a\rb\r", "a\nb\n"},
		"lone":   {bom, "lone is empty"},
		"binary": {"\x00\x01\x02", "binary is a binary file of 3 bytes"},
	} {
		b.file(t, name, c.stored)
		r := must[toolproto.ReadFileResult](t)(b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: name}))
		if got := r.PlainText(); !strings.HasPrefix(got, c.want) || (r.Encoding == "") != !strings.HasSuffix(got, ")\n") {
			t.Errorf("%s is shown as %q", name, got)
		}
	}
	s := must[toolproto.SearchResult](t)(b.Search(t.Context(), toolproto.SearchRequest{Pattern: "^(één|a|// caf⟨e9⟩.*)$"}))
	if got := s.Text(); got != "cr:1: a\nlatin:1: // caf⟨e9⟩ cr⟨e8⟩me\nmark:1: a\nwide:1: één\n" {
		t.Errorf("found %q", got)
	}
	r := b.run(t, toolproto.RunRequest{Command: "cat latin"})
	if !strings.Contains(r.Stdout.String(), "caf⟨e9⟩ cr⟨e8⟩me") {
		t.Errorf("a command shows %q", r.Stdout.String())
	}
}
