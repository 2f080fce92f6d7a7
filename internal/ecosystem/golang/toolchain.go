package golang

import (
	"errors"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// Paths of Go inside an image. The build cache is keyed by these paths, so making the image and working in it must
// use the same ones. The baked cache belongs to root, but the go command needs a writable one. The toolbox therefore
// links the files of cachePath into the worker's own cache at startup.
const (
	rootPath    = "/usr/local/go"
	cachePath   = "/opt/gocache"
	modulesPath = "/opt/gomod"
	buildCache  = "/tmp/gocache" // in memory, because thousands of links are slow on a layered disk
)

// cgo is the name of the toolchain with a C compiler for Go.
const cgo = "cgo"

// imageEnv makes the go command work offline. CGO_ENABLED and GOFLAGS are part of the build cache's keys.
var imageEnv = ecosystem.Env{
	Set: map[string]string{
		"GOTOOLCHAIN": "local", "GOPROXY": "off", "GOSUMDB": "off", "GOMODCACHE": modulesPath, "GOFLAGS": "-buildvcs=false",
		"CGO_ENABLED": "0",
	},
	Unset: []string{"GOROOT", "GOPATH"}, Path: rootPath + "/bin",
}

// Toolchains returns Go and a C compiler for cgo. The standard library that was compiled without C remains valid for
// packages that do not use C.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	return []ecosystem.Toolchain{
		{
			Name: e.Name(), Title: "Go", Contents: "go",
			Tree: &ecosystem.HostTree{
				Ask:  [][]string{{"go", "env", "GOROOT", "GOVERSION", "GOARCH", "GOOS"}},
				Env:  []string{"GOTOOLCHAIN=local", "GOFLAGS=", "GOWORK=off"},
				Read: readHost, BareIdentity: true,
				Copies: []ecosystem.Copy{{To: rootPath, Leave: isLeft}},
				Files:  []ecosystem.ImageFile{{Path: modulesPath, Dir: true}},
			},
			Above: []ecosystem.Install{standardLibrary}, Env: imageEnv, WishFiles: []string{"go.work", "go.mod"}, Wish: readWish,
			WishAll: true, Versions: goReleases,
		},
		{Name: cgo, Title: "C", Contents: "a C compiler", Packages: []string{"g++", "gcc", "libc6-dev"},
			Env: ecosystem.Env{Set: map[string]string{"CGO_ENABLED": "1"}}},
	}
}

// readHost reads the location and version of this host's Go.
func readHost(answers []string, realPath func(string) (string, error)) (ecosystem.FoundTree, error) {
	f := strings.Split(answers[0], "\n")
	if len(f) != 4 {
		return ecosystem.FoundTree{}, errors.New("cannot parse the output of `go env`")
	}
	if f[3] != "linux" || f[2] != runtime.GOARCH {
		return ecosystem.FoundTree{}, errors.New(
			"it builds for " + f[3] + "/" + f[2] + ", a worker needs linux/" + runtime.GOARCH)
	}
	root, err := realPath(f[0])
	return ecosystem.FoundTree{Dir: root, Version: f[1],
		Identity: []string{"bin/go", "pkg/tool/linux_" + runtime.GOARCH + "/compile"}}, err
}

// isLeft reports whether a path in GOROOT is not needed for builds.
func isLeft(rel string) bool {
	return slices.Contains([]string{"api", "doc", "test", "misc", ".git", "pkg/obj", "pkg/bootstrap"}, rel) ||
		path.Base(rel) == "testdata"
}

// compiles returns a layer with the compiler's cache files. The go command deletes entries that were not used for
// five days according to their times, but images live longer. A time in the future prevents that.
func compiles(install ecosystem.Install) ecosystem.Install {
	install.ReadOnly, install.Time = true, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	install.Collector = func() ecosystem.Collector { return cacheCollector{} }
	return install
}

// saveCache copies new cache files, but no links, to the folder that is collected.
const saveCache = `out=$PWD; cd ` + buildCache + ` && find . -type f -path './??/*' -exec cp --parents -t "$out" {} +`

// interruptedCache is the folder with the results of an interrupted try.
const interruptedCache = "/opt/company/compiled"

// resumeCache saves cache files while the base is compiled. Files of the last two seconds may be incomplete, so they
// are copied the next time.
var resumeCache = &ecosystem.Resume{
	From: interruptedCache,
	Save: `set -eu; test -d ` + buildCache + `; out=$PWD; mark=/tmp/gocache.kept; touch -d '-2 seconds' $mark.new; cd ` +
		buildCache + `
if test -e $mark; then newer="-newer $mark"; else newer=; fi
find . -type f -path './??/*' $newer ! -newer $mark.new -exec cp --parents -t "$out" {} +
mv $mark.new $mark`,
	Clear: `rm -rf ./??`,
}

var cacheEnv = map[string]string{"GOCACHE": buildCache}

// standardLibrary is compiled in the three common ways: build, vet (whose facts are cached, too) and test. A program
// with a test imports every package, because "go build std" does not create the entries for vet and test. Packages
// that a program without cgo cannot link are left out.
var standardLibrary = compiles(ecosystem.Install{
	Layer: "gostd", Why: "the standard library, compiled", What: "the compiled standard library",
	Steps: []ecosystem.Step{{
		Dir: ".", Env: cacheEnv, Progress: "compiling the standard library",
		Failure: "the standard library does not compile in a worker image",
		Fix:     "check that `go build std` works on this host",
		Command: `set -eu
out=$PWD
mkdir -p /work/warm && cd /work/warm
go mod init warm
{ echo 'package warm'; go list std | grep -vE '(^|/)(internal|vendor)(/|$)|^(runtime/cgo|runtime/race|plugin)$' | sed 's/.*/import _ "&"/'; } >warm.go
printf 'package warm\nimport "testing"\nfunc TestNothing(*testing.T) {}\n' >warm_test.go
go build ./...
go vet ./...
go test -exec=/bin/true ./...
cd "$out"
` + saveCache + `
test -n "$(ls "$out")"`,
	}},
})

// cacheCollector copies the files of a build cache. It skips links, because they lead to files that the image already
// has.
type cacheCollector struct{}

// cacheFileRE matches a file in a build cache: action entries (-a) and outputs (-d).
var cacheFileRE = lazyregexp.New(`^[0-9a-f]{2}/[0-9a-f]{64}-[ad]$`)

// Place puts an entry into the cache of the image.
func (cacheCollector) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	return ecosystem.Entry{Path: path.Join(cachePath, e.Path)}, e.Link == "" && cacheFileRE.MatchString(e.Path)
}

// Files returns the cache folder itself, because a layer must have at least one file.
func (cacheCollector) Files() []ecosystem.ImageFile {
	return []ecosystem.ImageFile{{Path: cachePath, Dir: true}}
}
