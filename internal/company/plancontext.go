package company

import (
	"path"
	"strconv"
	"strings"
	"unicode"
)

// ContextFile is an entry of a planned subtask's context that names a file.
type ContextFile struct {
	Path        string
	First, Last int  // lines, from 1; 0: all of the file
	Noted       bool // the entry has more text, as in "a.go:10-20, the parser"
}

// ParseContext reads an entry of a subtask's context: a path, the path with lines behind it
// ("a.go:10-20", "a.go#L10-L20", "a.go (lines 10-20)"), or either with a text. It is false for
// an entry that names no file, which is a note.
func ParseContext(entry string) (ContextFile, bool) {
	token, rest := cutWord(entry)
	name := strings.TrimRight(token, ",;:")
	clear := len(name) < len(token) // a path that a text explains
	name = strings.Trim(name, "`'\"")
	f := ContextFile{Path: name}
	if at := strings.LastIndexAny(name, ":#"); at > 0 {
		if first, last, ok := parseLines(name[at+1:]); ok {
			f.Path, f.First, f.Last, clear = name[:at], first, last, true
		}
	}
	if word, lines := cutWord(strings.TrimPrefix(rest, "(")); f.First == 0 && (word == "line" || word == "lines") {
		lines, text := cutWord(lines)
		if first, last, ok := parseLines(strings.TrimRight(lines, "),;:.")); ok {
			f.First, f.Last, clear, rest = first, last, true, text
		}
	}
	f.Noted = rest != ""
	ext := strings.TrimPrefix(path.Ext(f.Path), ".")
	if f.Path == "" || f.Noted && !clear && (ext == "" || len(ext) > 8) {
		return ContextFile{}, false
	}
	return f, true
}

// cutWord splits a text at its first blank.
func cutWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if at := strings.IndexFunc(text, unicode.IsSpace); at >= 0 {
		return text[:at], strings.TrimSpace(text[at:])
	}
	return text, ""
}

// parseLines reads "10", "10-20" or "L10-L20".
func parseLines(text string) (first, last int, ok bool) {
	from, to, ranged := strings.Cut(strings.ReplaceAll(text, "–", "-"), "-")
	if !ranged {
		to = from
	}
	first, err1 := strconv.Atoi(strings.TrimPrefix(from, "L"))
	last, err2 := strconv.Atoi(strings.TrimPrefix(to, "L"))
	return first, last, err1 == nil && err2 == nil && first > 0 && last >= first
}
