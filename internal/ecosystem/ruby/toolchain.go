package ruby

import (
	"slices"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// gemPrefix is before a gem in the name of the toolchain that is its package.
const gemPrefix = "gem-"

// Toolchains are Debian's Ruby with its test runners, and each gem that is a package
// of Debian's, which a project may need.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	out := []ecosystem.Toolchain{{
		Name: e.Name(), Title: "Ruby", Contents: "ruby, rake, bundler, rspec, minitest and test-unit", Version: "3.1",
		Packages:  []string{"bundler", "rake", "ruby", "ruby-minitest", "ruby-rspec", "ruby-test-unit"},
		WishFiles: []string{".ruby-version"}, Wish: readWish,
	}}
	for _, gem := range debianGems {
		out = append(out, ecosystem.Toolchain{Name: gemPrefix + gem, Title: "the gem " + gem, Contents: "the gem " + gem, Packages: []string{debianPackage(gem)}})
	}
	return out
}

// Needs are the gems of Debian's that the projects of a tree name.
func (e Ecosystem) Needs(t *ecosystem.Tree, need func(string) bool, _ []string) (out []string) {
	if !need(e.Name()) {
		return nil
	}
	for _, dir := range projectFolders(t) {
		if gems := findGems(t, dir); gems.vendored || gems.cached {
			continue
		}
		for _, gem := range wantedGems(t, dir) {
			if debianPackage(gem) != "" {
				out = append(out, gemPrefix+gem)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var rubyVersion = lazyregexp.New(`^(?:ruby-)?([0-9]+(?:\.[0-9]+)*)`)

// readWish reads the version of MRI that a project asks for.
func readWish(text, has string) (wants, hasText string) {
	if m := rubyVersion.FindStringSubmatch(text); m != nil && ecosystem.VersionDiffers(m[1], has, 2) {
		return m[1], has
	}
	return "", ""
}
