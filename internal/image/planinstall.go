package image

import (
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// addInstalls adds the layers of the toolchains that a request names.
func (p *layerPlan) addInstalls(req Request, s *sources, set toolSet) error {
	for _, e := range catalog.Of[ecosystem.Installer]() {
		if !slices.Contains(req.Toolchains, e.Name()) {
			continue
		}
		spare := slices.Contains(req.Spare, e.Name())
		noted := len(p.notes)
		all, err := e.Installs(s)
		if err != nil && spare {
			p.addNote("the packages of %s are left out, since no check needs them: %v", e.Name(), err)
			continue
		}
		if err != nil {
			return err
		}
		if slices.Contains(req.Unneeded, e.Name()) {
			hasMore := len(p.notes) > noted // on packages that are not installed either
			p.notes = p.notes[:noted]
			if all = p.withoutRemote(all); hasMore && len(p.notes) == noted {
				p.addNote("the packages of %s are not installed: no check needs them", e.Name())
			}
		}
		missing := false // the layers above a layer need it
		for _, in := range all {
			if in.Resume != nil && req.Uncompiled {
				continue
			}
			if in.Fetch != nil && req.Offline {
				return company.E(company.EInternal, "packages of "+e.Name()+" would be fetched, and container.deps is off")
			}
			if missing && in.Runs() {
				continue
			}
			added, err := p.addInstall(req, in, e.Name(), set)
			if err != nil {
				return err
			}
			missing = missing || !added
		}
	}
	return nil
}

// withoutRemote leaves out and notes the packages of registries, which no check needs, and
// the layers above them. Each costs time, and a registry that is away would stop the work.
func (p *layerPlan) withoutRemote(all []ecosystem.Install) (kept []ecosystem.Install) {
	missing := false
	for _, in := range all {
		switch {
		case in.Remote:
			p.addNote("the packages of %s are not installed: no check needs them", in.What)
			missing = true
		case !missing || !in.Runs():
			kept = append(kept, in)
		}
	}
	return kept
}

// addInstall adds a layer of an ecosystem; not added: its registry cannot be asked,
// which is noted.
func (p *layerPlan) addInstall(req Request, in ecosystem.Install, name string, set toolSet) (added bool, err error) {
	if !in.Runs() {
		p.appendTarStep(in.Layer, in.Why, fillFiles(in), in.Inputs...)
		return true, nil
	}
	if req.isWithout(in.Registry) {
		p.addNote("%s is not installed: deps.without has %s", in.What, in.Registry)
		return false, nil
	}
	spare := slices.Contains(req.Spare, name)
	var access *registryAccess
	if in.Remote && in.Fetch == nil {
		access, err = p.installAccess(req, in)
		if err != nil && spare {
			p.addNote("%s is left out, since no check needs it: %v", in.What, err)
			return false, nil
		}
		if access == nil {
			return false, err
		}
	}
	inputs := append(slices.Clone(in.Inputs), p.b.projectKey(req)...)
	if in.History {
		// The project's name keeps two projects with the same lock files from
		// sharing files made from their trees.
		inputs = append(slices.Clone(in.Inputs), req.Repo.projectName())
	}
	if spare {
		in.Spare, inputs = true, append(inputs, "\x00spare")
	}
	fill := p.b.fillInstall(in, req.Repo, access)
	if in.Fetch != nil {
		tree, _ := set.fetchedTree(name)
		fill = p.b.fillFetched(in, req, tree)
	}
	p.appendTarStep(in.Layer, in.Why, fill, inputs...).env = changeEnv(in.Env)
	return true, nil
}

// isWithout reports whether a kind of registry is not to be asked.
func (r Request) isWithout(registry string) bool { return slices.Contains(r.Without, registry) }

// installAccess is what may be had of registries for a layer; nil where nothing is.
func (p *layerPlan) installAccess(req Request, in ecosystem.Install) (*registryAccess, error) {
	if in.Own { // the company's own lock file says it, whatever the task has added
		repo := *req.Repo
		repo.Policy, req.Repo = nil, &repo
	}
	return p.registryAccess(req, in.Registry, in.What, in.Locks)
}

// changeEnv makes the change of an image's environment; nil where there is none.
func changeEnv(c ecosystem.Env) func([]string) []string {
	if len(c.Set)+len(c.Unset) == 0 && c.Path == "" {
		return nil
	}
	return func(env []string) []string {
		var out []string
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			if _, ours := c.Set[name]; ours || slices.Contains(c.Unset, name) {
				continue
			}
			if name == "PATH" && c.Path != "" {
				e = "PATH=" + c.Path + ":" + value
			}
			out = append(out, e)
		}
		for _, name := range slices.Sorted(maps.Keys(c.Set)) {
			out = append(out, name+"="+c.Set[name])
		}
		return out
	}
}
