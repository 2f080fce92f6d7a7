package image

import (
	"context"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/ciconfig"
)

// maxCIPackages limits the packages that are installed because CI installs them.
const maxCIPackages = 48

// addWishedPackages adds to a set of tools the Debian packages that the base tree requires, according
// to the files of its ecosystems and its CI.
func (p *layerPlan) addWishedPackages(ctx context.Context, req Request, base baseSource, set *toolSet) error {
	if req.Repo == nil || len(req.Toolchains) == 0 {
		return nil
	}
	tree, err := listTree(ctx, *req.Repo, req.Repo.Commit)
	if err != nil {
		return err
	}
	var wished []string
	for _, packager := range catalog.Of[ecosystem.Packager]() {
		if !slices.Contains(req.Toolchains, packager.Name()) {
			continue
		}
		packages, err := packager.Packages(newSources(ctx, p, tree, req))
		if err != nil {
			return err
		}
		wished = append(wished, packages...)
	}
	if !req.Offline && !base.pulled {
		instead, err := p.findSubstitutes(req, newSources(ctx, p, tree, req))
		if err != nil {
			return err
		}
		wished = append(wished, instead...)
	}
	t := ecosystem.TreeOf(newSources(ctx, p, tree, req))
	wished = append(
		wished, p.findCIPackages(ciconfig.ListAptPackages(ciconfig.ReadDefinitions(t)),
			slices.Concat(debianPackages, set.packages, wished))...)
	if t.Err() != nil {
		return t.Err()
	}
	wished = slices.DeleteFunc(wished, func(name string) bool { return slices.Contains(set.packages, name) })
	switch list := strings.Join(wished, " "); {
	case len(wished) == 0:
	case req.Offline:
		p.addNote("the build asks for %s, which is not installed: container.deps is off", list)
	case base.pulled:
		p.addNote("the image %s is taken as it is: it must have what the build asks for (of Debian: %s)", base.ref, list)
	default:
		set.packages = p.unitePackages(set.packages, wished)
	}
	return nil
}

// findSubstitutes returns the Debian packages that replace packages of registries which must not be
// used.
func (p *layerPlan) findSubstitutes(req Request, s *sources) (out []string, err error) {
	for _, substituter := range catalog.Of[ecosystem.Substituter]() {
		if !slices.Contains(req.Toolchains, substituter.Name()) || slices.Contains(req.Unneeded, substituter.Name()) {
			continue
		}
		registry, packages, err := substituter.Substitutes(s)
		if err != nil {
			return nil, err
		}
		if req.isWithout(registry) && len(packages) > 0 {
			p.addNote("deps.without has %s: Debian's packages stand for its own, in Debian's versions: %s", registry,
				strings.Join(packages, " "))
			out = append(out, packages...)
		}
	}
	return out, nil
}

// unitePackages merges packages with those of the toolchains, sorted. If two packages exclude each
// other, only the first is kept, because an image with both could not be built.
func (p *layerPlan) unitePackages(packages, more []string) []string {
	all := catalog.DropRivals(slices.Concat(packages, more), func(kept, name string) {
		p.addNote("%s is not installed: Debian has it or %s, one at a time", name, kept)
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// findCIPackages returns the packages that the repository's CI installs with apt, except those in had.
// It notes names that are not known Debian packages, because an unknown package would make the image
// fail to build.
func (p *layerPlan) findCIPackages(names, had []string) (out []string) {
	var unknown []string
	for _, name := range names {
		known, ok := catalog.KnownPackage(name)
		switch {
		case !ok:
			unknown = append(unknown, name)
		case known != "" && !slices.Contains(had, known) && !slices.Contains(out, known):
			out = append(out, known)
		}
	}
	if len(out) > maxCIPackages {
		p.addNote("CI installs %d packages by apt: the first %d of them are installed", len(out), maxCIPackages)
		out = out[:maxCIPackages]
	}
	if len(unknown) > 0 {
		const most = 12
		list := strings.Join(unknown[:min(len(unknown), most)], " ")
		p.addNote("CI installs %s by apt, which the image does not have: to have what a check needs of it, name it as "+
			"Debian does: container.setup: [\"apt-get update && apt-get install -y PACKAGE\"]", list)
	}
	return out
}
