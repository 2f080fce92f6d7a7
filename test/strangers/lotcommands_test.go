package strangers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands are read out of what the maintainers wrote, and what installs is none.
func TestCommandsAreFound(t *testing.T) {
	for _, c := range []struct {
		about string
		files map[string]string
		want  string // file: command, joined
	}{
		{"a workflow", map[string]string{".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: npm ci\n    - " +
			"run: |\n        npm run lint && npm test\n        npm publish\n    - run: npm run build\n      " +
			"working-directory: web\n", "package.json": `{"scripts":{"test":"x"}}`},
			".github/workflows/ci.yml: npm run lint|.github/workflows/ci.yml: npm test|.github/workflows/ci.yml: npm run " +
				"build in web"},
		{"a script lint beside the workflow",
			map[string]string{".github/workflows/ci.yml": "jobs: {a: {steps: [{run: npm run tests-only}]}}",
				"package.json": `{"scripts":{"tests-only":"x","lint":"eslint ."}}`},
			".github/workflows/ci.yml: npm run tests-only|package.json: npm run lint"},
		{"words of a server",
			map[string]string{".github/workflows/ci.yml": "jobs: {a: {steps: [{run: 'go test ${{ matrix.flags }} ./...'}]}}",
				"go.mod": "module x\n"},
			".github/workflows/ci.yml: not run"},
		{"travis",
			map[string]string{".travis.yml": "install: pip install .\nscript:\n- pytest -q\n- codecov\n", "setup.py": ""},
			".travis.yml: pytest -q"},
		{"scripts alone", map[string]string{"package.json": `{"scripts":{"test":"vitest","dev":"vite","lint":"eslint ."}}`},
			"package.json: npm run test -- --run|package.json: npm run lint"},
		{"no test in the script",
			map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}, ""},
		{"a native build is one command",
			map[string]string{"CMakeLists.txt": "", ".travis.yml": "script: cmake . && make && make test"},
			"CMakeLists.txt: " + cmakeTest},
		{"nothing named", map[string]string{"go.mod": "module x\n"}, "go.mod: go test ./..."},
		{"targets", map[string]string{"Makefile": "test: all\n\tgo test\nvars := x\nlint:\n\tx\n", "go.mod": ""},
			"Makefile: make test|Makefile: make lint"},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, f := range findCommands(Checkout{Dir: dir}) {
			words := f.File + ": " + f.Run
			if f.Run == "" {
				words += "not run"
			}
			if f.Dir != "" {
				words += " in " + f.Dir
			}
			got = append(got, words)
		}
		if joined := strings.Join(got, "|"); joined != c.want {
			t.Errorf("%s: %s\nwant %s", c.about, joined, c.want)
		}
	}
}
