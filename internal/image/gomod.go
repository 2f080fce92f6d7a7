package image

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/ecosystem"
)

// maxLockFile bounds one file that names dependencies, in bytes.
const maxLockFile = 32 << 20

// goDeps is what the lock files of a base commit say.
type goDeps struct {
	locks    []lockFile // all, sorted by path
	modules  []string   // directories with a go.mod, "." first
	download []string   // those of them whose modules come from a registry
	vendored bool       // some module carries its dependencies along
}

// needsBuild tells whether there is something to compile ahead.
func (d goDeps) needsBuild() bool { return d.vendored || len(d.download) > 0 }

// keyInputs is what keys the layers: names and contents of all lock files.
func (d goDeps) keyInputs() []string {
	var out []string
	for _, l := range d.locks {
		out = append(out, l.path, l.blob)
	}
	return out
}

// shellDirs are the modules' directories as arguments of a shell.
func (d goDeps) shellDirs() string { return strings.Join(d.modules, " ") }

// readGoDeps reads the lock files' names and ids from git, and the text of those
// go.mod files that could need a download.
func (b *Builder) readGoDeps(ctx context.Context, tree treeFiles, offline bool) (goDeps, error) {
	var d goDeps
	vendor := map[string]bool{}
	for _, l := range tree.entries {
		dir, base := path.Split(l.path)
		dir = path.Clean("./" + dir)
		if base == "modules.txt" && path.Base(dir) == "vendor" {
			vendor[path.Dir(dir)] = true
		} else if !slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum"}, base) || !ecosystem.IsPlainPath(dir) {
			continue
		}
		ignored := base != "modules.txt" && ignoredByGo(dir)
		if ignored && base != "go.mod" {
			continue
		}
		// A replace directive may lead into a folder that the go command does
		// not look into by itself: its go.mod has to be there.
		d.locks = append(d.locks, l)
		if base == "go.mod" && !ignored {
			d.modules = append(d.modules, dir)
		}
	}
	slices.Sort(d.modules)
	if i := slices.Index(d.modules, "."); i > 0 {
		d.modules = slices.Insert(slices.Delete(d.modules, i, i+1), 0, ".")
	}
	if len(d.modules) > ecosystem.MaxProjects {
		b.reportProgress("only the first %d of %d Go modules are prepared", ecosystem.MaxProjects, len(d.modules))
		d.modules = d.modules[:ecosystem.MaxProjects]
	}
	for _, m := range d.modules {
		if vendor[m] {
			d.vendored = true
			continue
		}
		if offline {
			continue
		}
		text, err := tree.readText(ctx, path.Join(m, "go.mod"))
		if err != nil {
			return goDeps{}, err
		}
		if bytes.Contains(text, []byte("require")) {
			d.download = append(d.download, m)
		}
	}
	return d, nil
}

// ignoredByGo tells directories that the go command itself never looks into.
func ignoredByGo(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		if part == "testdata" || part == "vendor" || part != "." && (strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_")) {
			return true
		}
	}
	return false
}

// fillGoMod downloads the modules that the lock files name into a module cache
// of the image. It happens on the host, because only the host has a network;
// nothing but the text of the lock files is there, so no code can run. With a
// policy the go command asks us: a go.mod has more ways to name a module, and a
// version to look for, than a check of its text can know.
//
// Where the operator logs in at proxies, or calls modules private, a repository
// that may not use that has all of its modules served by us, too.
func (b *Builder) fillGoMod(repo Repo, deps goDeps, req Request) writeLayerFunc {
	fetch := &registryAccess{store: b.registryStore(req), policy: repo.Policy}
	if fetch.policy == nil && b.withLogins != nil && !req.UseLogins {
		fetch.policy = depproxy.NewOpenPolicy(ecosystem.Go)
	}
	return func(ctx context.Context, _ *existingImage, work string, l *layer) error {
		src, cache := filepath.Join(work, "src"), filepath.Join(work, "gomod")
		texts := map[string][]byte{}
		for _, f := range deps.locks {
			if path.Base(f.path) == "modules.txt" {
				continue
			}
			text, err := readBlob(ctx, repo, f.path, f.blob)
			if err != nil {
				return err
			}
			texts[f.path] = text
			host := filepath.Join(src, filepath.FromSlash(f.path))
			if err := os.MkdirAll(filepath.Dir(host), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(host, text, 0o600); err != nil {
				return err
			}
		}
		if err := checkWithheld(fetch.store, texts); err != nil {
			return err
		}
		if err := os.MkdirAll(cache, 0o700); err != nil {
			return err
		}
		env, err := downloadEnv(ctx, work, cache, req.UseLogins)
		if err != nil {
			return err
		}
		if fetch.policy != nil {
			proxy, stop, err := serveGo(fetch)
			if err != nil {
				return err
			}
			defer stop()
			env = withProxy(env, proxy)
		}
		for i, m := range deps.download {
			b.reportProgress("downloading the Go modules of %s", path.Join(m, "go.mod"))
			if err := downloadModule(ctx, filepath.Join(src, m), src, env); err != nil {
				if i > 0 || m != "." {
					// One module that cannot be had must not cost the others.
					b.downloadEach(ctx, filepath.Join(src, m), work, env)
					b.reportProgress("the modules of %s cannot be downloaded; its gates may fail: %v", path.Join(m, "go.mod"), fetch.explainError(err))
					continue
				}
				return fetch.explainError(err)
			}
		}
		return copyModules(l, cache)
	}
}

// checkWithheld refuses modules by their names that are not for this
// repository, before any request for them: a proxy on this host's disk asks for
// no password.
func checkWithheld(store *depproxy.Store, texts map[string][]byte) error {
	if store == nil {
		return nil
	}
	named, _ := depproxy.ParseLocks(texts)
	for _, d := range named {
		if err := store.Upstreams().WhyPrivate(d); err != nil {
			return err
		}
	}
	return nil
}

// serveGo serves Go modules within a policy to this host's go command, at an
// address that cannot be guessed.
func serveGo(fetch *registryAccess) (address string, stop func(), err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	prefix := "/" + rand.Text()
	web := &http.Server{Handler: http.StripPrefix(prefix, fetch.newHandler()), ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.Serve(l)
	}()
	return "http://" + l.Addr().String() + prefix + "/go", func() {
		_ = web.Close()
		<-done
	}, nil
}

// withProxy puts a proxy in the place of all that lie outside this host.
func withProxy(env []string, proxy string) []string {
	out := slices.Clone(env)
	for i, e := range out {
		if all, ok := strings.CutPrefix(e, "GOPROXY="); ok {
			own := slices.DeleteFunc(strings.Split(all, ","), func(p string) bool { return !strings.HasPrefix(p, "file://") })
			out[i] = "GOPROXY=" + strings.Join(append(own, proxy), ",")
		}
	}
	return out
}

// downloadModule runs `go mod download` in a directory that holds lock files
// only.
func downloadModule(ctx context.Context, dir, root string, env []string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	var out bytes.Buffer
	if err := runTool(ctx, dir, env, &out, "go", "mod", "edit", "-json"); err != nil {
		return markPermanent(company.E(company.EImage, "go.mod of the base commit cannot be read").Wrap(err).Fix("check it with `go mod verify` in your checkout"))
	}
	var mod struct {
		Replace []struct {
			New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &mod); err != nil {
		return err
	}
	for _, r := range mod.Replace {
		if r.New.Version != "" {
			continue
		}
		// A local path must stay in the repository: beyond it lies the host.
		to := filepath.Join(dir, filepath.FromSlash(r.New.Path))
		if rel, err := filepath.Rel(root, to); filepath.IsAbs(r.New.Path) || err != nil || !filepath.IsLocal(rel) {
			return markPermanent(company.E(company.EImage, fmt.Sprintf("go.mod replaces a module by %q, outside the repository", r.New.Path)).
				Because("a worker has nothing but the repository").Fix("remove the replace directive from the base commit, or vendor the module"))
		}
	}
	if err := runTool(ctx, dir, env, &out, "go", "mod", "download"); err != nil {
		e := company.E(company.EImage, "the project's Go modules cannot be downloaded").Wrap(err).
			Fix("check `go env GOPROXY` and that `go mod download` works in your checkout; or go on without them, with container.deps: off: what needs them stays red")
		if isPermanent(0, err.Error(), goErrors) {
			return markPermanent(e)
		}
		return e
	}
	return nil
}

// downloadEach downloads what a go.mod asks for, one module beside the other:
// those that cannot be had are left out.
func (b *Builder) downloadEach(ctx context.Context, dir, work string, env []string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return
	}
	mod, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil {
		return
	}
	argv := []string{"go", "mod", "download"}
	for _, r := range mod.Require {
		argv = append(argv, r.Mod.Path+"@"+r.Mod.Version)
	}
	if len(argv) == 3 {
		return
	}
	if err := runTool(ctx, work, env, io.Discard, argv...); err != nil { // work has no go.mod
		b.log.InfoContext(ctx, "some modules of a part cannot be downloaded", "err", err)
	}
}

// goErrors blame the files.
var goErrors = []string{"checksum mismatch", "SECURITY ERROR", "unknown revision", "malformed module path", "errors parsing go.mod", "invalid go version", "missing go.sum entry"}

// markPermanent marks what no second try mends.
func markPermanent(e *company.Error) error {
	return e.NeedsPerson()
}

// downloadEnv is the environment of `go mod download`, from nothing but the
// operator's own choice of registry. Module names are attacker text, so they
// reach proxies only: no server that a name itself points to, and no version
// control program on the host.
//
// Only with logins may the operator's passwords be used: those in GOPROXY's
// addresses, and those of .netrc.
func downloadEnv(ctx context.Context, home, cache string, logins bool) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "-json", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOINSECURE", "GOROOT")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOWORK=off")
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, company.E(company.EImage, "the host's go command does not answer").Wrap(err)
	}
	var op map[string]string
	if err := json.Unmarshal(out, &op); err != nil {
		return nil, err
	}
	proxies := strings.FieldsFunc(op["GOPROXY"], func(r rune) bool { return r == ',' || r == '|' })
	proxies = slices.DeleteFunc(proxies, func(p string) bool { return p == "direct" || p == "off" })
	if len(proxies) == 0 {
		return nil, markPermanent(company.E(company.EImage, "no Go module proxy is configured").
			Because("modules are fetched from proxies only, never from the addresses that a go.mod names").
			Fix("set one with `go env -w GOPROXY=…`, vendor the modules, or go on without them, with container.deps: off: what needs them stays red"))
	}
	if !logins {
		proxies = slices.DeleteFunc(proxies, func(p string) bool {
			u, err := url.Parse(p)
			return err != nil || u.User != nil
		})
		if len(proxies) == 0 {
			proxies = []string{"off"} // an empty list is the go command's own
		}
	}
	noSum := op["GONOSUMDB"]
	if noSum == "" {
		noSum = op["GOPRIVATE"]
	}
	// The go command counts its own use in HOME, in a process of its own that
	// would outlive ours and write into a directory that is gone.
	telemetry := filepath.Join(home, ".config", "go", "telemetry")
	if err := os.MkdirAll(telemetry, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(telemetry, "mode"), []byte("off"), 0o600); err != nil {
		return nil, err
	}
	env := []string{
		"PATH=" + filepath.Join(op["GOROOT"], "bin") + ":/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + home,
		"GOPROXY=" + strings.Join(proxies, ","), "GONOPROXY=none", "GOSUMDB=" + op["GOSUMDB"], "GONOSUMDB=" + noSum, "GOINSECURE=" + op["GOINSECURE"],
		"GOMODCACHE=" + cache, "GOCACHE=" + filepath.Join(home, "gocache"), "GOENV=off", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "GOVCS=*:off", "GOWORK=off",
	}
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if !logins {
		return append(env, "NETRC="+os.DevNull), nil
	}
	// The proxies' passwords, for the proxies' hosts. Nothing else is asked.
	netrc := os.Getenv("NETRC")
	if dir, err := os.UserHomeDir(); err == nil && netrc == "" {
		netrc = filepath.Join(dir, ".netrc")
	}
	return append(env, "NETRC="+netrc), nil
}

// copyModules adds a module cache, less locks and the checksum database's
// answers: go.sum is checked again inside.
func copyModules(l *layer, cache string) error {
	const inside = "opt/gomod"
	if err := l.addDir(inside, 0); err != nil {
		return err
	}
	err := filepath.WalkDir(cache, func(host string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(cache, host)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir() && rel == filepath.Join("cache", "download", "sumdb"):
			return filepath.SkipDir
		case e.IsDir():
			return l.addDir(path.Join(inside, filepath.ToSlash(rel)), 0)
		case !e.Type().IsRegular() || strings.HasSuffix(rel, ".lock") || rel == filepath.Join("cache", "lock"):
			return nil
		}
		return l.addHostFile(path.Join(inside, filepath.ToSlash(rel)), 0o444, host)
	})
	return err
}
