package python

import (
	"regexp"
	"strings"

	"company/internal/lib/lazyregexp"
)

// source is the text of a Python file whose literals are read. The code is not run, so computed values are
// unknown.
type source struct {
	text    string
	lookups int
}

func newSource(text string) *source { return &source{text: commentRE.ReplaceAllString(text, "")} }

// commentRE matches lines that only have a comment.
var commentRE = lazyregexp.New(`(?m)^[ \t]*#.*$`)

// Limits of parsing.
const (
	maxLiteralTexts  = 1000
	maxLiteralTokens = 8 * maxLiteralTexts
	maxLiteralDepth  = 8
	maxLookups       = 100 // names that are looked up in one file
)

// pythonTokenRE matches comments, strings, names, numbers and signs.
var pythonTokenRE = lazyregexp.New(
	`(?s)#[^\n]*|[rRbBuUfF]{0,2}(?:"""(?:\\.|[^\\])*?"""|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|[A-Za-z_][A-Za-z0-9_.]*|[0-9]+|\S`)

// readArgument returns the strings in the value of a keyword argument or of a variable with that name.
func (s *source) readArgument(name string) []string {
	v := s.valueOf(name, 0)
	return v.texts
}

// readTable is like readArgument for a dict. It returns the lists by key.
func (s *source) readTable(name string) map[string][]string {
	return s.valueOf(name, 0).table
}

// literal holds the parts of a value that could be read.
type literal struct {
	texts []string
	table map[string][]string
}

// valueOf reads the value after the first name= in the text.
func (s *source) valueOf(name string, depth int) literal {
	if s.lookups++; depth > maxLiteralDepth || s.lookups > maxLookups {
		return literal{}
	}
	at := regexp.MustCompile(`(?m)(?:^|[\s(,])` + regexp.QuoteMeta(name) + `\s*=\s*([^=\s])`).
		FindStringSubmatchIndex(s.text)
	if at == nil {
		return literal{}
	}
	r := &literalReader{source: s, rest: s.text[at[2]:], room: maxLiteralTokens, depth: depth}
	return r.readSum(name)
}

// readTokens returns the first tokens of a text and the rest of the text. It reads at most count tokens,
// including comments, which are left out.
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
	rest   string // text after the tokens
	room   int    // tokens that may still be read
	tokens []string
	at     int
	depth  int
	count  int
}

// hasToken reports whether there is another token. It reads more tokens only when needed, because most
// values have few.
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

// readSum reads values that are joined by +.
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
			for { // adjacent strings are joined
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
	return token != "" && (token[0] == '_' || token[0] >= 'a' && token[0] <= 'z' || token[0] >= 'A' && token[0] <= 'Z') &&
		!strings.ContainsAny(token, `"'.`)
}

// textOf returns the value of a string token. It returns false for other tokens and for f-strings and
// bytes.
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
