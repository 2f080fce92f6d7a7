package image

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/ecosystem"
)

// layerPlan is a stack of layers in the making.
type layerPlan struct {
	b     *Builder
	steps []layerStep
	notes []string
}

func (p *layerPlan) topStep() *layerStep { return &p.steps[len(p.steps)-1] }

// appendStep adds a layer; why describes its source, inputs key it.
func (p *layerPlan) appendStep(kind, why string, build buildFunc, inputs ...string) *layerStep {
	s := newLayerStep(kind, *p.topStep(), build, inputs...)
	s.why = why
	p.steps = append(p.steps, s)
	return p.topStep()
}

// appendTarStep adds a layer that is made from a tar.
func (p *layerPlan) appendTarStep(kind, why string, fill writeLayerFunc, inputs ...string) *layerStep {
	return p.appendStep(kind, why, p.b.buildFromTar(fill), inputs...)
}

func (p *layerPlan) addNote(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// addTools adds the toolchains. Go comes first: its compiled standard library
// takes longest, and so images with and without other tools share it.
func (p *layerPlan) addTools(t toolSet) {
	if t.goRoot != nil {
		p.appendTarStep("go", t.goRoot.version+" of this host", p.b.fillGo(*t.goRoot), t.goRoot.keyInputs...).env = withGoEnv
		p.appendTarStep("gostd", "the standard library, compiled", p.b.fillGoStd)
	}
	if len(t.packages) > 0 {
		inputs := slices.Clone(t.packages)
		if t.cgo {
			inputs = append(inputs, "\x00cgo") // its environment is another
		}
		s := p.appendTarStep("debian", "Debian packages: "+strings.Join(t.packages, " "), p.b.fillDebian(p.steps[0], t.packages), inputs...)
		if t.cgo {
			s.env = withCgo
		}
	}
	if t.node != nil {
		p.appendTarStep("node", "Node "+t.node.version+" of this host", p.b.fillNode(*t.node), t.node.keyInputs...)
	}
	if t.rust != nil {
		p.appendTarStep("rust", "Rust "+t.rust.version+" of this host", p.b.fillRust(*t.rust), t.rust.keyInputs...)
	}
}

// addDeps adds what the lock files of the tree name, and notes what they ask
// for in vain.
func (p *layerPlan) addDeps(ctx context.Context, req Request, t toolSet) error {
	repo := *req.Repo
	if len(req.Toolchains) == 0 {
		return nil
	}
	tree, err := listTree(ctx, repo, repo.locksCommit())
	if err != nil {
		return err
	}
	notes, err := versionNotes(ctx, tree, t, req.Toolchains)
	if err != nil {
		return err
	}
	p.notes = append(p.notes, notes...)
	if t.goRoot != nil {
		if err := p.addGo(ctx, req, tree); err != nil {
			return err
		}
	}
	return p.addInstalls(req, newSources(ctx, p, tree))
}

// registryAccess says what may be had of an ecosystem for some lock files; nil, with
// a note why, where clients of registries cannot be run. A registry that needs
// a login which the repository may not use is an error.
func (p *layerPlan) registryAccess(req Request, registry, what string, locks map[string][]byte) (*registryAccess, error) {
	store := p.b.registryStore(req)
	switch {
	case req.Offline:
		p.addNote("%s is not installed: container.deps is off", what)
		return nil, nil
	case store == nil:
		p.addNote("%s is not installed: no registry is at hand", what)
		return nil, nil
	}
	if err := store.Upstreams().WhyWithheld(company.Dependency{Ecosystem: registry}); err != nil {
		return nil, err
	}
	if req.Repo.Policy != nil {
		return &registryAccess{store: store, policy: req.Repo.Policy}, nil
	}
	policy, notes := depproxy.LockedPolicy(locks)
	p.notes = append(p.notes, notes...)
	return &registryAccess{store: store, policy: policy}, nil
}

// registryStore is where the packages of a request come from.
func (b *Builder) registryStore(req Request) *depproxy.Store {
	if req.UseLogins && b.withLogins != nil {
		return b.withLogins
	}
	return b.registries
}

// projectKey keys a layer of packages where not everybody may have the same: one
// that was made with the operator's logins belongs to the project that may use
// them, and is found by no other.
func (b *Builder) projectKey(req Request) []string {
	switch {
	case b.withLogins == nil || req.Repo == nil:
		return nil
	case req.UseLogins:
		return []string{"\x00by login", req.Repo.MirrorDir}
	}
	return []string{"\x00for all"}
}

// addGo adds the modules of the base, their compiled packages and the base's,
// and on top of that the modules of other lock files, where these differ:
// compiled packages stay valid where nothing changed.
func (p *layerPlan) addGo(ctx context.Context, req Request, tree treeFiles) error {
	repo := *req.Repo
	base := tree
	if repo.locksCommit() != repo.Commit {
		var err error
		if base, err = listTree(ctx, repo, repo.Commit); err != nil {
			return err
		}
	}
	deps, err := p.b.readGoDeps(ctx, base, req.Offline)
	if err != nil {
		return err
	}
	if len(deps.download) > 0 {
		own := repo
		own.Policy = nil // it is about other lock files
		p.appendTarStep("gomod", "the modules of "+ecosystem.LockPaths(deps.download, "go.mod"), p.b.fillGoMod(own, deps, req), append(deps.keyInputs(), p.b.projectKey(req)...)...)
	}
	if deps.needsBuild() {
		// The mirror's path keeps two projects with the same lock files from
		// sharing packages compiled from their trees.
		p.appendTarStep("godeps", "those modules and the base tree, compiled", p.b.fillGoDeps(repo, deps), append(deps.keyInputs(), repo.MirrorDir)...)
	}
	if repo.locksCommit() == repo.Commit {
		return nil
	}
	changed, err := p.b.readGoDeps(ctx, tree, req.Offline)
	if err != nil {
		return err
	}
	if len(changed.download) > 0 && !slices.Equal(changed.keyInputs(), deps.keyInputs()) {
		p.appendTarStep("gomod", "the modules of "+ecosystem.LockPaths(changed.download, "go.mod")+" at "+string(repo.Locks[:12]), p.b.fillGoMod(repo, changed, req), append(changed.keyInputs(), p.b.projectKey(req)...)...)
	}
	return nil
}
