package repomap

import (
	"go/scanner"
	"go/token"
	"strings"
)

// scanGo reads the declarations of a Go file from its tokens. It builds no tree, so nesting costs no stack, and
// a file that does not compile is read as far as possible.
func scanGo(text []byte) outline {
	var (
		o     outline
		s     scanner.Scanner
		files = token.NewFileSet()
		file  = files.AddFile("", -1, len(text))
		decl  declReader
		docs  strings.Builder
		ended int // the last line of the last comment
	)
	s.Init(file, text, func(token.Position, string) {}, scanner.ScanComments)
	inPackage := false
	for {
		pos, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return o
		case tok == token.COMMENT:
			if !inPackage && docs.Len() < 2000 {
				line := file.Line(pos)
				if line > ended+1 {
					docs.Reset()
				}
				ended = line + strings.Count(lit, "\n")
				docs.WriteString(strings.Trim(strings.TrimPrefix(lit, "//"), "/*") + "\n")
			}
			continue
		case tok == token.PACKAGE && !inPackage:
			inPackage = true
			if file.Line(pos) == ended+1 {
				o.doc = firstSentence(docs.String())
			}
		case tok == token.IDENT:
			o.noteName(lit)
		}
		decl.readToken(&o, tok, lit)
	}
}

// declReader finds the declarations at the outermost level of a Go file.
type declReader struct {
	depth    int         // nesting of all kinds of brackets
	keyword  token.Token // func, type, const or var, until the declaration ends
	grouped  bool        // in a grouped declaration: type ( ... )
	fresh    bool        // the next identifier may be a declared name
	receiver string      // receiver type of a method
}

func (d *declReader) readToken(o *outline, tok token.Token, lit string) {
	within := 0
	if d.grouped {
		within = 1
	}
	switch tok {
	case token.FUNC, token.TYPE, token.CONST, token.VAR:
		if d.depth == 0 && d.keyword == 0 {
			*d = declReader{keyword: tok, fresh: true}
		}
	case token.LPAREN, token.LBRACE, token.LBRACK:
		if d.depth == 0 && d.keyword != 0 && d.fresh && tok == token.LPAREN && d.keyword != token.FUNC {
			d.grouped = true
		}
		d.depth++
	case token.RPAREN, token.RBRACE, token.RBRACK:
		if d.depth--; d.depth <= 0 {
			d.depth = 0
			d.grouped = false
		}
	case token.SEMICOLON:
		if d.depth == within {
			d.fresh = d.grouped
			if !d.grouped {
				d.keyword = 0
			}
		}
	case token.IDENT:
		switch {
		case !d.fresh:
		case d.keyword == token.FUNC && d.depth > 0:
			if d.depth == 1 { // deeper ones are type parameters
				d.receiver = lit // the last name in the parentheses is the type
			}
		case d.depth != within:
		case d.keyword == token.FUNC && d.receiver != "":
			o.addSymbol("method", d.receiver+"."+lit)
			d.fresh = false
		default:
			o.addSymbol(d.keyword.String(), lit)
			d.fresh = false
		}
	}
}
