package cc

import (
	"company/internal/ecosystem"
)

// project is a project of this package.
type project interface {
	// listWishes returns the libraries and programs that its build needs from the system.
	listWishes() *wishes
	// prepareCommand returns a command that builds as much as possible, including tests, but runs no test. It runs in
	// the project's folder.
	prepareCommand() string
}

// findProjects returns the projects of an ecosystem in a tree, and their folders.
func findProjects(
	tree *ecosystem.Tree, detector ecosystem.Detector, read func(dir string) project,
) (dirs []string, out []project) {
	var found []ecosystem.Component
	for _, before := range []ecosystem.Detector{CMake{}, Meson{}, Autotools{}} {
		parts := before.Detect(tree, found)
		if before.Name() != detector.Name() {
			found = append(found, parts...)
			continue
		}
		for _, p := range parts {
			dirs, out = append(dirs, p.Dir), append(out, read(p.Dir))
		}
		break
	}
	return dirs, out
}

func (e CMake) findOwn(t *ecosystem.Tree) ([]string, []project) {
	return findProjects(t, e, func(dir string) project { return readCMake(t, dir) })
}

func (e Meson) findOwn(t *ecosystem.Tree) ([]string, []project) {
	return findProjects(t, e, func(dir string) project { return readMeson(t, dir) })
}

func (e Autotools) findOwn(t *ecosystem.Tree) ([]string, []project) {
	return findProjects(t, e, func(dir string) project { return readAutotools(t, dir) })
}

// listPackages returns the Debian packages that the projects of a tree need.
func listPackages(sources ecosystem.Sources, find func(t *ecosystem.Tree) ([]string, []project)) ([]string, error) {
	tree := ecosystem.TreeOf(sources)
	w := &wishes{}
	_, projects := find(tree)
	for _, p := range projects {
		w.all = append(w.all, p.listWishes().all...)
	}
	return w.listPackages(sources.AddNote), tree.Err()
}

// Packages returns the Debian packages that the files of CMake need.
func (e CMake) Packages(s ecosystem.Sources) ([]string, error) { return listPackages(s, e.findOwn) }

// Packages returns the Debian packages that meson.build files need.
func (e Meson) Packages(s ecosystem.Sources) ([]string, error) { return listPackages(s, e.findOwn) }

// Packages returns the Debian packages that configure.ac needs.
func (e Autotools) Packages(s ecosystem.Sources) ([]string, error) {
	return listPackages(s, e.findOwn)
}
