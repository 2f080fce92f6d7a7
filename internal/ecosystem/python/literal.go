package python

import (
	"regexp"
	"strings"

	"company/internal/lazyregexp"
)

// source is the text of a Python file, of which literals are read. Nothing of it
// is run: computed values are not seen.
type source struct {
	text    string
	lookups int
}

func newSource(text string) *source { return &source{text: commentRE.ReplaceAllString(text, "")} }

// commentRE finds lines that are comments alone.
var commentRE = lazyregexp.New(`(?m)^[ \t]*#.*$`)

// Bounds of reading.
const (
	maxLiteralTexts  = 1000
	maxLiteralTokens = 8 * maxLiteralTexts
	maxLiteralDepth  = 8
	maxLookups       = 100 // of names, in one file
)

// pythonTokenRE finds texts, names and signs; comments and blanks are skipped.
var pythonTokenRE = lazyregexp.New(`(?s)#[^\n]*|[rRbBuUfF]{0,2}(?:"""(?:\\.|[^\\])*?"""|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|[A-Za-z_][A-Za-z0-9_.]*|[0-9]+|\S`)

// readArgument reads the value of a keyword argument, or of a variable of that name, as a
// list of texts.
func (s *source) readArgument(name string) []string {
	v := s.valueOf(name, 0)
	return v.texts
}

// readTable does the same where the value is a dict: its lists by their keys.
func (s *source) readTable(name string) map[string][]string {
	return s.valueOf(name, 0).table
}

// literal is what could be read of a value.
type literal struct {
	texts []string
	table map[string][]string
}

// valueOf reads what stands behind name=, wherever that is first.
func (s *source) valueOf(name string, depth int) literal {
	if s.lookups++; depth > maxLiteralDepth || s.lookups > maxLookups {
		return literal{}
	}
	at := regexp.MustCompile(`(?m)(?:^|[\s(,])` + regexp.QuoteMeta(name) + `\s*=\s*([^=\s])`).FindStringSubmatchIndex(s.text)
	if at == nil {
		return literal{}
	}
	r := &literalReader{source: s, rest: s.text[at[2]:], room: maxLiteralTokens, depth: depth}
	return r.readSum(name)
}

// readTokens returns the tokens that a text begins with, of the first count that it has, and the
// rest of the text. Comments are left out.
func readTokens(text string, count int) (out []string, rest string) {
	for _, t := range pythonTokenRE.FindAllStringIndex(text, count) {
		if text[t[0]] != '#' {
			out = append(out, text[t[0]:t[1]])
		}
		rest = text[t[1]:]
	}
	return out, rest
}

// literalReader reads one value.
type literalReader struct {
	source *source
	rest   string // of the text, behind the tokens
	room   int    // tokens that may still be read
	tokens []string
	at     int
	depth  int
	count  int
}

// hasToken reports whether there is a token, and reads some more of them when it is needed: most
// values have few. Comments are left out.
func (r *literalReader) hasToken() bool {
	for r.at >= len(r.tokens) && r.room > 0 {
		count := min(r.room, 32)
		more, rest := readTokens(r.rest, count)
		r.tokens = append(r.tokens, more...)
		if r.room -= count; rest == "" {
			r.room = 0
		}
		r.rest = rest
	}
	return r.at < len(r.tokens)
}

func (r *literalReader) peekToken() string {
	if r.hasToken() {
		return r.tokens[r.at]
	}
	return ""
}

// readSum reads values that are added to one another.
func (r *literalReader) readSum(name string) literal {
	out := r.readValue(name)
	for r.peekToken() == "+" {
		r.at++
		more := r.readValue(name)
		out.texts = append(out.texts, more.texts...)
	}
	return out
}

func (r *literalReader) readValue(name string) (out literal) {
	token := r.peekToken()
	r.at++
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxLiteralDepth || r.count > maxLiteralTexts {
		r.at, r.room = len(r.tokens), 0
		return out
	}
	switch {
	case token == "[" || token == "(":
		for r.hasToken() && r.peekToken() != "]" && r.peekToken() != ")" {
			before := r.at
			out.texts = append(out.texts, r.readSum(name).texts...)
			if r.peekToken() == "," {
				r.at++
			}
			if r.at == before {
				r.at++
			}
		}
		r.at++
	case token == "{":
		out.table = map[string][]string{}
		for r.hasToken() && r.peekToken() != "}" {
			key, isText := textOf(r.peekToken())
			r.at++
			if isText && r.peekToken() == ":" {
				r.at++
				v := r.readSum(name)
				out.table[key] = append(out.table[key], v.texts...)
			}
		}
		r.at++
	default:
		if text, ok := textOf(token); ok {
			for { // texts that follow one another are one
				more, ok := textOf(r.peekToken())
				if !ok {
					break
				}
				text += more
				r.at++
			}
			r.count++
			out.texts = []string{text}
		} else if isName(token) && token != name && r.peekToken() != "(" && r.peekToken() != "[" {
			out = r.source.valueOf(token, r.depth)
		}
	}
	return out
}

func isName(token string) bool {
	return token != "" && (token[0] == '_' || token[0] >= 'a' && token[0] <= 'z' || token[0] >= 'A' && token[0] <= 'Z') && !strings.ContainsAny(token, `"'.`)
}

// textOf is the text that a token writes; not ok: it is none, or is computed.
func textOf(token string) (string, bool) {
	i := strings.IndexAny(token, `"'`)
	if i < 0 || i > 2 || strings.ContainsAny(token[:i], "fFbB") {
		return "", false
	}
	body := token[i:]
	for _, quotes := range []string{`"""`, `'''`, `"`, `'`} {
		if len(body) >= 2*len(quotes) && strings.HasPrefix(body, quotes) && strings.HasSuffix(body, quotes) {
			body = body[len(quotes) : len(body)-len(quotes)]
			if !strings.Contains(token[:i], "r") {
				body = strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\\`, `\`, "\\\n", "", `\n`, "\n").Replace(body)
			}
			return body, true
		}
	}
	return "", false
}
