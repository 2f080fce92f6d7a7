package golang

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// What cgo's directives name comes from Debian, and nothing that is for other systems.
func TestSystemPackages(t *testing.T) {
	const head = "package x\n\n"
	for _, c := range []struct {
		file, text, want string
	}{
		{"x.go", head + "// #cgo pkg-config: libseccomp\n// #include <seccomp.h>\nimport \"C\"\n",
			"libseccomp-dev pkg-config"},
		{"x.go", head + "/*\n#cgo linux LDFLAGS: -lz -L${SRCDIR}/lib\n#cgo windows LDFLAGS: -lcurl\n#cgo !linux LDFLAGS: " +
			"-lcurl\n*/\nimport \"C\"\n", "zlib1g-dev"},
		{"x.go", head + "/*\n#cgo CFLAGS: -I/usr/include\n#cgo pkg-config: --static gtk4 glib-2.0\n*/\nimport \"C\"\n",
			"libglib2.0-dev libgtk-4-dev pkg-config"},
		{"x.go", head + "/*\n#include <stdlib.h>\n#include <systemd/sd-journal.h>\n*/\nimport \"C\"\n", "libsystemd-dev"},
		{"x.go", "//go:build windows\n\n" + head + "// #cgo LDFLAGS: -lz\nimport \"C\"\n", ""},
		{"x_windows.go", head + "// #cgo LDFLAGS: -lz\nimport \"C\"\n", ""},
		{"x.go", "//go:build !windows\n\n" + head + "// #cgo LDFLAGS: -lz\nimport \"C\"\n", "zlib1g-dev"},
		// no cgo
		{"x.go", head + "// #cgo LDFLAGS: -lz\nvar x = 1\n", ""},
		// nothing that the table lacks
		{"x.go", head + "// #cgo LDFLAGS: -lno-such-lib -lm\n// #cgo pkg-config: ../../etc\nimport \"C\"\n", "pkg-config"},
		{"vendor/a.b/c/c.go", head + "// #cgo pkg-config: libpcre2-8\nimport \"C\"\n", "libpcre2-dev pkg-config"},
		{"go.mod", "module x\n\nrequire (\n\tgithub.com/containerd/btrfs/v2 v2.0.0\n\tgithub.com/mattn/go-sqlite3 v1.14.0 " +
			"// a comment\n\tgithub.com/jochenvg/go-udev v0.0.0 // indirect\n)\n", "libbtrfs-dev pkg-config"},
	} {
		s := &ecosystemtest.Sources{Texts: map[string]string{c.file: c.text}, Toolchains: []string{"go", cgo}}
		got, err := Ecosystem{}.Packages(s)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s %q: %q, want %q, %v", c.file, c.text, got, c.want, err)
		}
		s.Toolchains = []string{"go"}
		if got, err := (Ecosystem{}).Packages(s); err != nil || len(got) > 0 {
			t.Errorf("without a compiler: %q, %v", got, err)
		}
	}
}

// A module that is no use without C asks for the compiler, since its own sources are not
// in the tree.
func TestModulesThatNeedCgo(t *testing.T) {
	for text, want := range map[string]string{
		"module x\nrequire github.com/mattn/go-sqlite3 v1.14.0\n":             cgo,
		"module x\nrequire github.com/mattn/go-sqlite3 v1.14.0 // indirect\n": "",
		"module x\nrequire gorm.io/driver/sqlite v1.5.0\n":                    cgo,
		"module x\nrequire github.com/go-gl/glfw/v3.3/glfw v0.0.0-2025\n":     cgo,
		"module x\nrequire github.com/coreos/go-systemd/v22 v22.5.0\n":        "",
		"module x\nrequire github.com/mattn/go-sqlite3-other v1.14.0\n":       "",
	} {
		tree := ecosystemtest.Tree(map[string]string{"go.mod": text, "x.go": "package x\n"})
		got := strings.Join(Ecosystem{}.Needs(tree, func(name string) bool { return name == "go" }, nil), " ")
		if got != want {
			t.Errorf("%q needs %q, want %q", text, got, want)
		}
	}
}

// Many directives cost no more than their limit.
func TestManyDirectives(t *testing.T) {
	var text strings.Builder
	text.WriteString("package x\n\n/*\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "#cgo LDFLAGS: -lno-such-%d -lz\n", i)
	}
	text.WriteString("*/\nimport \"C\"\n")
	got, err := Ecosystem{}.Packages(
		&ecosystemtest.Sources{Texts: map[string]string{"x.go": text.String()}, Toolchains: []string{cgo}})
	if err != nil || strings.Join(got, " ") != "zlib1g-dev" {
		t.Errorf("%q, %v", got, err)
	}
}
