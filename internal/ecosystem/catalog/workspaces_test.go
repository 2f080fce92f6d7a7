package catalog_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/ecosystemtest"
)

// Each client of npm's packages finds the packages of a workspace as the others do, and
// runs them by its own program; no other client takes them.
func TestWorkspacesOfNode(t *testing.T) {
	const workspaces = `"workspaces":["packages/*"],`
	clients := map[string]struct {
		kind, program, exec string
		workspaces          string // of the root's package.json
		files               map[string]string
	}{
		"npm": {"node", "npm", "npx --no-install ", workspaces, map[string]string{"package-lock.json": "{}"}},
		"pnpm": {"pnpm", "pnpm", "pnpm exec ", "",
			map[string]string{"pnpm-lock.yaml": "lockfileVersion: '9.0'\n", "pnpm-workspace.yaml": "packages:\n- packages/*\n"}},
		"yarn": {"yarn", "yarn", "yarn --silent run ", workspaces,
			map[string]string{"yarn.lock": "# yarn lockfile v1\n"}},
		"a later yarn": {"berry", "yarn", "yarn run ", workspaces,
			map[string]string{"yarn.lock": "__metadata:\n  version: 8\n"}},
	}
	for name, c := range map[string]struct {
		root string            // of its package.json, behind the workspaces
		more map[string]string // package.json by package
		want string            // folder: lint | test; PROGRAM and EXEC stand for the client's
	}{
		"packages test for themselves": {`"devDependencies":{"jest":"29"}`,
			map[string]string{"a": `{"scripts":{"test":"jest"}}`, "b": `{"devDependencies":{"vitest":"2"}}`, "c": `{}`},
			"packages/a: | PROGRAM test\npackages/b: | EXECvitest run"},
		"the root tests all": {`"scripts":{"test":"node --test packages"}`,
			map[string]string{"a": `{"scripts":{"test":"node --test"}}`},
			": | PROGRAM test"},
		"the root lints all": {`"scripts":{"lint":"eslint ."},"devDependencies":{"eslint":"9"}`,
			map[string]string{"a": `{"scripts":{"lint":"eslint .","test":"node --test"}}`,
				"b": `{"scripts":{"lint":"eslint ."}}`},
			": PROGRAM run lint | \npackages/a: | PROGRAM test"},
		"packages lint with the root's tool": {`"devDependencies":{"eslint":"9"}`,
			map[string]string{"a": `{"scripts":{"lint":"eslint ."}}`},
			"packages/a: PROGRAM run lint | "},
	} {
		for client, m := range clients {
			files := maps.Clone(m.files)
			files["package.json"] = `{"name":"root","private":true,` + m.workspaces + c.root + `}`
			for dir, text := range c.more {
				files["packages/"+dir+"/package.json"] = text
			}
			tree := ecosystemtest.Tree(files)
			var found []ecosystem.Component
			for _, d := range catalog.Of[ecosystem.Detector]() {
				found = append(found, d.Detect(tree, found)...)
			}
			var got []string
			for _, p := range found {
				lint, test := "", ""
				if p.Lint != nil {
					lint = " " + p.Lint.Command
				}
				if p.Test != nil {
					test = p.Test.Command
				}
				got = append(got, p.Dir+":"+lint+" | "+test)
				if p.Kind != m.kind {
					t.Errorf("%s, %s: %q is of %s", name, client, p.Dir, p.Kind)
				}
			}
			want := strings.NewReplacer("PROGRAM", m.program, "EXEC", m.exec).Replace(c.want)
			if s := strings.Join(got, "\n"); s != want {
				t.Errorf("%s, %s: got\n%s\nwant\n%s", name, client, s, want)
			}
		}
	}
}

// A repository with a manifest of each kind in thousands of folders is looked at in time of its
// size: for each folder not all of the files are.
func TestThousandsOfProjects(t *testing.T) {
	files := map[string]string{}
	manifests := []string{"go.mod", "package.json", "pyproject.toml", "Cargo.toml", "Gemfile", "composer.json", "pom.xml",
		"build.gradle", "CMakeLists.txt", "meson.build", "configure.ac"}
	for i := range 3000 {
		for _, name := range manifests {
			files[fmt.Sprintf("d%d/%s", i, name)] = ""
		}
	}
	tree := ecosystemtest.Tree(files)
	var found []ecosystem.Component
	for _, e := range catalog.Of[ecosystem.Detector]() {
		found = append(found, e.Detect(tree, found)...)
	}
	of := map[string]int{}
	for _, c := range found {
		of[c.Kind]++
	}
	for kind, n := range of {
		if n > 1000 {
			t.Errorf("%d components of %s", n, kind)
		}
	}
	if len(of) == 0 || len(tree.Notes()) > 201 {
		t.Errorf("%v, %d notes", of, len(tree.Notes()))
	}
}
