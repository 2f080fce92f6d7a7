package repomap

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
)

// SUB-15: a small repository is listed file by file, with sizes and what changed lately.
func TestSmallMap(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, map[string]string{
		"go.mod": "module x\n", "main.go": "package main\n", "a/a.go": "package a\n", "b/b.go": "package b\n",
		"docs/x.md": "x\n", "script.py": "def run(): pass\n", "vendor/v/v.go": "package v\n", "README": "be kind\n",
	})
	for i := range 3 {
		p.Commit("main", map[string]string{"b/b.go": fmt.Sprintf("package b\n\nfunc Use() { a.Mend(%d) }\n", i+5),
			"vendor/v/v.go": fmt.Sprintf("package v\n\nconst V = %d\n", i)})
	}
	p.Write(map[string]string{"draft.go": "package draft\n"}) // in the checkout alone
	r, err := Read(t.Context(), p.Mirror, p.Fetch("main"))
	if err != nil {
		t.Fatal(err)
	}
	text := r.String()
	for _, want := range []string{
		"8 files, ", "Languages: Go, Python, ", "Build files: go.mod.", "\nFiles:\n- README (8 B)\n- a/a.go (10 B)\n",
		"- docs/x.md (2 B)\n", "- script.py (16 B)\n", "- vendor/v/v.go (", "- b/b.go: 4 times, last on ", ": change main\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, absent := range []string{"draft", "v.go: "} {
		if strings.Contains(text, absent) {
			t.Errorf("%q is in\n%s", absent, text)
		}
	}
	if len(r.Advice) != 1 || r.Advice[0] != (Advice{"README", "be kind\n"}) {
		t.Errorf("%+v", r.Advice)
	}
	if _, err := Read(t.Context(), p.Mirror, company.OID(strings.Repeat("1", 40))); err == nil {
		t.Error("a map of nothing")
	}
}

// A list of files has a limit, and names how many are missing.
func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	r := &Map{}
	for i := range smallFiles {
		r.entries = append(r.entries, gitops.Entry{Path: fmt.Sprintf("%s/%03d.go", strings.Repeat("d", 100), i), Size: 10})
	}
	text := r.String()
	if !strings.Contains(text, "000.go (10 B)\n") || !strings.HasSuffix(text, "- and 80 more\n") || len(text) > mostListing+200 {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
}

// SUB-15: a large repository is listed by folders, and nothing in it makes the map long,
// steers a terminal or ends a line.
func TestLargeMapIsBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"README.md": strings.Repeat("größer ", 4000), "README": strings.Repeat("x", 2<<20),
		"odd\x1b[31m\u202e/x.go": "package x\n", "new\nline/x.go": "package x\n",
		"bad\xff.py": "def bad(): pass\n", "wide.go": strings.Repeat("x", 1<<20),
		"deep/" + strings.Repeat("d/", 30) + "x.go": "package x\n",
	}
	for i := range 400 {
		files[fmt.Sprintf("pkg%03d%s/sub/x.go", i, strings.Repeat("p", 100))] = "package x\n"
	}
	p := gitopstest.New(t, files)
	for range 3 {
		p.Commit(
			"main", map[string]string{"odd\x1b[31m\u202e/x.go": "package x\n\n" +
				strings.Repeat("// \n", len(p.Git("rev-list", "HEAD")))})
	}
	r, err := Read(t.Context(), p.Mirror, p.Fetch("main"))
	if err != nil {
		t.Fatal(err)
	}
	text := r.String()
	if len(text) > 12<<10 || len(text) < 4<<10 {
		t.Errorf("%d bytes", len(text))
	}
	for _, want := range []string{"407 files", "Folders (files in them, size)", "pkg000ppp", "p/** (1, ", " more\n",
		`odd\x1b[31m\u202e/x.go: 3 times`} {
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

// A folder that holds most files is opened below the depth of the others.
func TestLargeFolderIsOpened(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("internal/p%02d/x%d.txt", i%40, i)] = "x\n"
		files[fmt.Sprintf("docs/a/%d/x.txt", i)] = "x\n"
	}
	for i := range 10 {
		files[fmt.Sprintf("docs/b%d/%d/x.txt", i, i)] = "x\n"
	}
	p := gitopstest.New(t, files)
	r, err := Read(t.Context(), p.Mirror, p.Base)
	if err != nil {
		t.Fatal(err)
	}
	text := r.String()
	for _, want := range []string{"- internal/p00 (5, 10 B)\n", "- docs/a/** (200, 400 B)\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if n := len(r.listFolders()); n > mostFolders {
		t.Errorf("%d folders", n)
	}
}

// Of a large repository's README the first paragraph is kept.
func TestAdviceOfLargeRepositoryIsBrief(t *testing.T) {
	t.Parallel()
	files := map[string]string{"README.md": "# x\n\n[![ci](a)](b)\n\nIt keeps crews of ships.\nIt is small.\n\n## Use\n\n" +
		strings.Repeat("Much more of it.\n", 100)}
	readAdvice := func() string {
		p := gitopstest.New(t, files)
		r, err := Read(t.Context(), p.Mirror, p.Base)
		if err != nil || len(r.Advice) != 1 {
			t.Fatal(err, len(r.Advice))
		}
		return r.Advice[0].Text
	}
	if text := readAdvice(); len(text) < 1500 {
		t.Errorf("%q", text)
	}
	for i := range smallFiles {
		files[fmt.Sprintf("part%03d/x.go", i)] = "package x\n"
	}
	if text := readAdvice(); text != "# x\n\n\nIt keeps crews of ships.\nIt is small.\n(104 lines more: read_file README.md "+
		"with offset=7)\n" {
		t.Errorf("%q", text)
	}
}
