// Package compilecache provides the compiled objects of a base commit: a ccache store that becomes a layer of the
// image. It defines the store's path, the environment in which compilers use it, and the layer that fills it.
//
// Containers can read the store but cannot write to it. If a base does not build or takes too long, only objects are
// missing, and checks compile them again. The package does not know build systems. They pass their folders and
// commands.
package compilecache

import (
	"path"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/shellquote"
)

// The folders of compiled objects: the base's objects in the image, which no container can change, and the
// container's own objects.
const (
	bakedCache = "/opt/ccache"
	ownCache   = "/work/.ccache"
)

// Env puts ccache before the compilers on the PATH of every build. The times of header files are ignored, because a
// tree is written just before it is built. The compiler is identified by its content, because layers set their own
// times.
var Env = ecosystem.Env{
	Set: map[string]string{
		"CCACHE_DIR": ownCache, "CCACHE_REMOTE_STORAGE": "file:" + bakedCache + "|read-only", "CCACHE_MAXSIZE": "200M",
		// CMake looks for cc, but Debian's ccache has no wrapper for it
		"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
		"ASAN_OPTIONS":         "detect_leaks=0", // leak detection uses ptrace, which containers do not permit
		"CCACHE_COMPILERCHECK": "content", "CCACHE_SLOPPINESS": "include_file_ctime,include_file_mtime",
	},
	Path: "/usr/lib/ccache",
}

// Folder is a folder of the tree with the command that compiles it without running tests.
type Folder struct{ Dir, Command string }

// CompileBase returns a layer with the compiled objects of a base, or nil without folders. Its key consists of the
// commands and the files that describe the build, but not the sources. Changed sources are compiled again and the
// others are found in the cache. The build may fail, because reporting a broken base is up to the check.
func CompileBase(
	sources ecosystem.Sources, name string, folders []Folder, describesBuild func(file string) bool,
) []ecosystem.Install {
	if len(folders) == 0 {
		return nil
	}
	const failure, fix = "the base tree does not fit into the build container", "look whether the disk is full"
	kept := "; what did compile is kept"
	tooLarge := func(int) string {
		return "the base commit does not fit into the build container; each check compiles it"
	}
	out := sources.Places().Build + "/ccache"
	env := map[string]string{"CCACHE_DIR": ownCache, "CCACHE_REMOTE_STORAGE": "file:" + out, "CI": "1"}
	install := ecosystem.Install{
		Layer: name + "base", Why: "the base tree, compiled by " + name, What: "the compiled base tree", History: true,
		IfKilled:  "the base commit takes too much memory to build" + kept,
		Collector: func() ecosystem.Collector { return cacheCollector{} },
		Steps: []ecosystem.Step{{Dir: ".", Progress: "laying out the base tree", Failure: failure, Fix: fix, Excuse: tooLarge,
			Command: "mkdir -p ccache && git clone -q --shared " + sources.Places().History + " " + sources.Places().Workspace}},
	}
	for _, folder := range folders {
		command := "cd " + path.Join(sources.Places().Workspace, folder.Dir) + " || exit 92\n" + folder.Command
		install.Inputs = append(install.Inputs, command)
		install.Steps = append(install.Steps, ecosystem.Step{
			Dir: ".", Env: env, Progress: "compiling the base tree in " + ecosystem.DisplayDir(folder.Dir),
			Failure: failure, Fix: fix,
			Command: "timeout -k 10 ${COMPANY_STEP_SECONDS:-870} /bin/sh -c " + shellquote.QuoteArgument(command),
			Excuse: func(exit int) string {
				if exit == 124 || exit == 137 {
					return "the base commit takes too long to build" + kept
				}
				return "the base commit does not build cleanly" + kept
			},
		})
	}
	for _, p := range sources.Base().Files() {
		if describesBuild(p) {
			install.Inputs = append(install.Inputs, p, sources.Base().FileID(p))
		}
	}
	return []ecosystem.Install{install}
}

// cacheCollector copies the results that ccache stored.
type cacheCollector struct{}

// cacheFileRE matches the path of a result in a ccache store.
var cacheFileRE = lazyregexp.New(`^ccache/[0-9a-z]{2}/[0-9a-z]{10,80}$`)

// Place puts a result into the cache of the image.
func (cacheCollector) Place(entry ecosystem.Entry) (ecosystem.Entry, bool) {
	return ecosystem.Entry{Path: path.Join(bakedCache, strings.TrimPrefix(entry.Path, "ccache/"))}, entry.Link == "" &&
		cacheFileRE.MatchString(entry.Path)
}

// Files returns the cache folder itself, because a layer must have at least one file.
func (cacheCollector) Files() []ecosystem.ImageFile {
	return []ecosystem.ImageFile{{Path: bakedCache, Dir: true}}
}
