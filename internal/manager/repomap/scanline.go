package repomap

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// The scanners below read line by line and judge a line by its beginning. Their time is linear in the text. A
// line within a string or a comment that looks like a definition counts as one. The map may then name a symbol
// that does not exist.

// sourceLine is one line of a file.
type sourceLine struct {
	indent int    // leading spaces; a tab counts as four
	text   string // without surrounding spaces
}

// readLines passes each line to fn and records its names. It skips lines that are too long, blank or comments.
// comment lists the prefixes of comments.
func (o *outline) readLines(text []byte, comment []string, fn func(l sourceLine)) {
	for raw := range bytes.Lines(text) {
		if len(raw) > longestLine || !utf8.Valid(raw) {
			continue
		}
		l := sourceLine{text: string(bytes.TrimSpace(raw))}
		for _, c := range raw {
			if c == '\t' {
				l.indent += 4
			} else if c == ' ' {
				l.indent++
			} else {
				break
			}
		}
		if l.text == "" || slices.ContainsFunc(comment, func(c string) bool { return strings.HasPrefix(l.text, c) }) {
			continue
		}
		for _, word := range splitNames(l.text) {
			o.noteName(word)
		}
		fn(l)
	}
}

// splitNames returns the names in a line.
func splitNames(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !isNameRune(r) })
}

// skipModifiers removes leading modifiers of a definition from a line.
func skipModifiers(s string, words ...string) string {
	for {
		first, rest, _ := strings.Cut(s, " ")
		if i := strings.IndexByte(first, '('); i >= 0 && strings.HasPrefix(first, "pub(") { // pub(crate)
			first = "pub"
		}
		if !slices.Contains(words, first) {
			return s
		}
		s = strings.TrimLeft(rest, " ")
	}
}

// nameAfter returns the name after a keyword at the beginning of a line, and whether the keyword is there.
func nameAfter(s, word string) (string, bool) {
	rest, is := strings.CutPrefix(s, word)
	if !is || rest == "" || rest[0] != ' ' && rest[0] != '\t' && rest[0] != '*' {
		return "", false
	}
	return leadingName(strings.TrimLeft(rest, " \t*&")), true
}

// leadingName returns the name at the beginning of a text.
func leadingName(s string) string {
	if end := strings.IndexFunc(s, func(r rune) bool { return !isNameRune(r) }); end >= 0 {
		return s[:end]
	}
	return s
}

// addFirst adds a symbol if the line begins with one of the keywords and a name. It reports whether it did.
func (o *outline) addFirst(s, owner string, words ...string) bool {
	for _, word := range words {
		if name, is := nameAfter(s, word); is && name != "" {
			if owner != "" {
				name = owner + "." + name
			}
			o.addSymbol(word, name)
			return true
		}
	}
	return false
}

func scanPython(text []byte) outline {
	var o outline
	class, first := "", true
	o.readLines(text, []string{"#", "@"}, func(l sourceLine) {
		if first {
			first = false
			for _, quote := range []string{`"""`, `'''`} {
				if doc, is := strings.CutPrefix(l.text, quote); is {
					doc, _, _ = strings.Cut(doc, quote)
					o.doc = firstSentence(doc)
				}
			}
		}
		s := skipModifiers(l.text, "async")
		switch {
		case l.indent == 0:
			class = ""
			if name, is := nameAfter(s, "class"); is {
				class = name
			}
			o.addFirst(s, "", "def", "class")
		case class != "" && l.indent <= 4:
			if name, is := nameAfter(s, "def"); is && !strings.HasPrefix(name, "_") {
				o.addFirst(s, class, "def")
			}
		}
	})
	return o
}

func scanScript(text []byte) outline {
	var o outline
	o.readLines(text, []string{"//", "*", "/*"}, func(l sourceLine) {
		if l.indent > 0 {
			return
		}
		exported := strings.HasPrefix(l.text, "export ")
		s := skipModifiers(l.text, "export", "default", "declare", "async", "abstract")
		if o.addFirst(s, "", "function", "class", "interface", "enum", "type", "namespace") {
			return
		}
		// A value that is neither exported nor a function is internal to the file.
		if exported || strings.Contains(s, "=>") || strings.Contains(s, "function") {
			o.addFirst(s, "", "const", "let", "var")
		}
		for _, prefix := range []string{"module.exports.", "exports."} {
			if rest, is := strings.CutPrefix(s, prefix); is && strings.Contains(rest, "=") {
				o.addSymbol("exports", leadingName(rest))
			}
		}
	})
	return o
}

func scanRust(text []byte) outline {
	var o outline
	owner := ""
	o.readLines(text, []string{"// ", "///", "#["}, func(l sourceLine) {
		if doc, is := strings.CutPrefix(l.text, "//!"); is {
			if o.doc == "" {
				o.doc = firstSentence(doc)
			}
			return
		}
		s := skipModifiers(l.text, "pub", "async", "unsafe", "const", "extern", `"C"`, "default")
		if l.indent == 0 {
			if rest, is := strings.CutPrefix(s, "impl"); is {
				if _, of, isTrait := strings.Cut(rest, " for "); isTrait {
					rest = of
				}
				rest = strings.TrimLeft(rest, " &")
				if strings.HasPrefix(rest, "<") {
					_, rest, _ = strings.Cut(rest, "> ")
				}
				owner = leadingName(rest)
				return
			}
			if l.text != "}" {
				owner = ""
			}
			o.addFirst(s, "", "fn", "struct", "enum", "trait", "type", "mod", "union", "static", "macro_rules!")
			return
		}
		if owner != "" && l.indent <= 4 && strings.HasPrefix(l.text, "pub") {
			o.addFirst(s, owner, "fn")
		}
	})
	return o
}

// notFunctions lists keywords that begin C lines with parentheses without defining a function.
var notFunctions = strings.Fields("if for while switch return else do sizeof defined typedef using namespace template")

func scanC(text []byte) outline {
	var o outline
	o.readLines(text, []string{"//", "*", "/*"}, func(l sourceLine) {
		if l.indent > 0 {
			return
		}
		if rest, is := strings.CutPrefix(l.text, "#define "); is {
			o.addSymbol("#define", leadingName(rest))
			return
		}
		s := skipModifiers(l.text, "static", "inline", "extern", "typedef", "const", "constexpr", "virtual")
		opens := strings.HasSuffix(s, "{") || !strings.ContainsAny(s, ";(")
		if opens && o.addFirst(s, "", "struct", "enum", "union", "class", "namespace") {
			return
		}
		before, _, calls := strings.Cut(s, "(")
		words := splitNames(strings.ReplaceAll(before, "::", " "))
		if !calls || s[0] == '#' || strings.HasSuffix(s, ";") && !strings.HasPrefix(l.text, "extern") ||
			strings.Contains(before, "=") || len(words) < 2 || slices.Contains(notFunctions, words[0]) {
			return
		}
		o.addSymbol("func", words[len(words)-1])
	})
	return o
}

func scanRuby(text []byte) outline {
	var o outline
	owner, index := "", 0
	o.readLines(text, []string{"#"}, func(l sourceLine) {
		if name, is := nameAfter(l.text, "class"); is && l.indent <= 8 {
			owner, index = name, l.indent
			o.addSymbol("class", name)
		} else if name, is := nameAfter(l.text, "module"); is && l.indent <= 8 {
			owner, index = name, l.indent
			o.addSymbol("module", name)
		} else if name, is := nameAfter(l.text, "def"); is {
			if name == "self" {
				_, rest, _ := strings.Cut(l.text, "self.")
				name = leadingName(rest)
			}
			switch {
			case owner != "" && l.indent == index+2:
				o.addSymbol("def", owner+"."+name)
			case l.indent == 0:
				o.addSymbol("def", name)
			}
		}
	})
	return o
}

func scanJava(text []byte) outline {
	var o outline
	owner := ""
	o.readLines(text, []string{"//", "*", "/*", "@"}, func(l sourceLine) {
		s := skipModifiers(l.text, "public", "protected", "private", "static", "final", "abstract", "sealed", "non-sealed",
			"strictfp", "default", "synchronized")
		if l.indent == 0 {
			for _, word := range []string{"class", "interface", "enum", "record", "@interface"} {
				if name, is := nameAfter(s, word); is {
					owner = name
					o.addSymbol(word, name)
				}
			}
			return
		}
		before, _, calls := strings.Cut(s, "(")
		words := splitNames(before)
		if calls && owner != "" && l.indent <= 4 && strings.HasPrefix(l.text, "public ") && !strings.Contains(before, "=") &&
			len(words) > 0 {
			o.addSymbol("method", owner+"."+words[len(words)-1])
		}
	})
	return o
}

func scanPHP(text []byte) outline {
	var o outline
	owner := ""
	o.readLines(text, []string{"//", "*", "/*", "#"}, func(l sourceLine) {
		s := skipModifiers(l.text, "public", "static", "final", "abstract", "readonly")
		if l.indent == 0 {
			for _, word := range []string{"class", "interface", "trait", "enum"} {
				if name, is := nameAfter(s, word); is {
					owner = name
				}
			}
			o.addFirst(s, "", "class", "interface", "trait", "enum", "function", "namespace")
			return
		}
		if owner != "" && l.indent <= 4 && strings.HasPrefix(l.text, "public ") {
			o.addFirst(s, owner, "function")
		}
	})
	return o
}
