package gates_test

import (
	"strings"
	"testing"

	"company/internal/gates"
	"company/internal/lib/hosttest"
)

// A project needs its toolchain and its packages for work, too: what no check needs
// is there, and known as such.
func TestToolchainsOfManifests(t *testing.T) {
	hosttest.Long(t, "a repository for each kind of project")
	goMod := map[string]string{"go.mod": "module x\n", "x.go": "package x\n"}
	with := func(more map[string]string) map[string]string {
		for name, text := range goMod {
			more[name] = text
		}
		return more
	}
	for name, c := range map[string]struct {
		files      map[string]string
		options    gates.Options
		all, spare string
		unneeded   string
	}{
		"package.json without tests": {map[string]string{"package.json": `{"dependencies":{"left-pad":"1.3.0"}}`,
			"package-lock.json": "{}"}, gates.Options{}, "node", "node", ""},
		"the same of pnpm": {map[string]string{"package.json": `{}`, "pnpm-lock.yaml": ""}, gates.Options{},
			"pnpm node", "pnpm node", ""},
		"beside Go": {with(map[string]string{"web/package.json": `{}`}), gates.Options{}, "go node",
			"node", "node"},
		"beside Go and a script": {with(map[string]string{"web/package.json": `{}`}),
			gates.Options{Test: "./ci.sh"}, "go node", "node", ""},
		"below git.paths": {with(
			map[string]string{"web/package.json": `{}`, "b/package.json": `{"scripts":{"test":"node --test"}}`}),
			gates.Options{Paths: []string{"web"}}, "go node", "node", ""},
		"outside of git.paths": {with(map[string]string{"web/package.json": `{}`, "a/x.go": "package a\n"}),
			gates.Options{Paths: []string{"a"}}, "go", "", ""},
		"a copy": {with(
			map[string]string{"node_modules/a/package.json": `{}`, "testdata/package.json": `{}`}), gates.Options{},
			"go", "", ""},
		"Python without tests": {map[string]string{"pyproject.toml": "[project]\nname='x'\n"}, gates.Options{},
			"python", "python", ""},
		"a Makefile without a check": {map[string]string{"Makefile": "all:\n\tgo build -o x .\n"}, gates.Options{},
			"go make", "go make", ""},
		"a Makefile that calls go": {map[string]string{"Makefile": "test:\n\t@cd src && go test ./...\n"},
			gates.Options{}, "go make", "", ""},
		"by a variable": {map[string]string{
			"Makefile": "GO ?= go\nPY := python3\ntest:\n\t$(GO) test ./...\n"}, gates.Options{}, "go python make", "", ""},
		"by the shell of a variable": {map[string]string{"Makefile": "V = $(shell node -p 1)\ntest:\n\ttrue\n"},
			gates.Options{}, "node make", "", ""},
		"by an included file": {map[string]string{"Makefile": "include mk/rules.mk\ntest: all\n",
			"mk/rules.mk": "all: ; FOO=1 npm ci || exit 1\n"}, gates.Options{}, "node make", "", ""},
		"over two lines": {map[string]string{"Makefile": "test:\n\ttrue && \\\n\tcargo test\n"},
			gates.Options{}, "rust make", "", ""},
		"by a given command": {map[string]string{"Makefile": "verify:\n\tif true; then pytest; fi\n"},
			gates.Options{Test: "make verify"}, "python make", "", ""},
		"with the race detector": {map[string]string{"Makefile": "test:\n\tgo test -race ./...\n"},
			gates.Options{}, "go make cgo", "", ""},
		"a word is not a program": {map[string]string{
			"Makefile": "# go test\ntest:\n\techo go python3; ls node cargo\n"}, gates.Options{}, "make", "", ""},
		"the Makefile of a part": {map[string]string{"Makefile": "test:\n\ttrue\n",
			"docs/Makefile": "html:\n\tpython3 -m sphinx\n"}, gates.Options{}, "make", "", ""},
		"a Makefile whose checks are known": {with(map[string]string{"Makefile": "docs:\n\tpython3 -m sphinx\n"}),
			gates.Options{}, "go", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := detect(t, c.files, c.options)
			if got := strings.Join(p.Toolchains, " "); got != c.all {
				t.Errorf("toolchains %q, want %q", got, c.all)
			}
			if got := strings.Join(p.Spare, " "); got != c.spare {
				t.Errorf("spare %q, want %q", got, c.spare)
			}
			if got := strings.Join(p.Unneeded, " "); got != c.unneeded {
				t.Errorf("unneeded %q, want %q", got, c.unneeded)
			}
		})
	}
}
