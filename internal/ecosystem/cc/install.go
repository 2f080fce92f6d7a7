package cc

import (
	"slices"

	"company/internal/ecosystem"
	"company/internal/ecosystem/compilecache"
)

// prepareCommand returns a command that builds as much as possible and continues after errors.
func (p *cmakeProjectFiles) prepareCommand() string {
	return p.buildCommand() + " -- -k 0"
}

func (p *mesonProjectFiles) prepareCommand() string {
	at := buildFolder(p.dir)
	return "meson setup --wrap-mode=nodownload " + at + " && ninja -C " + at + " -j " + buildJobs +
		" -k 0 all meson-test-prereq"
}

func (p *autotoolsFiles) prepareCommand() string {
	s := p.buildCommand() + " -k"
	if p.automake && p.testTarget != "" {
		s += "; make -k -j " + buildJobs + " " + p.testTarget + " TESTS="
	}
	return s
}

// Installs returns a layer with the compiled objects of the base.
func (e CMake) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	return compileBase(s, e, e.findOwn, isCMakeFile)
}

// Installs returns a layer with the compiled objects of the base.
func (e Meson) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	return compileBase(s, e, e.findOwn, isMesonFile)
}

// Installs returns a layer with the compiled objects of the base.
func (e Autotools) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	return compileBase(s, e, e.findOwn, isAutotoolsFile)
}

// compileBase returns a layer with the objects of a base, compiled by the commands of its checks. Its key depends on
// the files that describe the build.
func compileBase(
	sources ecosystem.Sources, e ecosystem.Ecosystem, find func(t *ecosystem.Tree) ([]string, []project),
	isMeant func(name string) bool,
) ([]ecosystem.Install, error) {
	tree := ecosystem.TreeOf(sources.Base())
	dirs, projects := find(tree)
	if tree.Err() != nil {
		return nil, tree.Err()
	}
	var folders []compilecache.Folder
	for i, dir := range dirs {
		folders = append(folders, compilecache.Folder{Dir: dir, Command: projects[i].prepareCommand()})
	}
	return compilecache.CompileBase(sources, e.Name(), folders, func(p string) bool {
		dir, name := ecosystem.SplitPath(p)
		return isMeant(name) && slices.ContainsFunc(dirs, func(top string) bool { return ecosystem.IsUnder(dir, top) })
	}), nil
}
