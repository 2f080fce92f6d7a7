package node

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// Lint, types and build are checks of their own, each by what the project has for it; for the compiler
// alone and for a build nobody asks, so that they judge where the base is green.
func TestScriptsThatCheck(t *testing.T) {
	const typescript = `"devDependencies":{"typescript":"5","tsup":"8"}`
	const compiler = "types? npx --no-install tsc --noEmit"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // kind, "?" where nobody asks, command
		runs  string // a part of what runs
	}{
		"the compiler": {map[string]string{"package.json": `{` + typescript + `}`, "tsconfig.json": `{}`},
			compiler, "( tsc --noEmit )"},
		"no configuration": {map[string]string{"package.json": `{` + typescript + `}`}, "", ""},
		"not a dependency": {map[string]string{"package.json": `{"devDependencies":{"x":"1"}}`,
			"tsconfig.json": `{}`}, "", ""},
		"a linter": {map[string]string{
			"package.json":  `{"scripts":{"lint":"eslint ."},"devDependencies":{"typescript":"5","eslint":"9"}}`,
			"tsconfig.json": `{}`}, "lint npm run lint|" + compiler, "( eslint . )"},
		"a linter that is absent": {map[string]string{"package.json": `{"scripts":{"lint":"eslint ."},` + typescript + `}`,
			"tsconfig.json": `{}`}, compiler, "( tsc --noEmit )"},
		"a linter and another step": {map[string]string{
			"package.json": `{"scripts":{"lint":"eslint . && echo done"},"devDependencies":{"eslint":"9"}}`},
			"lint npm run lint", "( eslint . && echo done )"},
		"a lint that is types": {map[string]string{"package.json": `{"scripts":{"lint":"tsc --noEmit"},` + typescript + `}`,
			"tsconfig.json": `{}`}, "lint npm run lint", "( tsc --noEmit )"},
		"a script for types": {map[string]string{
			"package.json": `{"scripts":{"typecheck":"tsc -p . --noEmit"},` + typescript + `}`, "tsconfig.json": `{}`},
			"types npm run typecheck", "( tsc -p . --noEmit )"},
		"Nx": {map[string]string{"package.json": `{` + typescript + `}`, "nx.json": `{}`,
			"tsconfig.json": `{"files":[],"references":[{"path":"a"}]}`},
			"types? npx --no-install tsc --build --emitDeclarationOnly", "( tsc --build --emitDeclarationOnly )"},
		"Nx's linter": {map[string]string{"package.json": `{"devDependencies":{"nx":"23","eslint":"9"}}`,
			"nx.json": `{"plugins":["@nx/js",{"plugin":"@nx/eslint/plugin","options":{"targetName":"eslint:lint"}}]}`},
			"lint? npx --no-install nx run-many -t eslint:lint", "; nx run-many -t eslint:lint )"},
		"Nx's linter by its name alone": {map[string]string{"package.json": `{"devDependencies":{"nx":"23","eslint":"9"}}`,
			"nx.json": `{"plugins":["@nx/eslint/plugin"]}`},
			"lint? npx --no-install nx run-many -t lint", "; nx run-many -t lint )"},
		"Nx's linter by a script": {map[string]string{
			"package.json": `{"scripts":{"lint":"eslint ."},"devDependencies":{"nx":"23","eslint":"9"}}`,
			"nx.json":      `{"plugins":["@nx/eslint/plugin"]}`},
			"lint npm run lint", "( eslint . )"},
		"Nx without a linter": {map[string]string{"package.json": `{"devDependencies":{"nx":"23","eslint":"9"}}`,
			"nx.json": `{"plugins":["@nx/vitest"]}`}, "", ""},
		"a target that is code": {map[string]string{"package.json": `{"devDependencies":{"nx":"23","eslint":"9"}}`,
			"nx.json": `{"plugins":[{"plugin":"@nx/eslint/plugin","options":{"targetName":"a; id"}}]}`}, "", ""},
		"references alone": {map[string]string{"package.json": `{"scripts":{"build":"tsc -b"},` + typescript + `}`,
			"tsconfig.json": `{ "files" : [ ], "references":[{"path":"a"}]}`}, "build? npm run build", "( tsc -b )"},
		"a build by another": {map[string]string{"package.json": `{"scripts":{"build":"tsup"},` + typescript + `}`,
			"tsconfig.json": `{"files":[]}`}, "build? npm run build", "( tsup )"},
		"a build by a stranger": {map[string]string{"package.json": `{"scripts":{"build":"make all"},` + typescript + `}`,
			"tsconfig.json": `{"files":[]}`}, "", ""},
		"a build of two steps": {map[string]string{
			"package.json": `{"scripts":{"build":"tsc && ./publish.sh"},` + typescript + `}`}, "", ""},
		"Next": {map[string]string{
			"package.json": `{"scripts":{"lint":"eslint","build":"next build"},"dependencies":{"next":"16"},"devDependencies":{"typescript":"5","eslint":"9"}}`, "tsconfig.json": `{}`},
			"lint npm run lint|types? npx --no-install next typegen && npx --no-install tsc --noEmit|build? npm run build",
			"( next typegen ) && ( tsc --noEmit )"},
		"an older Next": {map[string]string{
			"package.json": `{"scripts":{"build":"next build"},"dependencies":{"next":"^15.4.1"},"devDependencies":{"typescript":"5"}}`, "tsconfig.json": `{}`},
			compiler + "|build? npm run build", "( next build )"},
		"the newest Next": {map[string]string{
			"package.json": `{"dependencies":{"next":"latest"},"devDependencies":{"typescript":"5"}}`, "tsconfig.json": `{}`},
			"types? npx --no-install next typegen && npx --no-install tsc --noEmit", "( next typegen ) && ( tsc --noEmit )"},
		"Next's types by a script": {map[string]string{
			"package.json": `{"scripts":{"typecheck":"next typegen && tsc --noEmit"},"dependencies":{"next":"~15.5"},"devDependencies":{"typescript":"5"}}`, "tsconfig.json": `{}`},
			"types npm run typecheck", "( next typegen && tsc --noEmit )"},
		"React Router": {map[string]string{
			"package.json": `{"scripts":{"build":"react-router build","typecheck":"react-router typegen && tsc"},"devDependencies":{"typescript":"5","@react-router/dev":"^7.9"}}`, "tsconfig.json": `{}`},
			"types npm run typecheck|build? npm run build", "( react-router typegen && tsc )"},
		"React Router without a script": {map[string]string{
			"package.json": `{"devDependencies":{"typescript":"5","@react-router/dev":"^7.9"}}`, "tsconfig.json": `{}`},
			"types? npx --no-install react-router typegen && npx --no-install tsc --noEmit",
			"( react-router typegen ) && ( tsc --noEmit )"},
		"SvelteKit": {map[string]string{
			"package.json":  `{"scripts":{"build":"vite build","check":"svelte-kit sync && svelte-check --tsconfig ./tsconfig.json"},"devDependencies":{"typescript":"5","@sveltejs/kit":"2","svelte-check":"4","vite":"7"}}`,
			"tsconfig.json": `{"extends":"./.svelte-kit/tsconfig.json"}`}, "types npm run check|build? npm run build",
			"( svelte-kit sync && svelte-check --tsconfig ./tsconfig.json )"},
		"a generated configuration": {map[string]string{"package.json": `{"devDependencies":{"typescript":"5","nuxt":"4"}}`,
			"tsconfig.json": `{"extends":"./.nuxt/tsconfig.json"}`}, "", ""},
		"a script that watches": {map[string]string{
			"package.json": `{"scripts":{"typecheck":"tsc --noEmit -w","build":"tsc --watch"},` + typescript + `}`}, "", ""},
		"a build and more": {map[string]string{
			"package.json": `{"scripts":{"build":"tsc -b; ./publish.sh"},` + typescript + `}`}, "", ""},
		"Vue": {map[string]string{
			"package.json": `{"scripts":{"build":"run-p type-check \"build-only {@}\" --","build-only":"vite build","type-check":"vue-tsc --build","lint":"run-s \"lint:*\"","lint:a":"oxlint . --fix","lint:b":"eslint ."},"devDependencies":{"vue-tsc":"3","vite":"8","eslint":"10","oxlint":"1","typescript":"5"}}`},
			"lint npm run lint|types npm run type-check|build? npm run build", "( vue-tsc --build && vite build )"},
		"another check": {map[string]string{
			"package.json": `{"scripts":{"check":"prettier --check ."},"devDependencies":{"typescript":"5","prettier":"3"}}`},
			"", ""},
	} {
		var got []string
		runs := ""
		for _, part := range (Ecosystem{}).Detect(ecosystemtest.Tree(c.files), nil) {
			for _, kind := range []string{"lint", "types", "build", "test"} {
				if g := part.Check(kind); g != nil {
					got = append(got, kind+map[bool]string{true: "?"}[g.Provisional]+" "+g.Command)
					runs += g.Report
				}
			}
		}
		if strings.Join(got, "|") != c.want || !strings.Contains(runs, c.runs) {
			t.Errorf("%s: %q, which runs %q", name, got, runs)
		}
	}
}

// A compiler that is green has counted no tests: it has no count, and not zero.
func TestGreenCompilerHasNoCount(t *testing.T) {
	var green, red company.GateCheck
	(&typeReport{}).Finish().ApplyTo(&green)
	r := &typeReport{}
	r.ReadLine("src/a.ts(3,1): error TS2322: no")
	red.ExitCode = 2
	r.Finish().ApplyTo(&red)
	if green.Counts != nil || red.Counts == nil || red.Counts.Failed != 1 {
		t.Errorf("green %+v, red %+v", green.Counts, red.Counts)
	}
}

// What the root checks for its workspaces is not checked in them again, kind by kind.
func TestChecksOfWorkspaces(t *testing.T) {
	parts := Ecosystem{}.Detect(ecosystemtest.Tree(map[string]string{
		"package.json":      `{"workspaces":["a"],"scripts":{"lint":"eslint ."},"devDependencies":{"eslint":"9","typescript":"5"}}`,
		"a/package.json":    `{"scripts":{"lint":"eslint .","test":"node --test"}}`,
		"a/tsconfig.json":   `{}`,
		"package-lock.json": `{}`,
	}), nil)
	has := func(c ecosystem.Component) string {
		out := c.Dir
		for _, kind := range []string{"lint", "types", "build", "test"} {
			if c.Check(kind) != nil {
				out += " " + kind
			}
		}
		return out
	}
	if len(parts) != 2 || has(parts[0]) != " lint" || has(parts[1]) != "a types test" {
		t.Errorf("%+v", parts)
	}
	// A compiler that nobody asked for stands for no script of theirs.
	parts = Ecosystem{}.Detect(ecosystemtest.Tree(map[string]string{
		"package.json": `{"workspaces":["a","b"],"devDependencies":{"typescript":"5"}}`, "tsconfig.json": `{}`,
		"package-lock.json": `{}`,
		"a/package.json":    `{"scripts":{"typecheck":"tsc -p ."}}`,
		"b/package.json":    `{"scripts":{}}`, "b/tsconfig.json": `{}`,
	}), nil)
	if len(parts) != 2 || has(parts[0]) != " types" || has(parts[1]) != "a types" ||
		parts[1].Types.Command != "npm run typecheck" {
		t.Errorf("%+v", parts)
	}
}
