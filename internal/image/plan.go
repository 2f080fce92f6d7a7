package image

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/registry"
)

// plan is a stack of layers in the making.
type plan struct {
	b     *Builder
	steps []step
	notes []string
}

func (p *plan) top() *step { return &p.steps[len(p.steps)-1] }

// put adds a layer; why says in words what it is made from, inputs key it.
func (p *plan) put(kind, why string, build buildFunc, inputs ...string) *step {
	s := newStep(kind, *p.top(), build, inputs...)
	s.why = why
	p.steps = append(p.steps, s)
	return p.top()
}

// add adds a layer that is made from a tar.
func (p *plan) add(kind, why string, fill fillFunc, inputs ...string) *step {
	return p.put(kind, why, p.b.tarred(fill), inputs...)
}

func (p *plan) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// addTools adds the toolchains. Go comes first: its compiled standard library
// takes longest, and so images with and without other tools share it.
func (p *plan) addTools(t tools) {
	if t.goRoot != nil {
		p.add("go", t.goRoot.version+" of this host", p.b.fillGo(*t.goRoot), t.goRoot.identity...).env = withGoEnv
		p.add("gostd", "the standard library, compiled", p.b.fillGoStd)
	}
	if len(t.packages) > 0 {
		inputs := slices.Clone(t.packages)
		if t.cgo {
			inputs = append(inputs, "\x00cgo") // its environment is another
		}
		s := p.add("debian", "Debian packages: "+strings.Join(t.packages, " "), p.b.fillDebian(p.steps[0], t.packages), inputs...)
		if t.cgo {
			s.env = withCgo
		}
	}
	if t.node != nil {
		p.add("node", "Node "+t.node.version+" of this host", p.b.fillNode(*t.node), t.node.identity...)
	}
	if t.rust != nil {
		p.add("rust", "Rust "+t.rust.version+" of this host", p.b.fillRust(*t.rust), t.rust.identity...)
	}
}

// addDeps adds what the lock files of the tree name, and notes what they ask
// for in vain.
func (p *plan) addDeps(ctx context.Context, req Request, t tools) error {
	repo := *req.Repo
	if len(req.Toolchains) == 0 {
		return nil
	}
	tree, err := list(ctx, repo, repo.locksAt())
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
	if slices.Contains(req.Toolchains, "node") {
		if err := p.addNPM(ctx, req, tree); err != nil {
			return err
		}
	}
	if slices.Contains(req.Toolchains, "python") {
		if err := p.addPip(ctx, req, tree); err != nil {
			return err
		}
	}
	if slices.Contains(req.Toolchains, "rust") {
		if err := p.addCargo(ctx, req, tree); err != nil {
			return err
		}
	}
	return nil
}

// fetching says what may be had of an ecosystem for some lock files; nil, with
// a note why, where clients of registries cannot be run. A registry that needs
// a login which the repository may not use is an error.
func (p *plan) fetching(req Request, ecosystem, what string, locks map[string][]byte) (*fetching, error) {
	store := p.b.store(req)
	switch {
	case req.Offline:
		p.note("%s is not installed: container.deps is off", what)
		return nil, nil
	case store == nil:
		p.note("%s is not installed: no registry is at hand", what)
		return nil, nil
	}
	if err := store.Upstreams().Withheld(company.Dependency{Ecosystem: ecosystem}); err != nil {
		return nil, err
	}
	if req.Repo.Policy != nil {
		return &fetching{store: store, policy: req.Repo.Policy}, nil
	}
	policy, notes := registry.Locked(locks)
	p.notes = append(p.notes, notes...)
	return &fetching{store: store, policy: policy}, nil
}

// store is where the packages of a request come from.
func (b *Builder) store(req Request) *registry.Store {
	if req.Logins && b.byLogin != nil {
		return b.byLogin
	}
	return b.registries
}

// whose keys a layer of packages where not everybody may have the same: one
// that was made with the operator's logins belongs to the project that may use
// them, and is found by no other.
func (b *Builder) whose(req Request) []string {
	switch {
	case b.byLogin == nil || req.Repo == nil:
		return nil
	case req.Logins:
		return []string{"\x00by login", req.Repo.MirrorDir}
	}
	return []string{"\x00for all"}
}

// addNPM adds what package-lock.json files name.
func (p *plan) addNPM(ctx context.Context, req Request, tree files) error {
	deps, err := p.npmDeps(ctx, tree)
	if err != nil {
		return err
	}
	if len(deps.projects) == 0 {
		return nil
	}
	var fetch *fetching
	if deps.remote {
		if fetch, err = p.fetching(req, registry.NPM, deps.why, deps.locks); err != nil || fetch == nil {
			return err
		}
	}
	p.add("npm", "the packages of "+deps.why, p.b.fillNPM(deps, fetch), append(deps.identity, p.b.whose(req)...)...)
	return nil
}

// addPip adds what lists of requirements and pyproject.toml files name.
func (p *plan) addPip(ctx context.Context, req Request, tree files) error {
	deps, err := p.pipDeps(ctx, tree)
	if err != nil {
		return err
	}
	from := strings.Join(deps.from, ", ")
	if len(deps.lines) > 0 {
		fetch, err := p.fetching(req, registry.PyPI, from, deps.locks)
		if err != nil {
			return err
		}
		if fetch != nil {
			p.add("pip", "the Python packages of "+from, p.b.fillPip(deps, fetch), append(deps.identity(), p.b.whose(req)...)...).env = withVenv
		}
	}
	if len(deps.sources) > 0 {
		p.add("pypath", "modules in "+strings.Join(deps.sources, ", "), fillSources(deps.sources), deps.sources...)
	}
	return nil
}

// addCargo adds what Cargo.lock files name.
func (p *plan) addCargo(ctx context.Context, req Request, tree files) error {
	deps, err := p.cargoDeps(ctx, tree)
	if err != nil {
		return err
	}
	if len(deps.dirs) == 0 {
		return nil
	}
	what := words(deps.dirs, "Cargo.lock")
	fetch, err := p.fetching(req, registry.Crates, what, deps.locks)
	if err != nil || fetch == nil {
		return err
	}
	p.add("cargo", "the crates of "+what, p.b.fillCargo(deps, fetch), append(deps.identity(), p.b.whose(req)...)...)
	return nil
}

// addGo adds the modules of the base, what they and the base compile to, and
// above all that the modules of other lock files, where these differ: what was
// compiled stays good for all that did not change.
func (p *plan) addGo(ctx context.Context, req Request, tree files) error {
	repo := *req.Repo
	base := tree
	if repo.locksAt() != repo.Commit {
		var err error
		if base, err = list(ctx, repo, repo.Commit); err != nil {
			return err
		}
	}
	deps, err := p.b.goDeps(ctx, base, req.Offline)
	if err != nil {
		return err
	}
	if len(deps.download) > 0 {
		own := repo
		own.Policy = nil // it is about other lock files
		p.add("gomod", "the modules of "+words(deps.download, "go.mod"), p.b.fillGoMod(own, deps, req), append(deps.identity(), p.b.whose(req)...)...)
	}
	if deps.any() {
		// The mirror's path keeps two projects with the same lock files from
		// sharing what was compiled from their trees.
		p.add("godeps", "those modules and the base tree, compiled", p.b.fillGoDeps(repo, deps), append(deps.identity(), repo.MirrorDir)...)
	}
	if repo.locksAt() == repo.Commit {
		return nil
	}
	changed, err := p.b.goDeps(ctx, tree, req.Offline)
	if err != nil {
		return err
	}
	if len(changed.download) > 0 && !slices.Equal(changed.identity(), deps.identity()) {
		p.add("gomod", "the modules of "+words(changed.download, "go.mod")+" at "+string(repo.Locks[:12]), p.b.fillGoMod(repo, changed, req), append(changed.identity(), p.b.whose(req)...)...)
	}
	return nil
}

// words names the files of some directories.
func words(dirs []string, file string) string {
	const most = 4
	var out []string
	for i, d := range dirs {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(dirs)-most))
			break
		}
		out = append(out, strings.TrimPrefix(d+"/"+file, "./"))
	}
	return strings.Join(out, ", ")
}
