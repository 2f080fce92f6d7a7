package repomap

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"company/internal/gitops/gitopstest"
)

// The terms of names, paths and sentences, and which of an instruction count more.
func TestTermsAreCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ParseSince": "pars sinc", "internal/cli/list_test.go": "internal cli list test", "--max-tries": "max try",
		"HTTPServer2": "http server", "tasks that were submitted": "task that were submit", "feeds, feeding": "feed feed",
		"größeren Übergang": "größeren übergang", "a.b": "", "pass classes": "pass class", strings.Repeat("x", 80): "",
	} {
		if got := strings.Join(splitTerms(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	asked := readAsked("Give `crew roster` a flag --since: only those of sinceThen, as parser.go has it. Not more than " +
		"`one` and the a\xff")
	for w, want := range map[string]float64{"roster": 2, "sinc": 2, "parser": 2, "flag": 1, "giv": 0, "giv ": 0,
		"the": 0, "on": 0} {
		if asked[w] != want {
			t.Errorf("%s weighs %v, want %v", w, asked[w], want)
		}
	}
	var long strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&long, "w%c%c%c%c ", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26, 'q')
	}
	if n := len(readAsked(long.String())); n != mostAsked {
		t.Errorf("%d words of a long instruction", n)
	}
}

// manyFiles is a repository of some hundred files: commands, their tests, views and a clock,
// among packages that use one helper all over.
func manyFiles() map[string]string {
	files := map[string]string{
		"go.mod": "module x\n",
		"README.md": "# x\n\n[![ci](a)](b)\n\nIt keeps crews of ships.\nIt is small.\n\n## Use\n\n" +
			strings.Repeat("Much more of it.\n", 100),
		"cmd/crew/roster.go":      "package crew\n\nfunc NewRoster() { util.Unlock() }\n",
		"cmd/crew/roster_test.go": "package crew\n\nfunc TestRoster(t *testing.T) { NewRoster() }\n",
		"cmd/crew/logbook.go":     "package crew\n\nfunc NewLogbook() { clock.ParseSince(); util.Unlock() }\n",
		"clock/moment.go": "// Package clock reads what people write of time: ages, days, and hours of the day " +
			"that is meant, and so on for all zones of a ship, wherever it may be.\npackage clock\n\nfunc ParseSince() " +
			"{}\nfunc Shift() {}\n",
		"view/crewroster.go":      "package view\n\ntype CrewRoster struct{}\n",
		"view/listener.go":        "package view\n\nfunc Listen() { util.Unlock() }\n",
		"util/lock.go":            "package util\n\nfunc Unlock() {}\nfunc Names() {}\n",
		"web/names.ts":            "export function Unlock() {}\nexport const Names = 3\n",
		"vendor/roster/roster.go": "package roster\n\nfunc Roster() {}\n",
	}
	for i := range 400 {
		files[fmt.Sprintf("part%03d/part.go", i)] = fmt.Sprintf(
			"package part\n\nfunc Part%c%c() { util.Unlock(); crew := 3; Names() }\n", 'A'+i%26, 'a'+i/26)
	}
	return files
}

// SUB-15: the map of a large repository names the files that the terms of the instruction
// name, before those that others use most; a rare term weighs more than a common one.
func TestLargeMapIsOfTheInstruction(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, manyFiles())
	r, err := Read(t.Context(), p.Mirror, p.Base)
	if err != nil {
		t.Fatal(err)
	}
	const instruction = "Give `crew roster` a flag --since: only those that joined since then. It takes what --since of " +
		"`crew logbook` takes."
	text := r.RenderFor(instruction)
	_, list, _ := strings.Cut(text, "\nThe ")
	lines := strings.Split(list, "\n")[1:]
	for _, want := range []string{"cmd/crew/roster.go: func NewRoster", "cmd/crew/logbook.go: func NewLogbook",
		"clock/moment.go: func ParseSince", "view/crewroster.go: type CrewRoster", "cmd/crew/roster_test.go"} {
		if at := slices.Index(lines, "- "+want); at < 0 || at > 5 {
			t.Errorf("%q is line %d of\n%.2000s", want, at, list)
		}
	}
	if first := slices.Sorted(slices.Values(lines[:3])); !slices.Equal(
		first, []string{"- cmd/crew/logbook.go: func NewLogbook", "- cmd/crew/roster.go: func NewRoster",
			"- view/crewroster.go: type CrewRoster"}) {
		t.Errorf("the first are %q", first)
	}
	for _, absent := range []string{"vendor/", "view/listener.go", "func Unlock", "use most"} {
		if strings.Contains(text, absent) {
			t.Errorf("%q is in\n%s", absent, text)
		}
	}
	if len(text) > 12<<10 || text != r.RenderFor(instruction) {
		t.Errorf("%d bytes, or another map each time", len(text))
	}
	// Equal terms: what more files use is first. A use in another language is none.
	files, _ := r.matchFiles("unlock names")
	if files[0].entry.Path != "web/names.ts" || files[0].symbols[0].users != 0 {
		t.Errorf("%+v", files[0])
	}
	if i := slices.IndexFunc(files, func(f matchedFile) bool { return f.entry.Path == "util/lock.go" }); i != 1 ||
		files[i].symbols[0].users < 400 {
		t.Errorf("place %d: %+v", i, files[1])
	}
	// Terms that no file has leave the map of what is used most.
	for _, none := range []string{"", "the and of", "zeppelin"} {
		if got := r.RenderFor(none); got != r.String() || !strings.Contains(got, "func Unlock (40") {
			t.Errorf("%q:\n%.1500s", none, got)
		}
	}
	// The README's first paragraph stands for it.
	if want := "# x\n\n\nIt keeps crews of ships.\nIt is small.\n(104 lines more: read_file README.md with " +
		"offset=7)\n"; len(r.Advice) != 1 || r.Advice[0].Text != want {
		t.Errorf("%q", r.Advice)
	}
}

// The terms of an instruction change nothing of the map of a small repository: all its files
// are there.
func TestSmallMapIsOfAllFiles(t *testing.T) {
	t.Parallel()
	files := manyFiles()
	for name := range files {
		if strings.HasPrefix(name, "part") {
			delete(files, name)
		}
	}
	p := gitopstest.New(t, files)
	r, err := Read(t.Context(), p.Mirror, p.Base)
	if err != nil {
		t.Fatal(err)
	}
	if text := r.RenderFor("crew roster"); text != r.String() || !strings.Contains(text, "- view/listener.go (") {
		t.Errorf("%s", text)
	}
	if len(r.Advice) != 1 || len(r.Advice[0].Text) < 1500 {
		t.Errorf("%q", r.Advice)
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

// A folder's purpose ends with a clause or a term.
func TestDocIsCutAtAWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		doc  string
		most int
		want string
	}{
		{"reads company.yaml: one strict schema for file, environment and flags.", 40, "reads company.yaml"},
		{"measures what the company costs on this machine", 30, "measures what the company …"},
		{"is what the parts talk over: three primitives (Log, Queue, Blobs)", 53,
			"is what the parts talk over: three primitives"},
		{"short.", 40, "short."},
		{strings.Repeat("x", 50), 20, strings.Repeat("x", 16) + " …"},
	} {
		if got := cutDoc(c.doc, c.most); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
