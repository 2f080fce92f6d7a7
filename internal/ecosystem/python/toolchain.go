package python

import (
	_ "embed"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// debianVersion and debianFullVersion are those of Debian bookworm, which images are made from.
const (
	debianVersion     = "3.11"
	debianFullVersion = "3.11.2"
)

// hideBytecode hides what Python and pytest write beside the files that they run.
//
//go:embed hidebytecode.sh
var hideBytecode string

// Toolchains are Debian's Python with pytest, what extensions of it are built with, and a checker of types.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	return []ecosystem.Toolchain{{
		Name: e.Name(), Title: "Python", Contents: "python3 with pip, venv and pytest", Packages: []string{"python3", "python3-pip", "python3-pytest", "python3-venv"}, Version: debianVersion,
		FreshTree: ecosystem.FreshTree{Hidden: hideBytecode}, WishFiles: []string{".python-version"}, Wish: readWish,
	}, {
		Name: headers, Title: "Python's headers", Contents: "python3-dev", Packages: []string{"python3-dev"}, Version: debianVersion,
	}, {
		Name: mypy, Title: "mypy", Contents: "mypy", Packages: []string{"mypy"},
	}}
}

var versionRE = lazyregexp.New(`^v?([0-9]+(?:\.[0-9]+)*)$`)

// readWish reads the first of a list of versions.
func readWish(text, has string) (wants, hasText string) {
	first, _, _ := strings.Cut(text, "\n")
	if m := versionRE.FindStringSubmatch(strings.TrimSpace(first)); m != nil && ecosystem.VersionDiffers(m[1], has, 2) {
		return m[1], has
	}
	return "", ""
}
