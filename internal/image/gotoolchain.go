package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
)

// Where Go lies inside an image. The build cache is keyed by these paths too,
// so baking and working use the same ones. The baked cache belongs to root and
// the go command wants one that it can write: the toolbox links the files of
// goCachePath into the worker's own cache when it starts.
const (
	goRootPath  = "/usr/local/go"
	goCachePath = "/opt/gocache"
	goModPath   = "/opt/gomod"

	buildOut   = "/opt/out" // what a build container leaves
	buildLog   = "/opt/out.log"
	buildCache = "/tmp/gocache" // in memory: thousands of links are slow on a layered disk
)

// saveCacheScript copies new files of the cache, and no links, to a place that
// can be read after the container ended.
const saveCacheScript = `cd ` + buildCache + ` && find . -type f -path './??/*' -exec cp --parents -t ` + buildOut + ` {} +
`

// withGoEnv adds what the go command needs to work offline. CGO_ENABLED and
// GOFLAGS are part of the build cache's keys.
func withGoEnv(env []string) []string {
	set := []string{
		"GOTOOLCHAIN=local", "GOPROXY=off", "GOSUMDB=off", "GOMODCACHE=" + goModPath,
		"GOFLAGS=-buildvcs=false", "CGO_ENABLED=0",
	}
	out := make([]string, 0, len(env)+len(set))
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if name == "PATH" {
			e = "PATH=" + goRootPath + "/bin:" + value
		}
		if !slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") }) && name != "GOROOT" && name != "GOPATH" {
			out = append(out, e)
		}
	}
	return append(out, set...)
}

// withCgo turns on what withGoEnv has turned off. What the standard library
// compiles to without C stays good for all that calls none.
func withCgo(env []string) []string {
	out := slices.Clone(env)
	for i, e := range out {
		if strings.HasPrefix(e, "CGO_ENABLED=") {
			out[i] = "CGO_ENABLED=1"
		}
	}
	return out
}

// goRoot is the Go that this host has.
type goRoot struct {
	dir       string
	version   string   // go1.26.8
	keyInputs []string // tells two toolchains apart without reading 200 MB
}

// hostGo finds the host's Go, once in the life of a Builder.
func (b *Builder) hostGo(ctx context.Context) (goRoot, error) {
	b.goOnce.Do(func() { b.goRoot, b.goErr = findGo(ctx) })
	return b.goRoot, b.goErr
}

func findGo(ctx context.Context) (goRoot, error) {
	missing := company.E(company.EImage, "the host's Go cannot be found").Fix("install Go and put its bin directory into PATH")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second) // kept for all callers
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOVERSION", "GOARCH", "GOOS")
	cmd.Dir = "/" // a go.mod where we stand must not choose another toolchain
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOFLAGS=", "GOWORK=off")
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil {
		return goRoot{}, missing.Wrap(err)
	}
	f := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(f) != 4 {
		return goRoot{}, missing.Because("`go env` gave no answer that is understood")
	}
	if f[3] != "linux" || f[2] != arch {
		return goRoot{}, missing.Because("it builds for " + f[3] + "/" + f[2] + ", a worker needs linux/" + arch)
	}
	root, err := filepath.EvalSymlinks(f[0])
	if err != nil {
		return goRoot{}, missing.Wrap(err)
	}
	g := goRoot{dir: root, version: f[1]}
	g.keyInputs = append(g.keyInputs, g.version)
	for _, tool := range []string{"bin/go", "pkg/tool/linux_" + arch + "/compile"} {
		info, err := os.Stat(filepath.Join(root, tool))
		if err != nil {
			return goRoot{}, missing.Wrap(err)
		}
		g.keyInputs = append(g.keyInputs, strconv.FormatInt(info.Size(), 10), strconv.FormatInt(info.ModTime().UnixNano(), 10))
	}
	return g, nil
}

// goExcluded are parts of GOROOT that no build reads.
var goExcluded = []string{"api", "doc", "test", "misc", ".git", "pkg/obj", "pkg/bootstrap"}

func (b *Builder) fillGo(g goRoot) writeLayerFunc {
	return func(ctx context.Context, _ *existingImage, _ string, l *layer) error {
		b.reportProgress("copying %s from %s", g.version, g.dir)
		leave := func(rel string) bool { return slices.Contains(goExcluded, rel) || path.Base(rel) == "testdata" }
		if err := copyTree(ctx, l, g.dir, goRootPath, leave); err != nil {
			return err
		}
		return l.addDir(strings.TrimPrefix(goModPath, "/"), 0)
	}
}

// cgoOnlyPackages are packages of the standard library that a program without cgo
// cannot link.
var cgoOnlyPackages = []string{"runtime/cgo", "runtime/race", "plugin"}

// fillGoStd compiles the standard library the three ways that people do:
// build, vet (whose facts are cached too) and test.
func (b *Builder) fillGoStd(ctx context.Context, under *existingImage, work string, l *layer) error {
	files, err := newLayer(filepath.Join(work, "files.tar"))
	if err != nil {
		return err
	}
	defer files.removeFile()
	// A program that imports everything, and a test in it: vet and test have
	// cache entries of their own, which "go build std" would not make.
	script := `set -eu; exec >` + buildLog + ` 2>&1
mkdir -p /work/warm && cd /work/warm
export GOCACHE=` + buildCache + `
go mod init warm
{ echo 'package warm'; go list std | grep -vE '(^|/)(internal|vendor)(/|$)|^(` + strings.Join(cgoOnlyPackages, "|") + `)$' | sed 's/.*/import _ "&"/'; } >warm.go
printf 'package warm\nimport "testing"\nfunc TestNothing(*testing.T) {}\n' >warm_test.go
go build ./...
go vet ./...
go test -exec=/bin/true ./...
` + saveCacheScript
	if err := addOutDirs(files); err != nil {
		return err
	}
	j := buildJob{name: "gostd-" + filepath.Base(work), image: under.id, files: files.newReader(), script: script, timeout: 15 * time.Minute}
	return b.runBuild(ctx, j, func(ctx context.Context, name string, exit int64) error {
		if exit != 0 {
			return company.E(company.EImage, "the standard library does not compile in a worker image").
				Because(fmt.Sprintf("exit code %d", exit)).Wrap(errors.New(b.readTail(ctx, name, buildLog)))
		}
		n, err := b.collectCache(ctx, name, l)
		if err == nil && n == 0 {
			err = errors.New("the compiler left an empty cache")
		}
		return err
	})
}

// addOutDirs ends the files of a build container with the places it writes to.
func addOutDirs(files *layer) error {
	if err := files.addDir(strings.TrimPrefix(buildOut, "/"), agentID); err != nil {
		return err
	}
	if err := files.writeHeader(&tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(buildLog, "/"), Mode: 0o644, Uid: agentID, Gid: agentID}); err != nil {
		return err
	}
	return files.close()
}

// cacheFileRE is a name in a build cache: action entries (-a) and outputs (-d).
var cacheFileRE = regexp.MustCompile(`^out/([0-9a-f]{2}/[0-9a-f]{64}-[ad])$`)

// maxCache bounds a baked cache.
const maxCache = 4 << 30

// collectCache copies the new files of a build cache from a stopped container
// into a layer. Links lead to what the image below has baked already.
func (b *Builder) collectCache(ctx context.Context, name string, l *layer) (int, error) {
	l.modTime = cacheTime
	var n int
	var total int64
	err := b.readTree(ctx, name, buildOut, func(h *tar.Header, r io.Reader) error {
		m := cacheFileRE.FindStringSubmatch(h.Name)
		if h.Typeflag != tar.TypeReg || m == nil {
			return nil
		}
		if total += h.Size; total > maxCache {
			return company.E(company.EImage, "the project's build cache is over 4 GiB").Fix("leave dependencies out of the image with container.deps: off")
		}
		n++
		return l.addStream(path.Join(strings.TrimPrefix(goCachePath, "/"), m[1]), 0o444, h.Size, r)
	})
	return n, err
}

// fillGoDeps compiles the base tree and what it needs. It may fail: a base that
// does not compile is the gates' business, and what did compile is kept.
func (b *Builder) fillGoDeps(repo Repo, deps goDeps) writeLayerFunc {
	return func(ctx context.Context, under *existingImage, work string, l *layer) error {
		files, err := newLayer(filepath.Join(work, "files.tar"))
		if err != nil {
			return err
		}
		defer files.removeFile()
		if err := packRepo(ctx, repo, work, files); err != nil {
			return err
		}
		if err := addOutDirs(files); err != nil {
			return err
		}
		// Test binaries are linked, which caches everything below them, and
		// then handed to /bin/true: nothing of the project is started.
		script := `exec >` + buildLog + ` 2>&1
cp -rs ` + goCachePath + ` ` + buildCache + ` || exit 90
git clone -q --shared ` + RepoPath + ` /work/src || exit 91
export GOCACHE=` + buildCache + `
timeout -k 10 900 /bin/sh -c '
rc=0 vet=0
for d in ` + deps.shellDirs() + `; do
	cd /work/src/"$d" || exit 92
	go build -o /dev/null ./... || rc=1
	go vet ./... || vet=93
	go test -exec=/bin/true ./... || vet=93
done
test $rc -ne 0 || exit $vet
exit $rc'
rc=$?
` + saveCacheScript + `exit $rc
`
		j := buildJob{name: "godeps-" + filepath.Base(work), image: under.id, files: files.newReader(), script: script, timeout: 20 * time.Minute}
		return b.runBuild(ctx, j, func(ctx context.Context, name string, exit int64) error {
			if exit != 0 {
				why := "does not build cleanly"
				switch exit {
				case 93:
					why = "builds, but go vet finds something in it or in its tests"
				case 124, 137:
					why = "takes too long to build"
				case 90, 91, 92:
					why = "does not fit into the build container"
				}
				b.reportProgress("the base commit %s; what did compile is kept", why)
				b.log.InfoContext(ctx, "baking a build cache ended with errors", "exit_code", exit, "output", b.readTail(ctx, name, buildLog))
			}
			if _, err := b.collectCache(ctx, name, l); err != nil {
				return err
			}
			return l.addDir(strings.TrimPrefix(goCachePath, "/"), 0) // an empty tar is no layer
		})
	}
}

// runTool runs a program of the host with an environment that is given whole,
// and returns what it printed. The error carries the end of its messages.
func runTool(ctx context.Context, dir string, env []string, stdout io.Writer, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout = dir, env, stdout
	var messages bytes.Buffer
	cmd.Stderr = &messages
	killGroup(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text := strings.TrimSpace(messages.String())
		if len(text) > 2048 {
			text = "… " + text[len(text)-2048:]
		}
		return fmt.Errorf("%s: %w: %s", filepath.Base(argv[0]), err, text)
	}
	return nil
}
