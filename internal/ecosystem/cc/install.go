package cc

import (
	"slices"

	"company/internal/ecosystem"
	"company/internal/ecosystem/compilecache"
)

// prepareCommand builds what can be built, and does not stop at what cannot.
func (p *cmakeProjectFiles) prepareCommand() string {
	return p.buildCommand() + " -- -k 0"
}

func (p *mesonProjectFiles) prepareCommand() string {
	at := buildFolder(p.dir)
	return "meson setup --wrap-mode=nodownload " + at + " && ninja -C " + at + " -j " + buildJobs + " -k 0 all meson-test-prereq"
}

func (p *autotoolsFiles) prepareCommand() string {
	s := p.buildCommand() + " -k"
	if p.automake && p.testTarget != "" {
		s += "; make -k -j " + buildJobs + " " + p.testTarget + " TESTS="
	}
	return s
}

// Installs is a layer of the compiled objects of the base.
func (e CMake) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	return compileBase(s, e, e.findOwn, isCMakeFile)
}

// Installs is a layer of the compiled objects of the base.
func (e Meson) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	return compileBase(s, e, e.findOwn, isMesonFile)
}

// Installs is a layer of the compiled objects of the base.
func (e Autotools) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	return compileBase(s, e, e.findOwn, isAutotoolsFile)
}

// compileBase is the layer of a base that was compiled once, with the commands of
// its check. It is keyed by the files that describe the build.
func compileBase(s ecosystem.Sources, e ecosystem.Ecosystem, find func(t *ecosystem.Tree) ([]string, []project), isMeant func(name string) bool) ([]ecosystem.Install, error) {
	t := ecosystem.TreeOf(s.Base())
	dirs, all := find(t)
	if t.Err() != nil {
		return nil, t.Err()
	}
	var folders []compilecache.Folder
	for i, dir := range dirs {
		folders = append(folders, compilecache.Folder{Dir: dir, Command: all[i].prepareCommand()})
	}
	return compilecache.CompileBase(s, e.Name(), folders, func(p string) bool {
		dir, name := ecosystem.SplitPath(p)
		return isMeant(name) && slices.ContainsFunc(dirs, func(top string) bool { return ecosystem.IsUnder(dir, top) })
	}), nil
}
