package golang

import (
	"errors"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// Where Go lies inside an image. The build cache is keyed by these paths too,
// so baking and working use the same ones. The baked cache belongs to root and
// the go command wants one that it can write: the toolbox links the files of
// cachePath into the worker's own cache when it starts.
const (
	rootPath    = "/usr/local/go"
	cachePath   = "/opt/gocache"
	modulesPath = "/opt/gomod"
	buildCache  = "/tmp/gocache" // in memory: thousands of links are slow on a layered disk
)

// cgo is Go with a C compiler.
const cgo = "cgo"

// imageEnv makes the go command work offline. CGO_ENABLED and GOFLAGS are part of
// the build cache's keys.
var imageEnv = ecosystem.Env{
	Set: map[string]string{
		"GOTOOLCHAIN": "local", "GOPROXY": "off", "GOSUMDB": "off", "GOMODCACHE": modulesPath, "GOFLAGS": "-buildvcs=false", "CGO_ENABLED": "0",
	},
	Unset: []string{"GOROOT", "GOPATH"}, Path: rootPath + "/bin",
}

// Toolchains are Go and what it needs to call C. What the standard library
// compiles to without C stays good for all that calls none.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	return []ecosystem.Toolchain{
		{
			Name: e.Name(), Title: "Go", Contents: "go",
			Tree: &ecosystem.HostTree{
				Ask: [][]string{{"go", "env", "GOROOT", "GOVERSION", "GOARCH", "GOOS"}}, Env: []string{"GOTOOLCHAIN=local", "GOFLAGS=", "GOWORK=off"},
				Read: readHost, BareIdentity: true,
				Copies: []ecosystem.Copy{{To: rootPath, Leave: isLeft}}, Files: []ecosystem.ImageFile{{Path: modulesPath, Dir: true}},
			},
			Above: []ecosystem.Install{standardLibrary}, Env: imageEnv, WishFiles: []string{"go.work", "go.mod"}, Wish: readWish, WishAll: true, Versions: goReleases,
		},
		{Name: cgo, Title: "C", Contents: "a C compiler", Packages: []string{"g++", "gcc", "libc6-dev"}, Env: ecosystem.Env{Set: map[string]string{"CGO_ENABLED": "1"}}},
	}
}

// readHost finds the Go of this host.
func readHost(answers []string, realPath func(string) (string, error)) (ecosystem.FoundTree, error) {
	f := strings.Split(answers[0], "\n")
	if len(f) != 4 {
		return ecosystem.FoundTree{}, errors.New("`go env` gave no answer that is understood")
	}
	if f[3] != "linux" || f[2] != runtime.GOARCH {
		return ecosystem.FoundTree{}, errors.New("it builds for " + f[3] + "/" + f[2] + ", a worker needs linux/" + runtime.GOARCH)
	}
	root, err := realPath(f[0])
	return ecosystem.FoundTree{Dir: root, Version: f[1], Identity: []string{"bin/go", "pkg/tool/linux_" + runtime.GOARCH + "/compile"}}, err
}

// isLeft says what of GOROOT no build reads.
func isLeft(rel string) bool {
	return slices.Contains([]string{"api", "doc", "test", "misc", ".git", "pkg/obj", "pkg/bootstrap"}, rel) || path.Base(rel) == "testdata"
}

// compiles is a layer of what the compiler leaves in its cache. The go command
// deletes entries that were not used for five days, judged by their times, and an
// image lives longer than that; a time ahead of the clock is never "unused".
func compiles(in ecosystem.Install) ecosystem.Install {
	in.ReadOnly, in.Time = true, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	in.Collector = func() ecosystem.Collector { return cacheCollector{} }
	return in
}

// saveCache copies new files of the cache, and no links, to the folder that is
// collected.
const saveCache = `out=$PWD; cd ` + buildCache + ` && find . -type f -path './??/*' -exec cp --parents -t "$out" {} +`

// interruptedCache has what an interrupted try compiled.
const interruptedCache = "/opt/company/compiled"

// resumeCache keeps the files of the cache while the base is compiled. One of the last two
// seconds may not be whole yet: it is copied the next time.
var resumeCache = &ecosystem.Resume{
	From: interruptedCache,
	Save: `set -eu; test -d ` + buildCache + `; out=$PWD; mark=/tmp/gocache.kept; touch -d '-2 seconds' $mark.new; cd ` + buildCache + `
if test -e $mark; then newer="-newer $mark"; else newer=; fi
find . -type f -path './??/*' $newer ! -newer $mark.new -exec cp --parents -t "$out" {} +
mv $mark.new $mark`,
	Clear: `rm -rf ./??`,
}

var cacheEnv = map[string]string{"GOCACHE": buildCache}

// standardLibrary is compiled the three ways that people do: build, vet (whose
// facts are cached too) and test. A program imports everything, and has a test:
// "go build std" would not make the entries of vet and test. Left out is what a
// program without cgo cannot link.
var standardLibrary = compiles(ecosystem.Install{
	Layer: "gostd", Why: "the standard library, compiled", What: "the compiled standard library",
	Steps: []ecosystem.Step{{
		Dir: ".", Env: cacheEnv, Progress: "compiling the standard library", Failure: "the standard library does not compile in a worker image", Fix: "check that `go build std` works on this host",
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

// cacheCollector copies the files of a build cache. Links lead to what the image
// below has baked already.
type cacheCollector struct{}

// cacheFileRE is a name in a build cache: action entries (-a) and outputs (-d).
var cacheFileRE = lazyregexp.New(`^[0-9a-f]{2}/[0-9a-f]{64}-[ad]$`)

// Place puts an entry into the baked cache.
func (cacheCollector) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	return ecosystem.Entry{Path: path.Join(cachePath, e.Path)}, e.Link == "" && cacheFileRE.MatchString(e.Path)
}

// Files are the cache itself: a layer without a file is none.
func (cacheCollector) Files() []ecosystem.ImageFile {
	return []ecosystem.ImageFile{{Path: cachePath, Dir: true}}
}
