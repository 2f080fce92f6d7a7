package gates_test

import (
	"slices"
	"testing"

	"company/internal/gates"
	"company/internal/lib/hosttest"
)

// A C compiler is in the image where something calls it, and only there: it
// takes a minute to come.
func TestNeedsCompiler(t *testing.T) {
	hosttest.Long(t, "a repository for each kind of project")
	goMod := func(files map[string]string) map[string]string {
		files["go.mod"] = "module x\n"
		return files
	}
	for name, c := range map[string]struct {
		files   map[string]string
		options gates.Options
		want    []string
	}{
		"Go": {goMod(map[string]string{"x.go": "package x\n\nimport \"fmt\"\n"}), gates.Options{},
			[]string{"go"}},
		"Go with C": {goMod(
			map[string]string{"x.go": "package x\n\n// #include <stdlib.h>\nimport \"C\"\n"}), gates.Options{},
			[]string{"go", "cgo"}},
		"in a block": {goMod(
			map[string]string{"sub/x.go": "package x\r\n\r\nimport (\r\n\t\"C\" // for x\r\n)\r\n"}), gates.Options{},
			[]string{"go", "cgo"}},
		"in a copy": {goMod(
			map[string]string{"x.go": "package x\n", "vendor/a/b.go": "package b\nimport \"C\"\n"}), gates.Options{},
			[]string{"go", "cgo"}},
		"in the words of a comment": {goMod(map[string]string{"x.go": "package x\n\n// import \"C\" is not used here\n"}),
			gates.Options{}, []string{"go"}},
		"in a string": {goMod(map[string]string{"x.go": "package x\n\nconst grade = \"C\"\n"}),
			gates.Options{}, []string{"go"}},
		"where Go does not look": {goMod(
			map[string]string{"x.go": "package x\n", "testdata/a.go": "import \"C\"\n", "_old/a.go": "import \"C\"\n",
				".x/a.go": "import \"C\"\n"}), gates.Options{}, []string{"go"}},
		"the race detector": {goMod(map[string]string{"x.go": "package x\n"}),
			gates.Options{Test: "go test -race ./..."}, []string{"go", "cgo"}},
		"the race detector, by make": {goMod(
			map[string]string{"x.go": "package x\n", "Makefile": "test:\n\tgo test -race ./...\n"}),
			gates.Options{Test: "make test"}, []string{"go", "make", "cgo"}},
		"a race in a name": {goMod(map[string]string{"x.go": "package x\n"}), gates.Options{Test: "go test ./horse-race/..."},
			[]string{"go"}},

		"make of texts": {map[string]string{
			"Makefile":     "# calculates a checksum according to the standard\ntest:\n\tgrep -q hello greeting.txt\n",
			"greeting.txt": "hello\n"}, gates.Options{}, []string{"make"}},
		"make that compiles": {map[string]string{"Makefile": "test:\n\tgcc -o x x.in\n"}, gates.Options{},
			[]string{"make", "c"}},
		"by a variable": {map[string]string{"Makefile": "test:\n\t$(CC) -o x x.in\n"}, gates.Options{},
			[]string{"make", "c"}},
		"by a built-in rule": {map[string]string{"Makefile": "test: hello\n\t./hello\n", "hello.c": "int main(){}\n"},
			gates.Options{}, []string{"make", "c", "ccache"}},
		"by an included file": {map[string]string{"Makefile": "include rules.mk\ntest: all\n",
			"rules.mk": "all:\n\tg++ -c a\n"}, gates.Options{}, []string{"make", "c"}},
		"by a script": {map[string]string{"Makefile": "test:\n\tsh build.sh\n", "build.sh": "exec clang -o x\n"},
			gates.Options{}, []string{"make", "c"}},
		"a given command": {map[string]string{"Makefile": "verify:\n\ttrue\n"}, gates.Options{Test: "make verify"},
			[]string{"make"}},
		"no make at all": {map[string]string{"hello.c": "int main(){}\n", "test.sh": "true\n"},
			gates.Options{Test: "sh test.sh"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := detect(t, c.files, c.options).Toolchains; !slices.Equal(got, c.want) {
				t.Errorf("toolchains %q, want %q", got, c.want)
			}
		})
	}
}
