package golang

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// detected is what is found in some files: a line for each command, then the notes.
func detected(files map[string]string) string {
	t := ecosystemtest.Tree(files)
	var out []string
	for _, c := range (Ecosystem{}).Detect(t, nil) {
		line := c.Dir + "|" + c.Label
		if c.Lint != nil {
			line += "|" + c.Lint.Command
		}
		if c.Test != nil {
			line += "|" + c.Test.Command
		}
		out = append(out, line)
	}
	for _, p := range t.Projects() {
		out = append(out, "needs "+p.Kind)
	}
	return strings.Join(append(out, t.Notes()...), "\n")
}

// Programs are linked, in the module that has them; what is built for no program asks for nothing.
func TestProgramsAreBuilt(t *testing.T) {
	tree := ecosystemtest.Tree(map[string]string{
		"go.mod": "module x\n", "gen.go": "//go:build ignore\n\npackage main\n", "x.go": "package x\n\n// package main\n",
		"main_test.go": "package main\n", "testdata/main.go": "package main\n",
		"tools/go.mod": "module y\n", "tools/cmd/y/main.go": "// Command y.\npackage main\n", "lib/go.mod": "module z\n",
		"lib/main_windows.go": "package main\n", "lib/z.go": "package z\n",
	})
	for _, c := range (Ecosystem{}).Detect(tree, nil) {
		if c.Lint == nil {
			continue
		}
		if (c.Build != nil) != (c.Dir == "tools") ||
			c.Build != nil && (!c.Build.Provisional || c.Build.Command != "go build -o /dev/null ./...") {
			t.Errorf("in %q: %+v", c.Dir, c.Build)
		}
	}
}

// Go files without a module are checked where the standard library is all they need;
// else it is said that they are not.
func TestDetectLooseFiles(t *testing.T) {
	const checks = "||GO111MODULE=off go vet ./..."
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"loose": {map[string]string{"main.go": "package main\nimport \"fmt\"\nfunc main() { fmt.Println() }\n"},
			checks + "\nneeds go"},
		"with tests": {map[string]string{"a.go": "package a\n", "a_test.go": "package a\n",
			"sub/b.go": "package b\nimport \"../c\"\n"}, checks + "|GO111MODULE=off go test ./...\nneeds go"},
		"below the root": {map[string]string{"src/a.go": "package a\n", "README": ""}, ""},
		"most of it": {map[string]string{"src/a.go": "package a\n", "src/b.go": "package a\n", "README": ""},
			checks + "\nneeds go"},
		"GOPATH": {map[string]string{"a.go": "package a\nimport \"github.com/me/a/b\"\n", "b/b.go": "package b\n"},
			"needs go\nthere is no go.mod, and Go files import github.com/me/a/b: nothing of them is checked (`go mod init` " +
				"and `go mod tidy` make one)"},
		"a copy":        {map[string]string{"vendor/x/a.go": "package a\n", "testdata/a.go": "package a\n"}, ""},
		"not Go":        {map[string]string{"a.go": "func {"}, checks + "\nneeds go"},
		"beside Python": {map[string]string{"setup.py": "", "x.py": "", "y.py": "", "tools/gen.go": "package main\n"}, ""},
		"with a module": {map[string]string{"a.go": "package a\nimport \"github.com/me/a/b\"\n", "go.mod": "module a\n"},
			"||go vet ./...|go test ./..."},
		"hostile import": {map[string]string{"a.go": "package a\nimport \"a.b/\\x1b[2J\"\n"},
			"needs go\nthere is no go.mod, and Go files import a.b/?[2J: nothing of them is checked (`go mod init` and `go " +
				"mod tidy` make one)"},
	} {
		if got := detected(c.files); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// Tests that no gate builds are told, with the tag that has them built.
func TestTagsAreTold(t *testing.T) {
	files := map[string]string{"go.mod": "module x\n"}
	for name, text := range map[string]string{
		"a_test.go": "//go:build integration\n\npackage x\n",
		"b_test.go": "//go:build linux && (integration || e2e)\n\npackage x\n",
		"c_test.go": "//go:build e2e && !windows\n\npackage x\n",
		"d_test.go": "//go:build windows\n\npackage x\n", "e_test.go": "//go:build !integration\n\npackage x\n",
		"f_test.go": "//go:build ignore\n\npackage x\n", "g_test.go": "//go:build race\n\npackage x\n",
		"o_test.go": "//go:build goexperiment.jsonv2\n\npackage x\n",
		"h_test.go": "//go:build go1.18\n\npackage x\n", "i_test.go": "//go:build cgo\n\npackage x\n",
		"j_test.go": "//go:build a && b\n\npackage x\n", "k_test.go": "package x\n//go:build late\n",
		"l.go": "//go:build wireinject\n\npackage x\n", "testdata/m_test.go": "//go:build deep\n\npackage x\n",
		"n_windows_test.go": "package x\n",
	} {
		files[name] = text
	}
	want := "||go vet ./...|go test ./...\n" +
		"2 test files of Go with the tag e2e alone: no gate builds them (gates.test: go test -tags e2e ./...)\n" +
		"2 test files of Go with the tag integration alone: no gate builds them (gates.test: go test -tags integration ./...)"
	if got := detected(files); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Generated code is checked where the image has what generates it.
func TestDetectGenerated(t *testing.T) {
	const module, check = "||go vet ./...|go test ./...", "|generated|go generate ./..."
	for name, c := range map[string]struct{ text, want string }{
		"run":        {"package x\n\n//go:generate go run ./gen -o y.go\n", module + "\n" + check},
		"with flags": {"package x\n\n//go:generate go run -tags gen gen.go x@y\n", module + "\n" + check},
		"a tool":     {"package x\n\n//go:generate go tool stringer -type=X\n", module + "\n" + check},
		"an alias": {"package x\n\n//go:generate -command s go tool stringer\n//go:generate s -type=X\n",
			module + "\n" + check},
		"a script": {"package x\n\n//go:generate ./gen.sh\n", module + "\n" + check},
		"a program": {"package x\n\n//go:generate go run ./gen\n//go:generate mockgen -source=x.go\n",
			module + "\ngenerated code in the root is not checked: go:generate runs mockgen"},
		"of a registry": {"package x\n\n//go:generate go run golang.org/x/tools/cmd/stringer@latest -type X\n",
			module + "\ngenerated code in the root is not checked: go:generate runs go run " +
				"golang.org/x/tools/cmd/stringer@latest"},
		"in a comment":  {"package x\n\n// //go:generate mockgen\n  //go:generate mockgen\n", module},
		"nothing of it": {"package x\n", module},
		"hostile": {"package x\n\n//go:generate \x1b[2J\n",
			module + "\ngenerated code in the root is not checked: go:generate runs ?[2J"},
		"lines of others": {"package x\n\n//go:generated by x\n", module},
	} {
		if got := detected(map[string]string{"go.mod": "module x\n", "x.go": c.text}); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
	two := map[string]string{"go.mod": "module x\n", "x.go": "package x\n", "a/go.mod": "module a\n",
		"a/b/c.go": "package b\n\n//go:generate go run .\n"}
	if got := detected(two); got != module+"\na||go vet ./...|go test ./...\na|generated|go generate ./..." {
		t.Errorf("of a part:\n%s", got)
	}
}
