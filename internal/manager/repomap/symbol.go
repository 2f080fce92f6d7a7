package repomap

import (
	"bytes"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Symbol is a name that a file defines.
type Symbol struct {
	Kind string // func, type, class, method ...: a keyword of the language
	Name string // Type.Name for a method
}

// Limits of the outline of one file.
const (
	mostSymbols = 400     // of one file
	longestName = 60      // bytes
	longestDoc  = 140     // bytes
	longestLine = 2000    // bytes; longer lines are data or minified code, and are skipped
	mostWords   = 1 << 16 // different names that one file mentions
)

// outline is the extracted information of a file.
type outline struct {
	language  string
	doc       string // first sentence of the doc of the package, the module or the crate
	symbols   []Symbol
	words     map[string]struct{} // the names in its text
	generated bool
}

// languages maps file extensions to languages. Languages with a scanner have symbols.
var languages = map[string]string{
	".go": "Go", ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript",
	".jsx": "JavaScript",
	".ts":  "TypeScript", ".mts": "TypeScript", ".cts": "TypeScript", ".tsx": "TypeScript", ".rs": "Rust",
	".java": "Java", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hpp": "C++", ".hh": "C++",
	".rb": "Ruby", ".php": "PHP",
	".sh": "shell", ".md": "Markdown", ".yaml": "YAML", ".yml": "YAML",
}

// LanguageOf returns the language of a file by its extension, or "" if it is unknown.
func LanguageOf(name string) string { return languages[strings.ToLower(path.Ext(name))] }

// scanners maps languages to functions that read a file.
var scanners = map[string]func(text []byte) outline{
	"Go": scanGo, "Python": scanPython, "JavaScript": scanScript, "TypeScript": scanScript, "Rust": scanRust,
	"C": scanC, "C++": scanC, "Ruby": scanRuby, "Java": scanJava, "PHP": scanPHP,
}

// outlineOf reads a file. Binary files, and files of languages without a scanner, have no symbols.
func outlineOf(name string, text []byte) outline {
	scan := scanners[LanguageOf(name)]
	if scan == nil || bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
		return outline{}
	}
	o := scan(text)
	o.language = LanguageOf(name)
	head := text[:min(len(text), 2000)]
	o.generated = bytes.Contains(head, []byte("Code generated")) || bytes.Contains(head, []byte("@generated"))
	return o
}

// addSymbol adds a symbol if its name is valid and the limit is not reached.
func (o *outline) addSymbol(kind, name string) {
	if len(o.symbols) < mostSymbols && isName(name) {
		o.symbols = append(o.symbols, Symbol{kind, name})
	}
}

// noteName records a name that the file uses.
func (o *outline) noteName(name string) {
	if len(name) < 3 || len(name) > longestName || len(o.words) >= mostWords {
		return
	}
	if o.words == nil {
		o.words = map[string]struct{}{}
	}
	o.words[name] = struct{}{}
}

// isName reports whether a text is a usual identifier, with dots between parts.
func isName(s string) bool {
	if s == "" || len(s) > longestName || !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !isNameRune(r) && r != '.' }) &&
		!unicode.IsDigit(rune(s[0]))
}

func isNameRune(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// firstSentence returns the first sentence of a comment on one line.
func firstSentence(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if end := strings.Index(s, ". "); end >= 0 {
		s = s[:end+1]
	}
	return s
}
