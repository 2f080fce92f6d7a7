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
	First, Last int  // lines, from 1; 0 means the whole file
	Noted       bool // the entry has more text, as in "a.go:10-20, the parser"
}

// ParseContext parses an entry of a subtask's context: a path, a path with lines ("a.go:10-20", "a.go#L10-L20", "a.go
// (lines 10-20)"), or either followed by a text. It returns false for an entry that names no file, which is a note.
func ParseContext(entry string) (ContextFile, bool) {
	token, rest := cutWord(entry)
	name := strings.TrimRight(token, ",;:")
	clear := len(name) < len(token) // a path followed by an explanation
	name = strings.Trim(name, "`'\"")
	contextFile := ContextFile{Path: name}
	if index := strings.LastIndexAny(name, ":#"); index > 0 {
		if first, last, ok := parseLines(name[index+1:]); ok {
			contextFile.Path = name[:index]
			contextFile.First = first
			contextFile.Last = last
			clear = true
		}
	}
	if word, lines := cutWord(strings.TrimPrefix(rest, "(")); contextFile.First == 0 &&
		(word == "line" || word == "lines") {
		lines, text := cutWord(lines)
		if first, last, ok := parseLines(strings.TrimRight(lines, "),;:.")); ok {
			contextFile.First = first
			contextFile.Last = last
			clear = true
			rest = text
		}
	}
	contextFile.Noted = rest != ""
	ext := strings.TrimPrefix(path.Ext(contextFile.Path), ".")
	if contextFile.Path == "" || contextFile.Noted && !clear && (ext == "" || len(ext) > 8) {
		return ContextFile{}, false
	}
	return contextFile, true
}

// cutWord splits a text at its first space.
func cutWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if index := strings.IndexFunc(text, unicode.IsSpace); index >= 0 {
		return text[:index], strings.TrimSpace(text[index:])
	}
	return text, ""
}

// parseLines parses "10", "10-20" or "L10-L20".
func parseLines(text string) (first, last int, ok bool) {
	from, to, ranged := strings.Cut(strings.ReplaceAll(text, "–", "-"), "-")
	if !ranged {
		to = from
	}
	first, err1 := strconv.Atoi(strings.TrimPrefix(from, "L"))
	last, err2 := strconv.Atoi(strings.TrimPrefix(to, "L"))
	return first, last, err1 == nil && err2 == nil && first > 0 && last >= first
}
