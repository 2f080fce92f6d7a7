package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"company/test/goname"
)

// idioms are functions that Go's readers know by one word.
var idioms = strings.Fields(`
	main init run close open load save read write seek
	parse format encode decode marshal unmarshal
	add remove delete get set put list find
	start stop wait done lock unlock apply
	len less swap string error next peek reset
`)

// The limits of the shares below, in percent. They may only fall.
const (
	mostOneWord   = 3.5
	mostOneLetter = 17.3
)

// A function's name says verb and object. One word does only where it is an
// idiom; and a name of one letter is for what lives a few lines.
func TestNamesSayWhatTheyMean(t *testing.T) {
	if len(idioms) > 40 {
		t.Errorf("%d idioms are listed, 40 are allowed", len(idioms))
	}
	known := map[string]bool{}
	for _, w := range idioms {
		known[w] = true
	}
	var functions, oneWord, names, oneLetter int
	var found []string
	for _, p := range packages(t) {
		if p.Module == nil || !strings.HasPrefix(p.ImportPath, "company/internal/") &&
			!strings.HasPrefix(p.ImportPath, "company/cmd/") {
			continue
		}
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || ast.IsExported(fn.Name.Name) || fn.Name.Name == "_" {
					continue
				}
				functions++
				if strings.IndexFunc(fn.Name.Name, func(r rune) bool { return !unicode.IsLower(r) }) < 0 && !known[fn.Name.Name] {
					oneWord++
					found = append(found, strings.TrimPrefix(p.ImportPath, "company/internal/")+"."+fn.Name.Name)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				for _, id := range goname.ListDeclared(n) {
					if id.Name == "_" {
						continue
					}
					names++
					if len(id.Name) == 1 {
						oneLetter++
					}
				}
				return true
			})
		}
	}
	t.Logf("%d of %d unexported functions have a name of one lower-case word (%.1f %%); %d of %d declared names have "+
		"one letter (%.1f %%)",
		oneWord, functions, share(oneWord, functions), oneLetter, names, share(oneLetter, names))
	if share(oneWord, functions) > mostOneWord {
		t.Errorf("%.1f %% of the unexported functions have a name of one lower-case word, %.1f %% are allowed: %s",
			share(oneWord, functions), mostOneWord, strings.Join(found, " "))
	}
	if share(oneLetter, names) > mostOneLetter {
		t.Errorf("%.1f %% of the declared names have one letter, %.1f %% are allowed", share(oneLetter, names), mostOneLetter)
	}
}

func share(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }
