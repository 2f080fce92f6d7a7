package image

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/depproxy"
)

// layerPlan is a stack of layers in the making.
type layerPlan struct {
	b     *Builder
	steps []layerStep
	notes []string
}

// newPlan begins a plan with the layers of its base.
func (b *Builder) newPlan(req Request, base baseSource) (*layerPlan, error) {
	p := &layerPlan{b: b, steps: []layerStep{b.baseStep(base)}}
	if base.described == nil {
		return p, nil
	}
	return p, p.addRecipe(req, base)
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

// addTools adds the toolchains. Those of the host alone come first: compiling
// with them takes longest, and so images with and without other tools share it.
func (p *layerPlan) addTools(req Request, set toolSet) {
	p.addTrees(req, set, true)
	if len(set.packages) > 0 {
		s := p.appendTarStep("debian", "Debian packages: "+strings.Join(set.packages, " "), p.b.fillDebian(p.steps[0], set.packages), append(slices.Clone(set.packages), set.changeInputs()...)...)
		s.env = set.changeEnv()
	}
	p.addTrees(req, set, false)
}

// addTrees adds the trees of this host that come from nowhere else, or the others.
func (p *layerPlan) addTrees(req Request, set toolSet, fromHostAlone bool) {
	for _, t := range set.trees {
		if t.IsFromHostAlone() != fromHostAlone {
			continue
		}
		s := p.appendTarStep(t.Name, t.describeSource(), p.b.fillTree(req, t), t.keyInputs...)
		s.env, s.fetched = changeEnv(t.Env), t.wanted != ""
		for _, in := range t.Above {
			p.appendTarStep(in.Layer, in.Why, p.b.fillInstall(in, nil, nil), in.Inputs...)
		}
	}
}

// changeInputs key the layer that changes the environment.
func (s toolSet) changeInputs() (inputs []string) {
	for _, t := range s.changes {
		inputs = append(inputs, "\x00"+t.Name)
		if t.Env.Path == "" { // its variables are in no key that users' machines have
			continue
		}
		inputs = append(inputs, t.Env.Path)
		for _, name := range slices.Sorted(maps.Keys(t.Env.Set)) {
			inputs = append(inputs, name+"="+t.Env.Set[name])
		}
	}
	return inputs
}

// changeEnv is what toolchains without a tree change.
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

// addDeps adds what the lock files of the tree name, and notes what they ask
// for in vain.
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
	s := newSources(ctx, p, tree, req)
	if repo.locksCommit() != repo.Commit {
		base, err := listTree(ctx, repo, repo.Commit)
		if err != nil {
			return err
		}
		s.base = newSources(ctx, p, base, req)
	}
	return p.addInstalls(req, s, set)
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
		return []string{"\x00by login", req.Repo.projectName()}
	}
	return []string{"\x00for all"}
}
