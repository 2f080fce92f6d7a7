package python

import (
	"regexp"
	"strings"

	"company/internal/ecosystem"
)

// debianVersion is that of Debian bookworm, which images are made from.
const debianVersion = "3.11"

// Toolchains is Debian's Python with pytest.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	return []ecosystem.Toolchain{{
		Name: e.Name(), Title: "Python", Contents: "python3 with pip, venv and pytest", Packages: []string{"python3", "python3-pip", "python3-pytest", "python3-venv"}, Version: debianVersion,
		LinksDeps: true, WishFiles: []string{".python-version"}, Wish: readWish,
	}}
}

var versionRE = regexp.MustCompile(`^v?([0-9]+(?:\.[0-9]+)*)$`)

// readWish reads the first of a list of versions.
func readWish(text, has string) (wants, hasText string) {
	first, _, _ := strings.Cut(text, "\n")
	if m := versionRE.FindStringSubmatch(strings.TrimSpace(first)); m != nil && ecosystem.VersionDiffers(m[1], has, 2) {
		return m[1], has
	}
	return "", ""
}
