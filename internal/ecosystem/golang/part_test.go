package golang

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
)

// chain is a module in a folder: c imports b, and b imports a; only the tests of d import a,
// by way of tools; e reads files.
var chain = map[string]string{
	"go.mod":      "module example.org/chain\n\ngo 1.24\n",
	"chain.go":    "package chain\n",
	"a/a.go":      "package a\n\nconst A = 1\n",
	"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n",
	"b/b.go":      "package b\n\nimport \"example.org/chain/a\"\n\nconst B = a.A\n",
	"c/c.go":      "package c\n\nimport _ \"example.org/chain/b\"\n",
	"c/c_test.go": "package c_test\n\nimport \"testing\"\n\nfunc TestC(t *testing.T) {}\n",
	"d/d.go":      "package d\n",
	"d/d_test.go": "package d_test\n\nimport (\n\t\"testing\"\n\n\t_ \"example.org/chain/d\"\n\t_ " +
		"\"example.org/chain/tools\"\n)\n\nfunc TestD(t *testing.T) {}\n",
	"tools/tools.go":    "package tools\n\nimport _ \"example.org/chain/a\"\n",
	"e/e.go":            "package e\n\nimport _ \"embed\"\n\n//go:embed text.txt\nvar Text string\n",
	"e/text.txt":        "text\n",
	"e/testdata/go.go":  "package data\n",
	"only/only_test.go": "package only\n\nimport \"testing\"\n\nfunc TestOnly(t *testing.T) {}\n",
	"README.md":         "chain\n",
}

// listChain prints what a gate lists of a module that lies in the folder srv of a
// repository.
func listChain(t *testing.T, gate company.GateCommand, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "srv")
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("/bin/sh", "-c", Ecosystem{}.ListCommand(gate, nil))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off", "PWD="+dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func givenGate(t *testing.T, command string) company.GateCommand {
	t.Helper()
	g := company.GateCommand{Name: "test", Command: command, Dir: "srv"}
	if !(Ecosystem{}).CompleteGate(&g) {
		t.Fatalf("%s is not a command of go test alone", command)
	}
	return g
}

// A change reaches the packages that it touches and those whose code or tests depend on
// them. What belongs to no package leaves open what it reaches.
func TestPartOfAChange(t *testing.T) {
	t.Parallel()
	gate := givenGate(t, "go test ./...")
	out := listChain(t, gate, chain)
	for name, c := range map[string]struct {
		changed string
		want    string // folders; empty: they are not known
	}{
		"what all depend on":          {"srv/a/a.go", "./a ./b ./c ./d ./tools"},
		"one that another imports":    {"srv/b/b.go", "./b ./c"},
		"one that none imports":       {"srv/c/c.go", "./c"},
		"what tests import":           {"srv/tools/tools.go", "./d ./tools"},
		"tests alone":                 {"srv/a/a_test.go", "./a"},
		"tests beside source":         {"srv/b/b_test.go srv/c/c.go", "./b ./c"},
		"tests of a package outside":  {"srv/d/d_test.go", "./d"},
		"a package of tests alone":    {"srv/only/only_test.go", "./only"},
		"one without tests":           {"srv/chain.go", ""},
		"a second one without tests":  {"srv/chain.go srv/c/c.go", ". ./c"},
		"a deleted file":              {"srv/b/gone.go", "./b ./c"},
		"of another system":           {"srv/b/b_windows.go", "./b ./c"},
		"text for people beside it":   {"srv/c/c.go README.md srv/b/notes.md", "./c"},
		"text in testdata":            {"srv/c/c.go srv/e/testdata/x.md", ""},
		"the module":                  {"srv/go.mod", ""},
		"the sums":                    {"srv/c/c.go srv/go.sum", ""},
		"a file that is embedded":     {"srv/e/text.txt", ""},
		"code in testdata":            {"srv/e/testdata/go.go", ""},
		"a package that is gone":      {"srv/gone/gone.go", ""},
		"another part of the project": {"web/web.go", ""},
		"a makefile":                  {"srv/Makefile", ""},
	} {
		part, ok := Ecosystem{}.FindPart(gate, strings.Fields(c.changed), out)
		if got := strings.Join(part.Names, " "); ok != (c.want != "") || ok && (got != c.want || part.Of != 8) {
			t.Errorf("%s: %q of %d, %v; want %q of 8", name, got, part.Of, ok, c.want)
		}
	}
	part, _ := Ecosystem{}.FindPart(gate, []string{"srv/d/d_test.go"}, out)
	if !part.Has("example.org/chain/d TestD") || part.Has("example.org/chain/a TestA") {
		t.Error("the tests of a part are those of its packages")
	}
}

// A gate of some packages runs a part of those; what lies beside them counts where they
// depend on it.
func TestPartOfAGateOfSomePackages(t *testing.T) {
	t.Parallel()
	gate := givenGate(t, "go test -count=1 ./b ./c ./d")
	out := listChain(t, gate, chain)
	for changed, want := range map[string]string{"srv/a/a.go": "./b ./c ./d", "srv/tools/tools.go": "./d",
		"srv/e/e.go": ""} {
		part, ok := Ecosystem{}.FindPart(gate, []string{changed}, out)
		if got := strings.Join(part.Names, " "); got != want || ok && part.Of != 3 {
			t.Errorf("%s: %q of %d, want %q of 3", changed, got, part.Of, want)
		}
	}
}

// Where a package cannot be read, what depends on it is not known, but for one that the
// change touches: its own tests are red.
func TestPartWithBrokenPackages(t *testing.T) {
	t.Parallel()
	gate := givenGate(t, "go test ./...")
	files := map[string]string{}
	for name, text := range chain {
		files[name] = text
	}
	files["b/b.go"] = "package b\n\nimport (\n"
	out := listChain(t, gate, files)
	for changed, want := range map[string]string{"srv/b/b.go": "./b ./c", "srv/a/a.go": "", "srv/d/d.go": ""} {
		part, ok := Ecosystem{}.FindPart(gate, []string{changed}, out)
		if got := strings.Join(part.Names, " "); ok != (want != "") || got != want {
			t.Errorf("%s: %q, %v, want %q", changed, got, ok, want)
		}
	}
	files["b/b.go"] = chain["b/b.go"]
	files["e/e.go"], files["e/text.md"] = strings.ReplaceAll(chain["e/e.go"], "text.txt", "text.md"), "text\n"
	if part, ok := (Ecosystem{}).FindPart(gate, []string{"srv/c/c.go", "srv/e/text.md"}, listChain(t, gate, files)); !ok ||
		strings.Join(part.Names, " ") != "./c ./e" {
		t.Errorf("text that is embedded: %q, %v", part.Names, ok)
	}
}

// What a package embeds belongs to it, text and source alike, also once it is deleted; what
// its tests embed belongs to these.
func TestPartOfEmbeddedFiles(t *testing.T) {
	t.Parallel()
	test := func(pkg string) string {
		return "package " + pkg + "\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) {}\n"
	}
	embed := func(pkg, pattern string) string {
		return "package " + pkg + "\n\nimport \"embed\"\n\n//go:embed " + pattern + "\nvar Files embed.FS\n"
	}
	gate := givenGate(t, "go test ./...")
	out := listChain(t, gate, map[string]string{
		"go.mod":   "module example.org/embeds\n\ngo 1.24\n",
		"a/a.go":   "package a\n",
		"p/p.go":   embed("p", "prompts/*"),
		"p/it.txt": "it\n", "p/prompts/a.txt": "a\n", "p/p_test.go": test("p"),
		"q/q.go": embed("q", "stubs/a.go"), "q/stubs/a.go": "package stubs\n", "q/stubs/b.go": "package stubs\n",
		"q/q_test.go": test("q"), "q/stubs/stubs_test.go": test("stubs"),
		"r/r.go": "package r\n", "r/r_test.go": test("r"), "r/embed_test.go": embed("r", `all:golden "two words.md"`),
		"r/golden/a.txt": "a\n", "r/two words.md": "two\n",
		"s/s.go": "package s\n\nimport _ \"example.org/embeds/r\"\n", "s/s_test.go": test("s"),
	})
	for changed, want := range map[string]string{
		"srv/p/prompts/deleted.md":       "./p",
		"srv/p/prompts/below/deleted.md": "./p",
		"srv/p/notes.md":                 "",
		"srv/prompts/notes.md":           "",
		"srv/p/prompts/a.txt":            "",
		"srv/q/stubs/a.go":               "./q ./q/stubs",
		"srv/q/stubs/b.go":               "./q/stubs",
		"srv/r/golden/x.md":              "./r",
		"srv/r/two words.md":             "./r",
		"srv/r/r.go":                     "./r ./s",
	} {
		part, ok := Ecosystem{}.FindPart(gate, []string{changed}, out)
		if got := strings.Join(part.Names, " "); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v, want %q", changed, got, ok, want)
		}
	}
}

// A folder outside of the gate's own has no name there, so the whole gate runs; a part of no
// folders fails, and one of some runs each of them.
func TestPartStaysInsideOfItsGate(t *testing.T) {
	t.Parallel()
	gate := givenGate(t, "go test -race ./... ../other/...")
	if want := "go list -find -e -f '{{.Dir}}' -race ./... ../other/...\ngo test -json -race"; gate.Canary != want {
		t.Errorf("%q, want %q", gate.Canary, want)
	}
	for _, outside := range []string{"/r/other", "/r/srv2", "/r", "/other/srv/a"} {
		out := "/r/srv\n/r/srv/a\n" + outside + "\n\na|||\"/r/srv/a\"|[]|[][]\na.test||a|\"/r/srv/a\"|[]|[][]\nb||a|\"" +
			outside + "\"|[]|[][]\n"
		if part, ok := (Ecosystem{}).FindPart(gate, []string{"srv/a/a.go"}, out); ok {
			t.Errorf("%s: %q", outside, part.Names)
		}
	}
	if got := (Ecosystem{}).PartCommand(gate, nil); got != "exit 1" {
		t.Errorf("without folders: %s", got)
	}
	if got, want := (Ecosystem{}).PartCommand(gate, []string{".", "./a", "./it's"}),
		`go test -json -race . ./a './it'\''s'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Commands that cannot be taken apart, and output that is none, have no part.
func TestNoPart(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"make test", "go test -run=TestA ./...", "go test ./... && true"} {
		g := company.GateCommand{Name: "test", Command: command}
		Ecosystem{}.CompleteGate(&g)
		if got := (Ecosystem{}).ListCommand(g, nil); got != "" {
			t.Errorf("%s: %s", command, got)
		}
	}
	gate := givenGate(t, "go test ./...")
	for _, out := range []string{"", "\n\n", "/r/srv\n\n", "/r/srv\n/r/srv/a\n\nexample.org/a\n",
		"/r/srv\n/r/srv/a\n\na|||/r/srv/a|\n", "/r/srv\n/r/srv/a\n\n", "/else\n/r/srv/a\n\na|||\"/r/srv/a\"[][][]\n"} {
		if part, ok := (Ecosystem{}).FindPart(gate, []string{"srv/a/a.go"}, out); ok {
			t.Errorf("%q: %v", out, part)
		}
	}
}
