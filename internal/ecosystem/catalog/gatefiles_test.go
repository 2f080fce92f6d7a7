package catalog_test

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
)

// Whoever reviews is told when the files change that say what checks do.
func TestGateFiles(t *testing.T) {
	for p, want := range map[string]bool{
		"Makefile": true, "web/package.json": true, "vitest.config.mts": true, ".eslintrc.json": true, ".eslintrc": true, "jest.config.js": true,
		"eslint.config.js": true, "tests/conftest.py": true, "package-lock.json": false, "main.go": false, "docs/Makefile.md": false, ".mocharc.yml": true, "package.jsonc": false,
		".cargo/config.toml": true, "crates/a/.cargo/config": true, "x.cargo/config.toml": false, "config.toml": false, "Cargo.toml": true, "Cargo.lock": false,
		"go.work": true, "go.mod": false, "build/rules.mk": true, "ava.config.js": true, ".taprc": true, ".npmrc": true, "src/main.rs": false,
		"build.rs": true, "pytest/__init__.py": true, "src/unittest.py": true, "node_modules/x/index.js": true, "vendor/a/b.go": true, "vendor/modules.txt": false, "testing/x.go": false, "x.pth": true, "unittest/test_a.py": false,
	} {
		if catalog.IsGateFile(p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
	task := &company.Task{Subtasks: []*company.Subtask{
		{Changes: []company.Change{{Path: "a.go"}, {Path: "package.json"}}},
		{Changes: []company.Change{{Path: "package.json"}, {Path: "Makefile"}}},
	}}
	if got := strings.Join(catalog.GateFilesOf(task), " "); got != "Makefile package.json" {
		t.Errorf("%s", got)
	}
}
