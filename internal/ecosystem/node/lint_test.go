package node

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// Where no linter is, what TypeScript says of the types is the lint: by a script of
// the project, by its compiler, or by the build.
func TestLintByTypeScript(t *testing.T) {
	const typescript = `"devDependencies":{"typescript":"5","tsup":"8"}`
	for name, c := range map[string]struct {
		files               map[string]string
		command, parse, has string // has: a part of what runs
	}{
		"the compiler":            {map[string]string{"package.json": `{` + typescript + `}`, "tsconfig.json": `{}`}, "npx --no-install tsc --noEmit", "tsc", "( tsc --noEmit )"},
		"no configuration":        {map[string]string{"package.json": `{` + typescript + `}`}, "", "", ""},
		"not a dependency":        {map[string]string{"package.json": `{"devDependencies":{"x":"1"}}`, "tsconfig.json": `{}`}, "", "", ""},
		"a linter":                {map[string]string{"package.json": `{"scripts":{"lint":"eslint ."},"devDependencies":{"typescript":"5","eslint":"9"}}`, "tsconfig.json": `{}`}, "npm run lint", "", "( eslint . )"},
		"a linter that is absent": {map[string]string{"package.json": `{"scripts":{"lint":"eslint ."},` + typescript + `}`, "tsconfig.json": `{}`}, "npx --no-install tsc --noEmit", "tsc", "( tsc --noEmit )"},
		"a script for types":      {map[string]string{"package.json": `{"scripts":{"typecheck":"tsc -p . --noEmit"},` + typescript + `}`, "tsconfig.json": `{}`}, "npm run typecheck", "tsc", "( tsc -p . --noEmit )"},
		"references alone":        {map[string]string{"package.json": `{"scripts":{"build":"tsc -b"},` + typescript + `}`, "tsconfig.json": `{ "files" : [ ], "references":[{"path":"a"}]}`}, "npm run build", "tsc", "( tsc -b )"},
		"a build by another":      {map[string]string{"package.json": `{"scripts":{"build":"tsup"},` + typescript + `}`, "tsconfig.json": `{"files":[]}`}, "npm run build", "", "( tsup )"},
		"a build by a stranger":   {map[string]string{"package.json": `{"scripts":{"build":"make all"},` + typescript + `}`, "tsconfig.json": `{"files":[]}`}, "", "", ""},
	} {
		parts := Ecosystem{}.Detect(ecosystemtest.Tree(c.files), nil)
		if c.command == "" {
			if len(parts) != 0 {
				t.Errorf("%s: %+v", name, parts[0].Lint)
			}
			continue
		}
		if len(parts) != 1 || parts[0].Lint == nil || parts[0].Lint.Command != c.command || parts[0].Lint.Parse != c.parse || !strings.Contains(parts[0].Lint.Report, c.has) {
			t.Errorf("%s: %+v", name, parts)
		}
	}
}
