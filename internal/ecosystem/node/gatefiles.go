package node

import (
	"path"
	"slices"
	"strings"
)

// gateFiles configure runners, linters and npm; configStems have an ending of their
// language: jest.config.mjs, .eslintrc.json.
var (
	gateFiles   = []string{"package.json", "vitest.workspace", "biome.json", "tsconfig.json", ".eslintignore"}
	configStems = []string{"jest.config", "vitest.config", "vite.config", "eslint.config", "ava.config", ".mocharc", ".eslintrc", ".npmrc", ".taprc"}
)

// IsGateFile says whether a file configures a check, or lies where node looks for
// modules before all else.
func (Ecosystem) IsGateFile(file string) bool {
	name := path.Base(file)
	return slices.Contains(gateFiles, name) || slices.Contains(strings.Split(file, "/"), "node_modules") ||
		slices.ContainsFunc(configStems, func(stem string) bool { return name == stem || strings.HasPrefix(name, stem+".") })
}
