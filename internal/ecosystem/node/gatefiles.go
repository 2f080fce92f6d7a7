package node

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// gateFiles lists files with fixed names that configure runners, compilers, linters and clients.
var gateFiles = []string{
	"package.json", "tsconfig*.json", "jsconfig*.json", "tslint.json", "biome.json", "biome.jsonc", "bunfig.toml",
	"deno.json", "deno.jsonc",
	"vitest.workspace", "vitest.workspace.*", "vitest.projects.*", "karma.conf.*", "wdio.conf.*", "protractor.conf.*",
	"gulpfile.*", "Gruntfile.*", "Jakefile*",
	"nx.json", "turbo.json", "turbo.jsonc", "lerna.json", "rush.json", "oxlint.json", "eslint-suppressions.json",
	".eslintignore", ".prettierignore", ".stylelintignore", ".jshintignore", ".flowconfig", ".xo-config*",
	"jest.setup.*", "jest-setup.*", "setupJest.*", "vitest.setup.*", "vitest-setup.*", "setupTests.*",
}

// configured lists tools whose configuration file is named after the tool: jest.config.mjs. A file of an
// application such as app.config.ts is not in the list.
var configured = []string{
	"ava", "babel", "cypress", "eslint", "jest", "karma", "lint-staged", "next", "nyc", "oxlint", "playwright", "prettier",
	"rollup", "rspack", "rstest",
	"stylelint", "swc", "tap", "tsup", "vite", "vitest", "web-test-runner", "webpack", "xo", "yarn",
}

// IsGateFile reports whether a file configures a check or its runner, or is in a folder in which node first
// looks for modules.
func (Ecosystem) IsGateFile(file string) bool {
	if ecosystem.HasName(file, gateFiles) || slices.Contains(strings.Split(file, "/"), "node_modules") ||
		path.Ext(file) == ".patch" && ecosystem.LiesIn(file, "patches") {
		return true
	}
	name := path.Base(file)
	return isSettings(name) || isConfig(name)
}

// isConfig reports whether a file name is that of a tool's configuration: jest.config.mjs,
// jest.unit.config.ts.
func isConfig(name string) bool {
	before, after, ok := strings.Cut(name, ".config")
	tool, _, _ := strings.Cut(before, ".")
	return ok && (after == "" || after[0] == '.') && slices.Contains(configured, tool)
}

// isSettings reports whether a file name is that of a tool's settings: .babelrc, .npmrc, .eslintrc.json.
func isSettings(name string) bool {
	hidden, ok := strings.CutPrefix(name, ".")
	tool, _, _ := strings.Cut(hidden, ".")
	return ok && strings.HasSuffix(tool, "rc")
}
