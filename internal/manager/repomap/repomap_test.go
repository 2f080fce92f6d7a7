package repomap

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
)

// SUB-15: a small repository is listed file by file, with sizes, docs, symbols and what
// changed lately.
func TestSmallMap(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, map[string]string{
		"go.mod": "module x\n", "main.go": "package main\n\nfunc main() { a.Mend(3) }\n",
		"a/a.go": "// Package a mends. It is small.\npackage a\n\ntype T struct{}\n\n// Mend mends.\nfunc Mend(n int) " +
			"{}\n",
		"a/a_test.go": "package a\n\nfunc TestMend(t *testing.T) { Mend(3) }\n",
		"b/b.go":      "package b\n\nfunc Use() { a.Mend(1) }\n",
		"docs/x.md":   "x\n", "script.py": "def run(): pass\n", "vendor/v/v.go": "package v\n\nfunc Foreign() {}\n",
		"README": "be kind\n",
	})
	for i := range 3 {
		p.Commit("main", map[string]string{"b/b.go": fmt.Sprintf("package b\n\nfunc Use() { a.Mend(%d) }\n", i+5)})
	}
	p.Write(map[string]string{"draft.go": "package draft\n"}) // in the checkout alone
	at := p.Fetch("main")
	var c Cache
	r, err := c.Read(t.Context(), p.Mirror, at)
	if err != nil {
		t.Fatal(err)
	}
	text := r.String()
	for _, want := range []string{
		"9 files, ", "Languages: Go, Python, ", "Build files: go.mod.", "\nFiles, and their symbols (", "- docs/x.md (2 B)\n",
		"- a/a.go (96 B): mends. | func Mend (3), type T\n", "- script.py (16 B) | def run\n", "- b/b.go (36 B) | func Use\n",
		"- b/b.go: 4 times, last on ", ": change main\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, absent := range []string{"draft", "Foreign", "TestMend", "\nSymbols"} {
		if strings.Contains(text, absent) {
			t.Errorf("%q is in\n%s", absent, text)
		}
	}
	if len(r.Advice) != 1 || r.Advice[0] != (Advice{"README", "be kind\n"}) {
		t.Errorf("%+v", r.Advice)
	}
	// The same tree is read once, and another commit of it has its own past.
	p.Git("commit", "-q", "--allow-empty", "-m", "nothing")
	again, err := c.Read(t.Context(), p.Mirror, p.Fetch("main"))
	if err != nil || again.String() != text || &again.central[0] != &r.central[0] || len(c.known) != 1 {
		t.Errorf("%v, %d maps are kept", err, len(c.known))
	}
	if _, err := c.Read(t.Context(), p.Mirror, company.OID(strings.Repeat("1", 40))); err == nil {
		t.Error("a map of nothing")
	}
}

// Symbols stand beside their file where that has a line, else in a list of their own, and the
// heading tells how many have none for lack of room (SUB-15).
func TestSymbolsStandBesideTheirFiles(t *testing.T) {
	t.Parallel()
	r := &Map{Files: smallFiles}
	for i := range smallFiles {
		name := fmt.Sprintf("%s/%03d.go", strings.Repeat("d", 100), i)
		r.entries = append(r.entries, gitops.Entry{Path: name, Size: 10})
		if i%50 == 0 {
			r.central = append(
				r.central,
				centralFile{path: name, symbols: []usedSymbol{{Symbol: Symbol{Kind: "func", Name: fmt.Sprintf("F%d", i)}}}})
		}
	}
	text := r.String()
	for _, want := range []string{"000.go (10 B) | func F0\n", "050.go (10 B) | func F50\n",
		" more\n\nSymbols (in brackets: files that mention them):\n- ", "100.go: func F100\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, ": func F0\n") || strings.Contains(text, ": func F50\n") {
		t.Errorf("symbols stand twice in\n%s", text)
	}
	for i := range r.central {
		r.central[i].symbols[0].Name = strings.Repeat("x", mostCentral/2)
	}
	if text := r.String(); !strings.Contains(text, "\nFiles, and symbols of those that others use most, 1 of 3 (") {
		t.Errorf("%.400s", text)
	}
}

// SUB-15: a large repository is listed by folders, and nothing in it makes the map long,
// steers a terminal or ends a line.
func TestLargeMapIsBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"README.md": strings.Repeat("größer ", 4000), "README": strings.Repeat("x", 2<<20),
		"odd\x1b[31m\u202e/x.go": "package x\n\nfunc Odd() {}\n", "new\nline.go": "package x\n",
		"bad\xff.py": "def bad(): pass\n", "wide.go": strings.Repeat("x", 1<<20),
		"deep/" + strings.Repeat("d/", 30) + "x.go": "// Package x is deep. \x1b[31m\n" + "package x\n",
	}
	for i := range 400 {
		files[fmt.Sprintf("pkg%03d/sub/x.go", i)] = fmt.Sprintf(
			"// Package p%d does one part of many, which is told here at length and then some.\npackage x\n\nfunc Part%d() { "+
				"Odd(); Part%d() }\n", i, i, i/2)
	}
	p := gitopstest.New(t, files)
	for range 3 {
		p.Commit(
			"main", map[string]string{"odd\x1b[31m\u202e/x.go": "package x\n\nfunc Odd() {}\n\n" +
				strings.Repeat("// \n", len(p.Git("rev-list", "HEAD")))})
	}
	r, err := Read(t.Context(), p.Mirror, p.Fetch("main"))
	if err != nil {
		t.Fatal(err)
	}
	text := r.String()
	if len(text) > 16<<10 || len(text) < 4<<10 {
		t.Errorf("%d bytes", len(text))
	}
	for _, want := range []string{"407 files", "Folders (files in them, size)", "pkg000/** (1, ", " more\n",
		"Symbols of the ", "func Odd (400)", `odd\x1b[31m\u202e/x.go: func Odd`, `odd\x1b[31m\u202e/x.go: 3 times`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }) ||
		strings.Contains(text, "new\nline") {
		t.Errorf("%q", text)
	}
	if len(r.Advice) != 1 || len(r.Advice[0].Text) > 4<<10 ||
		!strings.HasSuffix(r.Advice[0].Text, "größer\n(the rest is left out: read_file README.md)\n") &&
			!strings.Contains(r.Advice[0].Text, "the rest is left out") {
		t.Errorf("%d advices, %q", len(r.Advice), r.Advice[0].Text[len(r.Advice[0].Text)-100:])
	}
}

// Folders that lie deep are counted with those above them, so that the whole tree is there.
func TestFoldersAreFolded(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 30 {
		for j := range 10 {
			files[fmt.Sprintf("top%02d/mid/leaf%d/x.txt", i, j)] = "x\n"
		}
	}
	p := gitopstest.New(t, files)
	r, err := Read(t.Context(), p.Mirror, p.Base)
	if err != nil {
		t.Fatal(err)
	}
	folders := r.listFolders()
	if len(folders) != 30 || folders[0].files != 10 || folders[0].path != "top00/mid" || !folders[0].below {
		t.Errorf("%+v", folders[:min(3, len(folders))])
	}
	if text := r.String(); !strings.Contains(text, "- top29/mid/** (10, 20 B)\n") {
		t.Errorf("%s", text)
	}
}

// A README is cut behind a paragraph, with a mark that says where the rest begins; badges
// and long examples are left out.
func TestAdviceIsShortened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, text string
		most             int
		want             string
	}{
		{"short", "README.md", "# x\n\nIt mends.\n", 100, "# x\n\nIt mends.\n"},
		{"two paragraphs of three", "README.md", "# x\n\nIt mends.\n\nAnd more\nof it.\n\nThe end is here, long.\n", 32,
			"# x\n\nIt mends.\n\nAnd more\nof it.\n(3 lines more: read_file README.md with offset=7)\n"},
		{"one long paragraph", "README.md", strings.Repeat("word ", 100), 22,
			"word word word …\n(the rest is left out: read_file README.md)\n"},
		{"badges and logs", "README.md", "# x\n[![ci](a)](b)\n```\n" + strings.Repeat("log\n", 9) + "```\n```\nmake\n```\n",
			200, "# x\n(an example of 9 lines)\n```\nmake\n```\n"},
		{"an open example", "README.md", "```\na\nb\n", 200, "```\na\nb\n"},
		{"invalid", "README.md", "a\xffb\r\n", 200, "ab\n"},
		{"empty", "README.md", "", 200, ""},
	} {
		if got := shortenAdvice(c.path, c.text, c.most); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The ranking leaves names out that many files define, and counts a file once.
func TestRanking(t *testing.T) {
	t.Parallel()
	r := newRanking()
	for i := range 6 {
		r.countFile(fmt.Sprintf("m%d.go", i), outlineOf("m.go", []byte("package m\n\nfunc Main() { Use(); Use() }\n")))
	}
	r.countFile("use.go", outlineOf("use.go", []byte("package m\n\nfunc Use() {}\nfunc Main() {}\n")))
	r.countFile("x/gen.go", outlineOf("gen.go", []byte("// Code generated. DO NOT EDIT.\npackage m\n\nfunc Gen() { "+
		"Use() }\n")))
	files := r.listCentral()
	if files[0].path != "use.go" || files[0].score != 7 || files[0].symbols[0].Name != "Use" ||
		files[0].symbols[1].users != 0 || len(files) != 7 {
		t.Errorf("%+v", files[0])
	}
	if slices.ContainsFunc(files, func(f centralFile) bool { return f.path == "x/gen.go" }) {
		t.Error("a generated file is central")
	}
}
