package image

import (
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// addInstalls adds the layers of the toolchains in a request.
func (p *layerPlan) addInstalls(req Request, s *sources, set toolSet) error {
	for _, installer := range catalog.Of[ecosystem.Installer]() {
		if !slices.Contains(req.Toolchains, installer.Name()) {
			continue
		}
		spare := slices.Contains(req.Spare, installer.Name())
		noted := len(p.notes)
		installs, err := installer.Installs(s)
		if err != nil && spare {
			p.addNote("the packages of %s are left out, since no check needs them: %v", installer.Name(), err)
			continue
		}
		if err != nil {
			return err
		}
		if slices.Contains(req.Unneeded, installer.Name()) {
			hasMore := len(p.notes) > noted // these notes are about packages that will not be installed
			p.notes = p.notes[:noted]
			if installs = p.withoutRemote(installs); hasMore && len(p.notes) == noted {
				p.addNote("the packages of %s are not installed: no check needs them", installer.Name())
			}
		}
		missing := false // true once a layer was left out, on which later ones depend
		for _, install := range installs {
			if install.Fetch != nil && req.Offline {
				return company.E(company.EInternal, "packages of "+installer.Name()+" would be fetched, but container.deps is off")
			}
			if missing && install.Runs() {
				continue
			}
			added, err := p.addInstall(req, install, installer.Name(), set)
			if err != nil {
				return err
			}
			missing = missing || !added
		}
	}
	return nil
}

// withoutRemote drops the packages of registries, which no check needs, with the layers above them,
// and notes it. Each of them costs time, and an unreachable registry would stop the work.
func (p *layerPlan) withoutRemote(installs []ecosystem.Install) (kept []ecosystem.Install) {
	missing := false
	for _, install := range installs {
		switch {
		case install.Remote:
			p.addNote("the packages of %s are not installed: no check needs them", install.What)
			missing = true
		case !missing || !install.Runs():
			kept = append(kept, install)
		}
	}
	return kept
}

// addInstall adds a layer of an ecosystem. If its registry cannot be used, it notes that and added is
// false.
func (p *layerPlan) addInstall(
	req Request, install ecosystem.Install, name string, set toolSet,
) (added bool, err error) {
	if !install.Runs() {
		p.appendTarStep(install.Layer, install.Why, fillFiles(install), install.Inputs...)
		return true, nil
	}
	if req.isWithout(install.Registry) {
		p.addNote("%s is not installed: deps.without has %s", install.What, install.Registry)
		return false, nil
	}
	spare := slices.Contains(req.Spare, name)
	var access *registryAccess
	if install.Remote && install.Fetch == nil {
		access, err = p.installAccess(req, install)
		if err != nil && spare {
			p.addNote("%s is left out, since no check needs it: %v", install.What, err)
			return false, nil
		}
		if access == nil {
			return false, err
		}
	}
	inputs := append(slices.Clone(install.Inputs), p.b.projectKey(req)...)
	if install.History {
		// Add the project's name, so that two projects with the same lock files
		// do not share files that were built from their trees.
		inputs = append(slices.Clone(install.Inputs), req.Repo.projectName())
	}
	if spare {
		install.Spare, inputs = true, append(inputs, "\x00spare")
	}
	fill := p.b.fillInstall(install, req.Repo, access)
	if install.Fetch != nil {
		tree, _ := set.fetchedTree(name)
		fill = p.b.fillFetched(install, req, tree)
	}
	layerStep := p.appendTarStep(install.Layer, install.Why, fill, inputs...)
	layerStep.env = changeEnv(install.Env)
	if install.Remote {
		layerStep.registry = install.Registry
	}
	return true, nil
}

// isWithout reports whether a kind of registry must not be used.
func (r Request) isWithout(registry string) bool { return slices.Contains(r.Without, registry) }

// installAccess returns the access to registries for a layer, or nil if there is none.
func (p *layerPlan) installAccess(req Request, install ecosystem.Install) (*registryAccess, error) {
	if install.Own { // the company's own lock file decides, not the policy of the task
		repo := *req.Repo
		repo.Policy, req.Repo = nil, &repo
	}
	return p.registryAccess(req, install.Registry, install.What, install.Locks)
}

// changeEnv returns a function that changes an image's environment, or nil if there are no changes.
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
