package main

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// The measures of how comments read. None is a bound: synonyms would meet it.
var (
	hardWordsRE = regexp.MustCompile(
		`\b(what|none|nothing|anew|nobody|lies?|of others|those (that|of)|one that|such a)\b` +
			`|; (nil|0|""|empty|none)\b`)
	isRE          = regexp.MustCompile(`^(?:\w+ )?\w+ (is|are) `)
	contractionRE = regexp.MustCompile(`(?i)\b\w+(n't|'re|'ll|'ve)\b|\b(it|that|there|what)'s\b`)
	sentenceEndRE = regexp.MustCompile(`[.!?:](\s|$)`)
	inlineCodeRE  = regexp.MustCompile("`[^`\n]*`")
)

// prose is what was counted of comments and documents.
type prose struct {
	commentLines, hardLines, commentWords int
	docComments, withIs                   int

	words, sentences, contractions int // of documents, outside of code, tables and headings
}

// addComments counts the comments of a file.
func (p *prose) addComments(file *ast.File) {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			for line := range strings.Lines(strings.Trim(comment.Text, "/*")) {
				p.commentLines++
				p.commentWords += len(strings.Fields(line))
				if hardWordsRE.MatchString(line) {
					p.hardLines++
				}
			}
		}
	}
	for _, d := range file.Decls {
		var doc *ast.CommentGroup
		switch d := d.(type) {
		case *ast.FuncDecl:
			doc = d.Doc
		case *ast.GenDecl:
			doc = d.Doc
		}
		if doc == nil {
			continue
		}
		p.docComments++
		if isRE.MatchString(doc.Text()) {
			p.withIs++
		}
	}
}

// addDocument counts the sentences of a Markdown file.
func (p *prose) addDocument(text string) {
	code := false
	var paragraph strings.Builder
	flush := func() {
		written := inlineCodeRE.ReplaceAllString(paragraph.String(), "x")
		paragraph.Reset()
		if words := len(strings.Fields(written)); words > 0 {
			p.words += words
			p.sentences += max(1, len(sentenceEndRE.FindAllString(written, -1)))
			p.contractions += len(contractionRE.FindAllString(written, -1))
		}
	}
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			code = !code
		}
		switch {
		case code || trimmed == "" || strings.HasPrefix(trimmed, "|") || strings.HasPrefix(trimmed, "#") ||
			strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "<"):
			flush()
		case strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* "):
			flush()
			paragraph.WriteString(trimmed[2:] + "\n")
		default:
			paragraph.WriteString(line)
		}
	}
	flush()
}

// listNumbers lists what was counted, each with its name.
func (p *prose) listNumbers() [][2]string {
	return [][2]string{
		{"comment lines of the product", fmt.Sprint(p.commentLines)},
		{"of them with what, none, nothing, those that, ; nil …", percent(p.hardLines, p.commentLines)},
		{"words in a comment line", fmt.Sprintf("%.1f", share(p.commentWords, p.commentLines))},
		{"doc comments that begin with a name and is or are", percent(p.withIs, p.docComments)},
		{"words of documents", fmt.Sprint(p.words)},
		{"words in a sentence of documents", fmt.Sprintf("%.1f", share(p.words, p.sentences))},
		{"contractions in 10,000 words of documents", fmt.Sprintf("%.1f", 10_000*share(p.contractions, p.words))},
	}
}
