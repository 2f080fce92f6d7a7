package rust

import (
	_ "embed"
	"errors"
	"path"
	"runtime"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// target is Rust's name of what a worker is.
var target = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH] + "-unknown-linux-gnu"

// fromDebian is Rust where this host has none: Debian's build for its browsers, which
// follows upstream through the life of a suite. The suite's own cargo stays as old
// as the suite: in Debian 12 it reads no sparse index and no newer lock file.
var fromDebian = []string{"cargo-web", "rustc-web", "rust-web-clippy", "rustfmt-web"}

// copySettings makes cargo take crates from the image.
//
//go:embed copysettings.sh
var copySettings string

// Toolchains is Rust, with a linker of Debian's, which the compiler needs.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	return []ecosystem.Toolchain{{
		Name: e.Name(), Title: "Rust", Contents: "rustc, cargo and a linker", Packages: []string{"gcc", "libc6-dev"}, Fallback: fromDebian, FreshTree: ecosystem.FreshTree{Settings: copySettings},
		Tree: &ecosystem.HostTree{
			Ask: [][]string{{"rustc", "--print", "sysroot"}, {"rustc", "-vV"}}, Read: readHost,
			Copies: []ecosystem.Copy{{To: "/usr/local/rust", Leave: isLeft, Programs: "bin"}},
		},
		WishFiles: []string{"rust-toolchain.toml", "rust-toolchain"}, Wish: readWish,
	}}
}

// readHost finds the toolchain that the host's rustc belongs to.
func readHost(answers []string, realPath func(string) (string, error)) (ecosystem.FoundTree, error) {
	t := ecosystem.FoundTree{
		Needs: []string{"bin/rustc", "bin/cargo", "lib/rustlib/" + target + "/lib"}, Program: "bin/rustc", Libraries: []string{"librustc_driver-"},
		Identity: []string{"bin/rustc", "bin/cargo", "lib/rustlib/" + target + "/lib"},
	}
	for line := range strings.SplitSeq(answers[1], "\n") {
		if v, ok := strings.CutPrefix(line, "release: "); ok {
			t.Version = v
		}
	}
	var err error
	if t.Dir, err = realPath(answers[0]); err != nil {
		return t, err
	}
	if t.Version == "" || t.Dir == "/usr" {
		return t, errors.New("the rustc of this host does not lie in a directory of its own")
	}
	return t, nil
}

// isLeft says what of a toolchain no build needs: documents, other targets, the
// installer's lists, wrappers of debuggers.
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

// readWish reads a channel; the stable one is any version.
func readWish(text, has string) (wants, hasText string) {
	if m := channelRE.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if text != "" && text != "stable" && ecosystem.VersionDiffers(digitsRE.FindString(text), has, 2) {
		return text, has
	}
	return "", ""
}
