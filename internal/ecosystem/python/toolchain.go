package python

import (
	_ "embed"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// debianVersion and debianFullVersion are the Python versions of Debian bookworm, the base of images.
const (
	debianVersion     = "3.11"
	debianFullVersion = "3.11.2"
)

// hideBytecode hides the files that Python and pytest write next to the files that they run.
//
//go:embed hidebytecode.sh
var hideBytecode string

// Toolchains returns Debian's Python with pytest, the headers for building extensions, and mypy.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	return []ecosystem.Toolchain{{
		Name: e.Name(), Title: "Python", Contents: "python3 with pip, venv and pytest",
		Packages: []string{"python3", "python3-pip", "python3-pytest", "python3-venv"}, Version: debianVersion,
		FreshTree: ecosystem.FreshTree{Hidden: hideBytecode}, WishFiles: []string{".python-version"}, Wish: readWish,
	}, {
		Name: headers, Title: "Python's headers", Contents: "python3-dev", Packages: []string{"python3-dev"},
		Version: debianVersion,
	}, {
		Name: mypy, Title: "mypy", Contents: "mypy", Packages: []string{"mypy"},
	}}
}

var versionRE = lazyregexp.New(`^v?([0-9]+(?:\.[0-9]+)*)$`)

// readWish returns the first version in a list of versions if it differs from has.
func readWish(text, has string) (wants, hasText string) {
	first, _, _ := strings.Cut(text, "\n")
	if m := versionRE.FindStringSubmatch(strings.TrimSpace(first)); m != nil && ecosystem.VersionDiffers(m[1], has, 2) {
		return m[1], has
	}
	return "", ""
}
