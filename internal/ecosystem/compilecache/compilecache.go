// Package compilecache has the compiled objects of a base: a store of ccache that
// becomes a layer of the image. It owns where the store lies, the environment by which
// compilers find it, and the layer that fills it.
//
// It promises that containers read the store and cannot write to it, and that a base
// that does not build, or takes too long, costs objects alone: checks compile those anew.
// It does not know build systems: these name the folders and their commands.
package compilecache

import (
	"path"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/shell"
)

// Where compiled objects lie: those of the base in the image, which no container
// can change, and those that a container makes itself.
const (
	bakedCache = "/opt/ccache"
	ownCache   = "/work/.ccache"
)

// Env puts ccache before the compilers, for every build that finds them on
// its PATH. The times of headers say nothing: a tree is laid out just before it is
// built. The compiler is known by its content, since layers have times of their own.
var Env = ecosystem.Env{
	Set: map[string]string{
		"CCACHE_DIR": ownCache, "CCACHE_REMOTE_STORAGE": "file:" + bakedCache + "|read-only", "CCACHE_MAXSIZE": "200M",
		"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache", // it looks for cc, which Debian's ccache does not stand before
		"ASAN_OPTIONS":         "detect_leaks=0", // leaks are looked for by tracing, which no container lets
		"CCACHE_COMPILERCHECK": "content", "CCACHE_SLOPPINESS": "include_file_ctime,include_file_mtime",
	},
	Path: "/usr/lib/ccache",
}

// Folder is a folder of the tree, and the command that compiles it without a test.
type Folder struct{ Dir, Command string }

// CompileBase is the layer of a base that was compiled once; without folders there is
// none. It is keyed by the commands and by the files that describe the build, not by its
// sources: a source that changed since is compiled anew, and the others are found. It may
// fail: a base that does not build is the check's business.
func CompileBase(s ecosystem.Sources, name string, folders []Folder, describesBuild func(file string) bool) []ecosystem.Install {
	if len(folders) == 0 {
		return nil
	}
	const failure, fix = "the base tree does not fit into the build container", "look whether the disk is full"
	kept := "; what did compile is kept"
	tooLarge := func(int) string {
		return "the base commit does not fit into the build container; checks compile it anew"
	}
	out := s.Places().Build + "/ccache"
	env := map[string]string{"CCACHE_DIR": ownCache, "CCACHE_REMOTE_STORAGE": "file:" + out, "CI": "1"}
	in := ecosystem.Install{
		Layer: name + "base", Why: "the base tree, compiled by " + name, What: "the compiled base tree", History: true,
		IfKilled:  "the base commit takes too much memory to build" + kept,
		Collector: func() ecosystem.Collector { return cacheCollector{} },
		Steps: []ecosystem.Step{{Dir: ".", Progress: "laying out the base tree", Failure: failure, Fix: fix, Excuse: tooLarge,
			Command: "mkdir -p ccache && git clone -q --shared " + s.Places().History + " " + s.Places().Workspace}},
	}
	for _, f := range folders {
		command := "cd " + path.Join(s.Places().Workspace, f.Dir) + " || exit 92\n" + f.Command
		in.Inputs = append(in.Inputs, command)
		in.Steps = append(in.Steps, ecosystem.Step{
			Dir: ".", Env: env, Progress: "compiling the base tree in " + ecosystem.DisplayDir(f.Dir), Failure: failure, Fix: fix,
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
		if describesBuild(p) {
			in.Inputs = append(in.Inputs, p, s.Base().FileID(p))
		}
	}
	return []ecosystem.Install{in}
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
