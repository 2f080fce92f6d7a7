package toolserver

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"company/internal/lib/charset"
	"company/internal/toolbox/toolproto"
)

// storedText is the text of a file as a model sees it, and how the file stores it. Encoding, byte order mark and line
// ends belong to the file: a model's text is brought into their form, whatever the model writes.
type storedText struct {
	text     string // UTF-8, with LF if all line ends are the same
	data     []byte
	encoding charset.Encoding
	lineEnd  string // of all lines if it is not LF, else ""
}

func readStoredText(data []byte) storedText {
	stored := storedText{data: data, encoding: charset.Detect(data)}
	stored.text = stored.encoding.Decode(data)
	feeds, returns := strings.Count(stored.text, "\n"), strings.Count(stored.text, "\r")
	switch {
	case feeds == 0 && returns > 1:
		stored.lineEnd = "\r"
	case feeds > 0 && feeds == returns && feeds == strings.Count(stored.text, "\r\n"):
		stored.lineEnd = "\r\n"
	default:
		return stored
	}
	stored.text = strings.ReplaceAll(stored.text, stored.lineEnd, "\n")
	return stored
}

// adoptText brings a model's text into the form of the file's text.
func (t storedText) adoptText(text string) string {
	if t.encoding.Marked() {
		text = strings.TrimPrefix(text, charset.Mark)
	}
	if t.lineEnd != "" {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		text = strings.ReplaceAll(text, t.lineEnd, "\n")
	}
	return text
}

// encodeText returns a new text of the file as it is stored. It refuses a text that the file cannot hold without
// mixing two encodings, and one in which characters were lost.
func (t storedText) encodeText(path, text string) ([]byte, error) {
	if err := t.checkCharacters(path, text); err != nil {
		return nil, err
	}
	if t.lineEnd != "" {
		text = strings.ReplaceAll(text, "\n", t.lineEnd)
	}
	data, err := t.encoding.Encode(text)
	if err != nil {
		return nil, toolproto.Refuse(toolproto.KindArgument, "%s: %v", path, err)
	}
	return data, nil
}

func (t storedText) checkCharacters(path, text string) error {
	no := func(format string, args ...any) error {
		return toolproto.Refuse(toolproto.KindArgument, "not written: "+format, args...)
	}
	if strings.Contains(text, "\uFFFD") && !strings.Contains(t.text, "\uFFFD") {
		return no("the text has U+FFFD, which stands for a character that was lost; write the character itself. "+
			`If %s needs U+FFFD, write it as an escape (\uFFFD) or by run_command`, path)
	}
	plain, plainBefore := charset.HideBytes(text), charset.HideBytes(t.text)
	if t.encoding.Known() {
		if plain != text && plainBefore == t.text {
			return no("⟨e9⟩ and the like stand for bytes of a file that is not UTF-8, and %s is no such file; "+
				"write the characters, or copy the file by run_command", path)
		}
		return nil
	}
	const convert = "convert it by run_command (iconv -f ENCODING -t UTF-8 FILE >/tmp/f && cp /tmp/f FILE), edit it, " +
		"and convert it back; or remove it first if it shall be UTF-8 from now on"
	if same, err := t.encoding.Encode(t.encoding.Decode(t.data)); err != nil || !bytes.Equal(same, t.data) {
		return no("%s is not UTF-8, and has ⟨e9⟩ or the like as text, too; %s", path, convert)
	}
	for _, r := range plain {
		if r >= utf8.RuneSelf && !strings.ContainsRune(plainBefore, r) {
			return no("%s is not UTF-8, and the text has %q, whose bytes in its encoding are not known. Write its bytes "+
				"(é is ⟨e9⟩ in Latin-1 and Windows-1252), or %s", path, r, convert)
		}
	}
	return nil
}

// explainMismatch adds to the refusal of an edit that the file is not UTF-8.
func (t storedText) explainMismatch(err error) error {
	var refusal *toolproto.Refusal
	if t.encoding.Known() || !errors.As(err, &refusal) || refusal.Kind != toolproto.KindMismatch {
		return err
	}
	return toolproto.Refuse(refusal.Kind, "%s; the file is not UTF-8: a byte beyond it stands in old as ⟨e9⟩",
		refusal.Message)
}

// describeEncoding says how a file that is not UTF-8 is stored, for its reader. It returns "" for UTF-8.
func (t storedText) describeEncoding() string {
	switch {
	case t.encoding.IsUTF8():
		return ""
	case t.encoding.Known():
		return "stored as " + t.encoding.String() + "; an edit is stored so, too"
	}
	return "not UTF-8: ⟨e9⟩ and the like are single bytes, here and in an edit; iconv -f ENCODING -t UTF-8 shows the text"
}

// describeKept names what an edit keeps, unless it is UTF-8 with LF.
func (t storedText) describeKept() string {
	var kept []string
	switch {
	case !t.encoding.Known():
		kept = append(kept, "bytes that are not UTF-8")
	case !t.encoding.IsUTF8() || t.encoding.Marked():
		kept = append(kept, t.encoding.String())
	}
	switch t.lineEnd {
	case "\r\n":
		kept = append(kept, "CRLF line ends")
	case "\r":
		kept = append(kept, "CR line ends")
	}
	return strings.Join(kept, ", ")
}
