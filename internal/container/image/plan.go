package image

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/depproxy"
)

// layerPlan is a stack of layers that is being planned.
type layerPlan struct {
	b     *Builder
	steps []layerStep
	notes []string
}

// newPlan returns a plan with the layers of its base.
func (b *Builder) newPlan(req Request, base baseSource) (*layerPlan, error) {
	p := &layerPlan{b: b, steps: []layerStep{b.baseStep(base)}}
	if base.described == nil {
		return p, nil
	}
	return p, p.addRecipe(req, base)
}

func (p *layerPlan) topStep() *layerStep { return &p.steps[len(p.steps)-1] }

// appendStep adds a layer. reason describes its source for people. inputs are part of its key.
func (p *layerPlan) appendStep(kind, reason string, build buildFunc, inputs ...string) *layerStep {
	s := newLayerStep(kind, *p.topStep(), build, inputs...)
	s.why = reason
	p.steps = append(p.steps, s)
	return p.topStep()
}

// appendTarStep adds a layer that is built from a tar.
func (p *layerPlan) appendTarStep(kind, reason string, fill writeLayerFunc, inputs ...string) *layerStep {
	return p.appendStep(kind, reason, p.b.buildFromTar(fill), inputs...)
}

func (p *layerPlan) addNote(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// addTools adds the toolchains. Toolchains that only come from the host are first: compiling with them
// takes longest, so images with different other tools share these layers.
func (p *layerPlan) addTools(req Request, set toolSet) {
	p.addTrees(req, set, true)
	if len(set.packages) > 0 {
		layerStep := p.appendTarStep("debian", "Debian packages: "+strings.Join(set.packages, " "),
			p.b.fillDebian(p.steps[0], set.packages), append(slices.Clone(set.packages), set.changeInputs()...)...)
		layerStep.env = set.changeEnv()
	}
	p.addTrees(req, set, false)
}

// addTrees adds either the trees that only come from this host, or the others.
func (p *layerPlan) addTrees(req Request, set toolSet, fromHostAlone bool) {
	for _, hostTree := range set.trees {
		if hostTree.IsFromHostAlone() != fromHostAlone {
			continue
		}
		s := p.appendTarStep(hostTree.Name, hostTree.describeSource(), p.b.fillTree(req, hostTree), hostTree.keyInputs...)
		s.env, s.fetched = changeEnv(hostTree.Env), hostTree.wanted != ""
		for _, install := range hostTree.Above {
			p.appendTarStep(install.Layer, install.Why, p.b.fillInstall(install, nil, nil), install.Inputs...)
		}
	}
}

// changeInputs returns the key inputs of the layer that changes the environment.
func (s toolSet) changeInputs() (inputs []string) {
	for _, toolchain := range s.changes {
		inputs = append(inputs, "\x00"+toolchain.Name)
		if toolchain.Env.Path == "" { // the keys on users' machines do not cover these variables
			continue
		}
		inputs = append(inputs, toolchain.Env.Path)
		for _, name := range slices.Sorted(maps.Keys(toolchain.Env.Set)) {
			inputs = append(inputs, name+"="+toolchain.Env.Set[name])
		}
	}
	return inputs
}

// changeEnv returns the environment changes of toolchains without a tree, or nil.
func (s toolSet) changeEnv() func([]string) []string {
	if len(s.changes) == 0 {
		return nil
	}
	return func(env []string) []string {
		for _, t := range s.changes {
			env = changeEnv(t.Env)(env)
		}
		return env
	}
}

// addDeps adds the dependencies in the tree's lock files, and notes the requests that cannot be met.
func (p *layerPlan) addDeps(ctx context.Context, req Request, set toolSet) error {
	repo := *req.Repo
	if len(req.Toolchains) == 0 {
		return nil
	}
	tree, err := listTree(ctx, repo, repo.locksCommit())
	if err != nil {
		return err
	}
	if err := p.noteVersions(ctx, tree, set); err != nil {
		return err
	}
	sources := newSources(ctx, p, tree, req)
	if repo.locksCommit() != repo.Commit {
		base, err := listTree(ctx, repo, repo.Commit)
		if err != nil {
			return err
		}
		sources.base = newSources(ctx, p, base, req)
	}
	return p.addInstalls(req, sources, set)
}

// registryAccess returns the access to a registry for some lock files. If clients of registries cannot
// run, it returns nil and notes why. A registry that needs a login which the repository may not use is
// an error.
func (p *layerPlan) registryAccess(
	req Request, registry, what string, locks map[string][]byte,
) (*registryAccess, error) {
	store := p.b.registryStore(req)
	switch {
	case req.Offline:
		p.addNote("%s is not installed: container.deps is off", what)
		return nil, nil
	case store == nil:
		p.addNote("%s is not installed: no registry is available", what)
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

// registryStore returns the store that serves the packages of a request.
func (b *Builder) registryStore(req Request) *depproxy.Store {
	if req.UseLogins && b.withLogins != nil {
		return b.withLogins
	}
	return b.registries
}

// projectKey returns key inputs for a layer of packages that must not be shared by all projects. A
// layer that was built with the operator's logins belongs to the project that may use them, and other
// projects cannot find it.
func (b *Builder) projectKey(req Request) []string {
	switch {
	case b.withLogins == nil || req.Repo == nil:
		return nil
	case req.UseLogins:
		return []string{"\x00by login", req.Repo.projectName()}
	}
	return []string{"\x00for all"}
}
