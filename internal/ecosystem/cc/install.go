package cc

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/shell"
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
// its check. It is keyed by the files that describe the build, not by its sources:
// a source that changed since is compiled anew, and the others are found. It may
// fail: a base that does not build is the check's business.
func compileBase(s ecosystem.Sources, e ecosystem.Ecosystem, find func(t *ecosystem.Tree) ([]string, []project), isMeant func(name string) bool) ([]ecosystem.Install, error) {
	t := treeOf(s.Base())
	dirs, all := find(t)
	if t.Err() != nil {
		return nil, t.Err()
	}
	if len(dirs) == 0 {
		return nil, nil
	}
	const failure, fix = "the base tree does not fit into the build container", "look whether the disk is full"
	kept := "; what did compile is kept"
	tooLarge := func(int) string {
		return "the base commit does not fit into the build container; checks compile it anew"
	}
	out := s.Places().Build + "/ccache"
	env := map[string]string{"CCACHE_DIR": ownCache, "CCACHE_REMOTE_STORAGE": "file:" + out, "CI": "1"}
	in := ecosystem.Install{
		Layer: e.Name() + "base", Why: "the base tree, compiled by " + e.Name(), What: "the compiled base tree", History: true,
		IfKilled:  "the base commit takes too much memory to build" + kept,
		Collector: func() ecosystem.Collector { return cacheCollector{} },
		Steps: []ecosystem.Step{{Dir: ".", Progress: "laying out the base tree", Failure: failure, Fix: fix, Excuse: tooLarge,
			Command: "mkdir -p ccache && git clone -q --shared " + s.Places().History + " " + s.Places().Workspace}},
	}
	for i, dir := range dirs {
		command := "cd " + path.Join(s.Places().Workspace, dir) + " || exit 92\n" + all[i].prepareCommand()
		in.Inputs = append(in.Inputs, command)
		in.Steps = append(in.Steps, ecosystem.Step{
			Dir: ".", Env: env, Progress: "compiling the base tree in " + ecosystem.DisplayDir(dir), Failure: failure, Fix: fix,
			Command: "timeout -k 10 ${COMPANY_STEP_SECONDS:-870} /bin/sh -c " + shell.QuoteArgument(command),
			Excuse: func(exit int) string {
				if exit == 124 || exit == 137 {
					return "the base commit takes too long to build" + kept
				}
				return "the base commit does not build cleanly" + kept
			},
		})
	}
	for _, p := range s.Base().Files() {
		if dir, name := ecosystem.SplitPath(p); isMeant(name) && slices.ContainsFunc(dirs, func(top string) bool { return ecosystem.IsUnder(dir, top) }) {
			in.Inputs = append(in.Inputs, p, s.Base().FileID(p))
		}
	}
	return []ecosystem.Install{in}, nil
}

// cacheCollector copies the results that ccache stored.
type cacheCollector struct{}

// cacheFileRE is a result in a store of ccache that is a folder.
var cacheFileRE = lazyregexp.New(`^ccache/[0-9a-z]{2}/[0-9a-z]{10,80}$`)

// Place puts a result into the baked cache.
func (cacheCollector) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	return ecosystem.Entry{Path: path.Join(bakedCache, strings.TrimPrefix(e.Path, "ccache/"))}, e.Link == "" && cacheFileRE.MatchString(e.Path)
}

// Files are the cache itself: a layer without a file is none.
func (cacheCollector) Files() []ecosystem.ImageFile {
	return []ecosystem.ImageFile{{Path: bakedCache, Dir: true}}
}
