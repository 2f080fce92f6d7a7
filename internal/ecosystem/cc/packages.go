package cc

import (
	"company/internal/ecosystem"
)

// project is a project of this package as an image prepares it.
type project interface {
	// listWishes are the libraries and programs that its build asks the system for.
	listWishes() *wishes
	// prepareCommand is the command that builds as much as can be built, tests too, and
	// runs none; in the folder of the project.
	prepareCommand() string
}

// findProjects are the projects of an ecosystem in a tree, by their folders.
func findProjects(t *ecosystem.Tree, e ecosystem.Detector, read func(dir string) project) (dirs []string, out []project) {
	var found []ecosystem.Component
	for _, before := range []ecosystem.Detector{CMake{}, Meson{}, Autotools{}} {
		parts := before.Detect(t, found)
		if before.Name() != e.Name() {
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

// listPackages are the Debian packages that the projects of a tree ask for.
func listPackages(s ecosystem.Sources, find func(t *ecosystem.Tree) ([]string, []project)) ([]string, error) {
	t := ecosystem.TreeOf(s)
	w := &wishes{}
	_, all := find(t)
	for _, p := range all {
		w.all = append(w.all, p.listWishes().all...)
	}
	return w.listPackages(s.AddNote), t.Err()
}

// Packages are those that hold what the files of CMake ask for.
func (e CMake) Packages(s ecosystem.Sources) ([]string, error) { return listPackages(s, e.findOwn) }

// Packages are those that hold what meson.build asks for.
func (e Meson) Packages(s ecosystem.Sources) ([]string, error) { return listPackages(s, e.findOwn) }

// Packages are those that hold what configure.ac asks for.
func (e Autotools) Packages(s ecosystem.Sources) ([]string, error) {
	return listPackages(s, e.findOwn)
}
