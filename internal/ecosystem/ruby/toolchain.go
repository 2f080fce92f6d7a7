package ruby

import (
	"slices"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// gemPrefix is the prefix of a toolchain that is the Debian package of a gem.
const gemPrefix = "gem-"

// Toolchains returns Debian's Ruby with its test runners, and one toolchain for each gem that is a Debian
// package.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	out := []ecosystem.Toolchain{{
		Name: e.Name(), Title: "Ruby", Contents: "ruby, rake, bundler, rspec, minitest and test-unit", Version: "3.1",
		Packages:  []string{"bundler", "rake", "ruby", "ruby-minitest", "ruby-rspec", "ruby-test-unit"},
		WishFiles: []string{".ruby-version"}, Wish: readWish,
	}}
	for _, gem := range debianGems {
		out = append(
			out, ecosystem.Toolchain{Name: gemPrefix + gem, Title: "the gem " + gem, Contents: "the gem " + gem,
				Packages: []string{debianPackage(gem)}})
	}
	return out
}

// Needs lists the toolchains of the Debian gems that the projects of a tree name. Projects with vendored
// gems need none of them.
func (e Ecosystem) Needs(tree *ecosystem.Tree, need func(string) bool, _ []string) (out []string) {
	if !need(e.Name()) {
		return nil
	}
	for _, dir := range projectFolders(tree) {
		if gems := findGems(tree, dir); gems.vendored || gems.cached {
			continue
		}
		for _, gem := range wantedGems(tree, dir) {
			if debianPackage(gem) != "" {
				out = append(out, gemPrefix+gem)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var rubyVersion = lazyregexp.New(`^(?:ruby-)?([0-9]+(?:\.[0-9]+)*)`)

// readWish returns the version of MRI that a project asks for if it differs from has.
func readWish(text, has string) (wants, hasText string) {
	if m := rubyVersion.FindStringSubmatch(text); m != nil && ecosystem.VersionDiffers(m[1], has, 2) {
		return m[1], has
	}
	return "", ""
}
