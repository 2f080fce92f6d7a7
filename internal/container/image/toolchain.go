package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// toolchains returns the toolchains that a request may name, in the order of the catalog. Toolchains
// that only accompany another one come last.
func toolchains() []ecosystem.Toolchain {
	byName := map[string]ecosystem.Toolchain{}
	for _, e := range catalog.Of[ecosystem.Provider]() {
		for _, t := range e.Toolchains() {
			byName[t.Name] = t
		}
	}
	var out []ecosystem.Toolchain
	for _, name := range catalog.SortToolchains(slices.Collect(maps.Keys(byName))) {
		out = append(out, byName[name])
	}
	return out
}

// toolSet describes the sources of the toolchains of one request.
type toolSet struct {
	trees    []hostTree
	packages []string              // Debian packages, sorted
	changes  []ecosystem.Toolchain // toolchains without a tree that change the environment
	versions map[string]string     // versions in the image by toolchain, if known
	why      map[string]string     // why a requested version is not available, by toolchain
	links    bool                  // dependencies are linked into fresh trees
	notes    []string
}

// toolsFor finds the sources of a request's toolchains. It neither contacts the daemon nor installs
// anything.
func (b *Builder) toolsFor(ctx context.Context, req Request, base baseSource) (toolSet, error) {
	set := toolSet{versions: map[string]string{}, why: map[string]string{}}
	var project treeFiles
	if req.Repo != nil && len(req.Toolchains) > 0 {
		var err error
		if project, err = listTree(ctx, *req.Repo, req.Repo.Commit); err != nil {
			return set, err
		}
	}
	note := func(format string, args ...any) { set.notes = append(set.notes, fmt.Sprintf(format, args...)) }
	for _, toolchain := range toolchains() {
		forScripts := len(req.Scripts) > 0 && req.Repo != nil && toolchain.ScriptsOf != "" &&
			slices.Contains(req.Toolchains, toolchain.ScriptsOf)
		if !slices.Contains(req.Toolchains, toolchain.Name) && !forScripts {
			continue
		}
		set.links = set.links || toolchain.FreshTree != ecosystem.FreshTree{}
		if toolchain.Tree == nil && len(toolchain.Env.Set) > 0 {
			set.changes = append(set.changes, toolchain)
		}
		if base.pulled && !toolchain.IsFromHostAlone() {
			// A pinned image provides its own tools. Its packages may not be
			// Debian's, and must not be mixed with ours.
			note("the image %s is taken as it is: %s must be in it", base.ref, toolchain.Contents)
			continue
		}
		set.packages = append(set.packages, toolchain.Packages...)
		if toolchain.Tree == nil {
			set.versions[toolchain.Name] = toolchain.Version
			continue
		}
		tree, err := b.findTree(ctx, toolchain)
		if err != nil && toolchain.IsFromHostAlone() {
			return toolSet{}, err
		}
		other, reason, oerr := b.findVersion(ctx, req, project, toolchain, cmp.Or(tree.version, toolchain.Version))
		switch set.why[toolchain.Name] = reason; {
		case oerr != nil:
			return toolSet{}, oerr
		case other.wanted != "":
			set.trees = append(set.trees, other)
			set.versions[toolchain.Name] = other.version
		case err == nil && (reason == "" || !isMetByDebian(ctx, project, toolchain)):
			set.trees = append(set.trees, tree)
			set.versions[toolchain.Name] = tree.version
		default:
			if err == nil {
				err = errors.New("this host has another version than the requested one")
			}
			note("%s comes from Debian: %v", toolchain.Title, err)
			set.packages = append(set.packages, toolchain.Fallback...)
			set.versions[toolchain.Name] = toolchain.Version
		}
	}
	if base.pulled && len(req.Services) > 0 {
		note("the image %s is taken as it is: what gates.services names must be in it", base.ref)
	}
	slices.Sort(set.packages)
	set.packages = slices.Compact(set.packages)
	return set, nil
}

// noteVersions notes the versions that the files of a tree request and the image does not have. It is
// not an error: the gates show whether the difference matters.
func (p *layerPlan) noteVersions(ctx context.Context, tree treeFiles, set toolSet) error {
	for _, toolchain := range toolchains() {
		wish, err := readWish(ctx, tree, toolchain, set.versions[toolchain.Name])
		if err != nil {
			return err
		}
		if wish != nil {
			p.addNote("%s", wish.describeUnmet(toolchain.Name, set.why[toolchain.Name]))
		}
	}
	return nil
}

// checkToolchains refuses unknown names.
func checkToolchains(names []string) error {
	var known []string
	for _, t := range toolchains() {
		known = append(known, t.Name)
	}
	for _, e := range catalog.Of[ecosystem.Ecosystem]() { // an ecosystem may only need the toolchain of another one
		if !slices.Contains(known, e.Name()) {
			known = append(known, e.Name())
		}
	}
	for i, n := range names {
		if !slices.Contains(known, n) {
			return company.E(company.EInvalid, fmt.Sprintf("unknown toolchain %q", n)).
				Fix("known toolchains: " + strings.Join(known, ", "))
		}
		if slices.Contains(names[:i], n) {
			return company.E(company.EInvalid, fmt.Sprintf("the toolchain %q is requested twice", n))
		}
	}
	return nil
}
