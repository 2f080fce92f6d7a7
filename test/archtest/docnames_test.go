package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocsNameWhatTheyDocument holds the comments of exported functions and
// types to the name that they stand over: a rename leaves the old one behind
// unseen.
func TestDocsNameWhatTheyDocument(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range p.GoFiles {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, f), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for name, doc := range exportedDocs(file) {
				if !beginsWith(doc.Text(), name) {
					t.Errorf("%s: the comment of %s begins with another name", set.Position(doc.Pos()), name)
				}
			}
		}
	}
	for text, want := range map[string]bool{"Run runs.": true, "A Run is one.": true, "Run's name.": true,
		"run runs.": false, "Execute runs.": false} {
		if beginsWith(text, "Run") != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
}

func exportedDocs(file *ast.File) map[string]*ast.CommentGroup {
	docs := map[string]*ast.CommentGroup{}
	add := func(name *ast.Ident, doc *ast.CommentGroup) {
		if doc != nil && name.IsExported() {
			docs[name.Name] = doc
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Name, d.Doc)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					add(s.Name, d.Doc)
					add(s.Name, s.Doc)
				}
			}
		}
	}
	return docs
}

// beginsWith looks for a name among the first two words: an article may precede it.
func beginsWith(text, name string) bool {
	for i, word := range strings.Fields(text) {
		if strings.TrimSuffix(strings.TrimRight(word, ",:."), "'s") == name {
			return true
		}
		if i == 1 {
			break
		}
	}
	return false
}
