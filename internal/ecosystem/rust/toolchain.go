package rust

import (
	_ "embed"
	"errors"
	"path"
	"runtime"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// target is Rust's target triple of a worker.
var target = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH] + "-unknown-linux-gnu"

// fromDebian lists the Debian packages for Rust if this host has no toolchain. They are Debian's builds for
// its browsers, which follow upstream during the life of a suite. The suite's own cargo stays as old as the
// suite. In Debian 12 it reads neither sparse indexes nor newer lock files.
var fromDebian = []string{"cargo-web", "rustc-web", "rust-web-clippy", "rustfmt-web"}

// copySettings configures cargo to use the crates in the image.
//
//go:embed copysettings.sh
var copySettings string

// Toolchains returns Rust, with a linker from Debian, which the compiler needs.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	return []ecosystem.Toolchain{{
		Name: e.Name(), Title: "Rust", Contents: "rustc, cargo and a linker", Packages: []string{"gcc", "libc6-dev"},
		Fallback: fromDebian, FreshTree: ecosystem.FreshTree{Settings: copySettings},
		Tree: &ecosystem.HostTree{
			Ask: [][]string{{"rustc", "--print", "sysroot"}, {"rustc", "-vV"}}, Read: readHost,
			Copies: []ecosystem.Copy{{To: "/usr/local/rust", Leave: isLeft, Programs: "bin"}},
		},
		WishFiles: []string{"rust-toolchain.toml", "rust-toolchain"}, Wish: readWish,
	}}
}

// readHost finds the toolchain of the host's rustc.
func readHost(answers []string, realPath func(string) (string, error)) (ecosystem.FoundTree, error) {
	foundTree := ecosystem.FoundTree{
		Needs: []string{"bin/rustc", "bin/cargo", "lib/rustlib/" + target + "/lib"}, Program: "bin/rustc",
		Libraries: []string{"librustc_driver-"},
		Identity:  []string{"bin/rustc", "bin/cargo", "lib/rustlib/" + target + "/lib"},
	}
	for line := range strings.SplitSeq(answers[1], "\n") {
		if v, ok := strings.CutPrefix(line, "release: "); ok {
			foundTree.Version = v
		}
	}
	var err error
	if foundTree.Dir, err = realPath(answers[0]); err != nil {
		return foundTree, err
	}
	if foundTree.Version == "" || foundTree.Dir == "/usr" {
		return foundTree, errors.New("this host's rustc is not in its own directory")
	}
	return foundTree, nil
}

// isLeft reports whether a file of the toolchain is left out because no build needs it. Those are
// documents, other targets, the installer's lists and wrappers of debuggers.
func isLeft(rel string) bool {
	switch rel {
	case "share", "etc", "libexec", "lib/rustlib/src", "lib/rustlib/etc":
		return true
	}
	dir, name := path.Split(rel)
	return strings.HasPrefix(rel, "bin/rust-") || dir == "lib/rustlib/" && name != target
}

var (
	channelRE = lazyregexp.New(`(?m)^\s*channel\s*=\s*["']([^"'\n]+)["']`)
	digitsRE  = lazyregexp.New(`^[0-9]+(\.[0-9]+)*`)
)

// readWish returns the channel that a project asks for if its version differs from has. The stable channel
// matches any version.
func readWish(text, has string) (wants, hasText string) {
	if m := channelRE.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if text != "" && text != "stable" && ecosystem.VersionDiffers(digitsRE.FindString(text), has, 2) {
		return text, has
	}
	return "", ""
}
