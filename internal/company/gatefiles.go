package company

import (
	"path"
	"slices"
	"strings"
)

// gateFiles are the files by which a repository says what its checks do. The
// gates are pinned, and yet run what these files define: a reviewer must see
// their changes.
var gateFiles = []string{
	"Makefile", "makefile", "GNUmakefile", "package.json", "tox.ini", "setup.cfg", "pytest.ini", "pyproject.toml", "conftest.py",
	"ruff.toml", ".ruff.toml", ".flake8", ".mocharc", "jest.config", "vitest.config", "vite.config", "vitest.workspace", "eslint.config", ".eslintrc",
	"biome.json", "clippy.toml", ".clippy.toml",
	// A runner in .cargo/config.toml can stand for every test, a go.work leaves modules out.
	"Cargo.toml", ".cargo/config.toml", ".cargo/config", "rust-toolchain", "rust-toolchain.toml", "go.work",
	"build.rs", ".pytest.ini", "pytest.toml", ".pytest.toml", "sitecustomize.py", "usercustomize.py", "setup.py", ".npmrc", ".taprc", "ava.config", "tsconfig.json", ".eslintignore",
}

// IsGateFile says whether a path is one by which checks are defined.
func IsGateFile(p string) bool {
	name := path.Base(p)
	if shadowsRunner(p) {
		return true
	}
	return path.Ext(name) == ".mk" || slices.ContainsFunc(gateFiles, func(g string) bool {
		if strings.Contains(g, "/") {
			return strings.HasSuffix("/"+p, "/"+g)
		}
		stem := strings.HasSuffix(g, ".config") || strings.HasSuffix(g, "rc") // jest.config.mjs, .eslintrc.json
		return name == g || stem && strings.HasPrefix(name, g+".")
	})
}

// runners are modules that run tests; one in the tree could be taken for it.
var runners = []string{"pytest", "_pytest", "unittest", "pluggy", "coverage", "jest", "vitest", "mocha", "ava", "testing"}

// shadowsRunner says whether a path is that of a module called like a runner, of
// code that others have written, or of what node finds before all else.
func shadowsRunner(p string) bool {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		if part == "node_modules" || part == "vendor" && i < len(parts)-1 && path.Ext(p) == ".go" {
			return true
		}
		module := strings.TrimSuffix(part, path.Ext(part))
		if i == len(parts)-1 && (path.Ext(part) == ".py" || path.Ext(part) == ".pth") && slices.Contains(runners, module) {
			return true
		}
		if i == len(parts)-2 && parts[i+1] == "__init__.py" && slices.Contains(runners, part) {
			return true
		}
	}
	return path.Ext(p) == ".pth"
}

// GateFilesOf are the files of a task's work by which checks are defined, each
// once, sorted.
func GateFilesOf(t *Task) []string {
	var out []string
	for _, sub := range t.Subtasks {
		for _, c := range sub.Changes {
			if IsGateFile(c.Path) {
				out = append(out, c.Path)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
