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

// toolchains are those that a request may name, in the order of the catalog; those
// that only go with another one come last.
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

// toolSet are the toolchains of one request, found.
type toolSet struct {
	trees    []hostTree
	packages []string              // of Debian, sorted
	changes  []ecosystem.Toolchain // what changes the environment and has no tree
	versions map[string]string     // by name: what the image has, where that is known
	why      map[string]string     // by name: why another version that is asked for cannot be had
	links    bool                  // fresh trees are made ready
	notes    []string
}

// toolsFor finds what the toolchains of a request are made from. It calls no
// daemon and installs nothing.
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
	for _, t := range toolchains() {
		forScripts := len(req.Scripts) > 0 && req.Repo != nil && t.ScriptsOf != "" && slices.Contains(req.Toolchains, t.ScriptsOf)
		if !slices.Contains(req.Toolchains, t.Name) && !forScripts {
			continue
		}
		set.links = set.links || t.FreshTree != ecosystem.FreshTree{}
		if t.Tree == nil && len(t.Env.Set) > 0 {
			set.changes = append(set.changes, t)
		}
		if base.pulled && !t.IsFromHostAlone() {
			// A chosen and pinned image brings its own tools: its packages are
			// not Debian's, or not ours to mix.
			note("the image %s is taken as it is: %s must be in it", base.ref, t.Contents)
			continue
		}
		set.packages = append(set.packages, t.Packages...)
		if t.Tree == nil {
			set.versions[t.Name] = t.Version
			continue
		}
		tree, err := b.findTree(ctx, t)
		if err != nil && t.IsFromHostAlone() {
			return toolSet{}, err
		}
		other, why, oerr := b.findVersion(ctx, req, project, t, cmp.Or(tree.version, t.Version))
		switch set.why[t.Name] = why; {
		case oerr != nil:
			return toolSet{}, oerr
		case other.wanted != "":
			set.trees = append(set.trees, other)
			set.versions[t.Name] = other.version
		case err == nil && (why == "" || !isMetByDebian(ctx, project, t)):
			set.trees = append(set.trees, tree)
			set.versions[t.Name] = tree.version
		default:
			if err == nil {
				err = errors.New("the version that is asked for is not this host's")
			}
			note("%s comes from Debian: %v", t.Title, err)
			set.packages = append(set.packages, t.Fallback...)
			set.versions[t.Name] = t.Version
		}
	}
	if base.pulled && len(req.Services) > 0 {
		note("the image %s is taken as it is: what gates.services names must be in it", base.ref)
	}
	slices.Sort(set.packages)
	set.packages = slices.Compact(set.packages)
	return set, nil
}

// noteVersions compares what the files of a tree wish for with what the image
// has. A difference is only reported: the gates show whether it matters.
func (p *layerPlan) noteVersions(ctx context.Context, tree treeFiles, set toolSet) error {
	for _, t := range toolchains() {
		w, err := readWish(ctx, tree, t, set.versions[t.Name])
		if err != nil {
			return err
		}
		if w != nil {
			p.addNote("%s", w.describeUnmet(t.Name, set.why[t.Name]))
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
	for _, e := range catalog.Of[ecosystem.Ecosystem]() { // one may need nothing but another's
		if !slices.Contains(known, e.Name()) {
			known = append(known, e.Name())
		}
	}
	for i, n := range names {
		if !slices.Contains(known, n) {
			return company.E(company.EInvalid, fmt.Sprintf("the toolchain %q cannot be put into an image", n)).
				Fix("the toolchains that are known: " + strings.Join(known, ", "))
		}
		if slices.Contains(names[:i], n) {
			return company.E(company.EInvalid, fmt.Sprintf("the toolchain %q is asked for twice", n))
		}
	}
	return nil
}
