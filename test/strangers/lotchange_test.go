package strangers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The good change is a test in the place, the form and the words of the tests that are there.
func TestGoodChangeFollowsTheTests(t *testing.T) {
	for _, c := range []struct {
		about   string
		stratum Stratum
		files   map[string]string
		path    string
		has     string
	}{
		{"vitest", Generator, map[string]string{"src/__tests__/a.spec.ts": "import { it } from 'vitest'"},
			"src/__tests__/company-clamp.spec.ts", "from 'vitest'"},
		{"tape", Npm,
			map[string]string{"test/index.js": "var test = require('tape');",
				"package.json": `{"devDependencies":{"tape":"1"}}`}, "test/company-clamp.js", "require('tape')"},
		{"jest", Generator,
			map[string]string{"src/app.spec.ts": "describe('x', () => {})", "package.json": `{"devDependencies":{"jest":"1"}}`},
			"src/company-clamp.spec.ts", "toEqual"},
		{"mocha", DebianNode, map[string]string{"test/a.js": "describe('x', function () {})", "node_modules/a/a.test.js": ""},
			"test/company-clamp.js", "describe('company'"},
		{"mocha with a string that is called like a runner", DebianNode,
			map[string]string{"test/a.js": "describe('x', function () { f('test') })",
				"package.json": `{"devDependencies":{"mocha":"8"}}`}, "test/company-clamp.js", "describe('company'"},
		{"node:test", Generator, map[string]string{"test/a.test.js": "const { test } = require('node:test')"},
			"test/company-clamp.test.js", "require('node:test')"},
		{"a program", Npm, map[string]string{"test.js": "require('assert')(true)"}, "company-clamp.js",
			"assert.deepStrictEqual"},
		{"types alone", Generator, map[string]string{"src/main.ts": "", "tsconfig.json": ""}, "src/company-clamp.ts",
			"export function clamp"},
		{"pytest", Python, map[string]string{"pkg/tests/test_a.py": ""}, "pkg/tests/test_company_clamp.py", "def test_clamp"},
		{"phpunit", PHP, map[string]string{"tests/ATest.php": "<?php\nnamespace X\\Tests;\n"}, "tests/CompanyClampTest.php",
			"namespace X\\Tests;"},
		{"go", GoProxy, map[string]string{"a.go": "package a\n", "go.mod": "module a\n"}, "company_clamp.go", "package a"},
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
		got, err := makeGoodChange(Listed{Stratum: c.stratum, Name: "a"}, Checkout{Dir: dir})
		if err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		if got[0].Path != c.path || !strings.Contains(got[0].Text, c.has) {
			t.Errorf("%s: %s without %q:\n%s", c.about, got[0].Path, c.has, got[0].Text)
		}
	}
	if _, err := makeGoodChange(Listed{Stratum: Python}, Checkout{Dir: t.TempDir()}); !errors.Is(err, errNoTestStyle) {
		t.Errorf("a repository without tests: %v", err)
	}
}
