package golang

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"company/internal/company"
	"company/internal/ecosystem"
)

// downloadTimeout bounds the modules of one go.mod.
const downloadTimeout = 10 * time.Minute

// says is how the go command fails.
var says = ecosystem.Words{Permanent: []string{
	"checksum mismatch", "SECURITY ERROR", "unknown revision", "malformed module path", "errors parsing go.mod", "invalid go version", "missing go.sum entry", tooOld,
}}

// tooOld is how the go command says that a go.mod needs a newer one.
const tooOld = "; GOTOOLCHAIN=local)"

// fetched is a layer of the modules that the lock files name. It happens on the
// host, whose go command has the operator's own proxies; nothing but the text of
// the lock files is there, so no code can run. Where not everything may be had,
// the go command asks a mirror: a go.mod has more ways to name a module, and a
// version to look for, than a check of its text can know.
func (m *modules) fetched() ecosystem.Install {
	what := ecosystem.LockPaths(m.download, "go.mod")
	return ecosystem.Install{
		Layer: "gomod", Why: "the modules of " + what, What: what, Registry: ecosystem.Go, Remote: true, Inputs: append(slices.Clone(m.inputs), "with the module graph"), Says: says, Fetch: m.fetch, ReadOnly: true,
		Collector: func() ecosystem.Collector { return moduleCollector{m} },
	}
}

// fetch downloads the modules into a cache.
func (m *modules) fetch(ctx context.Context, h ecosystem.FetchHost) error {
	texts, err := m.s.ReadTexts(m.locks)
	if err != nil {
		return err
	}
	if err := h.Stage(texts); err != nil {
		return err
	}
	env, err := downloadEnv(ctx, h, local)
	if err != nil {
		return err
	}
	done, err := m.downloadWorkspaces(ctx, h, env)
	if err != nil {
		return err
	}
	for i, dir := range m.download {
		if done[dir] {
			continue
		}
		file := path.Join(dir, "go.mod")
		h.ReportProgress("downloading the Go modules of %s", file)
		err := downloadModules(ctx, h, dir, env)
		if err == nil {
			continue
		}
		told := h.Explain(ctx, err)
		isUnexplained := told == err //nolint:errorlint // whether the very same error came back
		if i == 0 && dir == "." && !(m.isBase && isMissing(err) && isUnexplained) {
			return err
		}
		downloadEach(ctx, h, texts[file], env) // one module that cannot be had must not cost the others
		m.lacks = append(m.lacks, fmt.Sprintf("the modules of %s cannot be downloaded; its gates may fail: %v", file, told))
		h.ReportProgress("%s", m.lacks[len(m.lacks)-1])
	}
	return nil
}

// local is the choice of the go command that is started, and of no other.
const local = "local"

// goCommand is the go command of the version that the image has.
func goCommand(h ecosystem.FetchHost) string {
	if tree := h.Places().Toolchain; tree != "" {
		return filepath.Join(tree, "bin", "go")
	}
	return "go"
}

// downloadModules runs `go mod download` in a directory that holds lock files only.
func downloadModules(ctx context.Context, h ecosystem.FetchHost, dir string, env []string) error {
	if err := checkReplaced(ctx, h, dir, env); err != nil {
		return err
	}
	return runDownload(ctx, h, dir, env)
}

// runDownload has the go command download what it needs in a folder of the tree.
func runDownload(ctx context.Context, h ecosystem.FetchHost, dir string, env []string) error {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	_, err := h.Run(ctx, filepath.Join(h.Places().Source, dir), env, goCommand(h), "mod", "download")
	switch {
	case err == nil:
		downloadGraph(ctx, h, dir, env)
		return nil
	case strings.Contains(err.Error(), tooOld):
		return company.E(company.EImage, "the project's Go modules need a newer Go, which cannot be had").Wrap(err).
			Fix("install that version of Go on this host, or see that `go env GOPROXY` names a proxy that has golang.org/toolchain").NeedsPerson()
	}
	return company.E(company.EImage, "the project's Go modules cannot be downloaded").Wrap(err).
		Fix("check `go env GOPROXY` and that `go mod download` works in your checkout; or go on without them, with container.deps: off: what needs them stays red")
}

// graphTimeout bounds the go.mod files of one module graph.
const graphTimeout = 2 * time.Minute

// downloadGraph downloads the go.mod files of the module graph beyond the modules that are built, and when their
// versions were made: some kilobytes each, which the go command compares with go.sum. `go doc` of a package outside of the module
// and `go list -m all` read all of them, offline too. Where they cannot be had, no check is worse off.
func downloadGraph(ctx context.Context, h ecosystem.FetchHost, dir string, env []string) {
	ctx, cancel := context.WithTimeout(ctx, graphTimeout)
	defer cancel()
	const nothing = `{{""}}` // of each module: its name is of no use here
	if _, err := h.Run(ctx, filepath.Join(h.Places().Source, dir), env, goCommand(h), "list", "-m", "-e", "-f", nothing, "all"); err != nil {
		h.Log(ctx, "go.mod files of the module graph cannot be downloaded; go doc of other modules may fail", err)
	}
}

// checkReplaced refuses a go.mod that leads out of the repository.
func checkReplaced(ctx context.Context, h ecosystem.FetchHost, dir string, env []string) error {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	root := h.Places().Source
	dir = filepath.Join(root, dir)
	out, err := h.Run(ctx, dir, env, goCommand(h), "mod", "edit", "-json")
	if err != nil {
		return company.E(company.EImage, "go.mod of the base commit cannot be read").Wrap(err).Fix("check it with `go mod verify` in your checkout").NeedsPerson()
	}
	var mod struct {
		Replace []struct {
			New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal([]byte(out), &mod); err != nil {
		return err
	}
	for _, r := range mod.Replace {
		if r.New.Version != "" {
			continue
		}
		if err := checkReplacement("go.mod", root, dir, r.New.Path); err != nil {
			return err
		}
	}
	return nil
}

// checkReplacement refuses a local path that leaves the repository: beyond it lies
// the host.
func checkReplacement(file, root, dir, to string) error {
	rel, err := filepath.Rel(root, filepath.Join(dir, filepath.FromSlash(to)))
	if filepath.IsAbs(to) || err != nil || !filepath.IsLocal(rel) {
		return company.E(company.EImage, fmt.Sprintf("%s replaces a module by %q, outside the repository", file, to)).
			Because("a worker has nothing but the repository").Fix("remove the replace directive from the base commit, or vendor the module").NeedsPerson()
	}
	return nil
}

// downloadEach downloads what a go.mod asks for, one module beside the other:
// those that cannot be had are left out.
func downloadEach(ctx context.Context, h ecosystem.FetchHost, text []byte, env []string) {
	mod, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil || len(mod.Require) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	argv := []string{goCommand(h), "mod", "download"}
	for _, r := range mod.Require {
		argv = append(argv, r.Mod.Path+"@"+r.Mod.Version)
	}
	if _, err := h.Run(ctx, h.Places().Home, env, argv...); err != nil { // no go.mod lies there
		h.Log(ctx, "some modules of a part cannot be downloaded", err)
	}
}

// downloadEnv is the environment of `go mod download`, from nothing but the
// operator's own choice of registry. Module names are attacker text, so they
// reach proxies only: no server that a name itself points to, and no version
// control program on the host.
//
// toolchain is local, or the release that the go command has to fetch.
//
// Only with logins may the operator's passwords be used: those in GOPROXY's
// addresses, and those of .netrc.
func downloadEnv(ctx context.Context, h ecosystem.FetchHost, toolchain string) ([]string, error) {
	out, err := h.Ask(ctx, []string{"GOTOOLCHAIN=local", "GOWORK=off"}, "go", "env", "-json", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOINSECURE", "GOROOT")
	if err != nil {
		return nil, company.E(company.EImage, "the host's go command does not answer").Wrap(err)
	}
	var op map[string]string
	if err := json.Unmarshal([]byte(out), &op); err != nil {
		return nil, err
	}
	at := h.Places()
	proxies, err := chooseProxies(op["GOPROXY"], at)
	if err != nil {
		return nil, err
	}
	noSum := op["GONOSUMDB"]
	if noSum == "" {
		noSum = op["GOPRIVATE"]
	}
	// The go command counts its own use in HOME, in a process of its own that
	// would outlive ours and write into a directory that is gone.
	if err := h.Write(".config/go/telemetry/mode", []byte("off")); err != nil {
		return nil, err
	}
	env := []string{
		"PATH=" + filepath.Join(cmp.Or(at.Toolchain, op["GOROOT"]), "bin") + ":/usr/bin:/bin", "HOME=" + at.Home, "TMPDIR=" + at.Home,
		"GOPROXY=" + strings.Join(proxies, ","), "GONOPROXY=none", "GOSUMDB=" + op["GOSUMDB"], "GONOSUMDB=" + noSum, "GOINSECURE=" + op["GOINSECURE"],
		"GOMODCACHE=" + at.Out, "GOCACHE=" + filepath.Join(at.Home, "gocache"), "GOENV=off", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=" + toolchain, "GOVCS=*:off", "GOWORK=off",
	}
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if v, ok := h.Getenv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	netrc := "/dev/null"
	if at.UseLogins { // the proxies' passwords, for the proxies' hosts. Nothing else is asked.
		if netrc, _ = h.Getenv("NETRC"); netrc == "" && at.User != "" {
			netrc = filepath.Join(at.User, ".netrc")
		}
	}
	return append(env, "NETRC="+netrc), nil
}

// chooseProxies are those of the operator that may be asked. A mirror stands for
// all that lie outside this host.
func chooseProxies(setting string, at ecosystem.FetchPlaces) ([]string, error) {
	proxies := strings.FieldsFunc(setting, func(r rune) bool { return r == ',' || r == '|' })
	proxies = slices.DeleteFunc(proxies, func(p string) bool { return p == "direct" || p == "off" })
	if len(proxies) == 0 {
		return nil, company.E(company.EImage, "no Go module proxy is configured").
			Because("modules are fetched from proxies only, never from the addresses that a go.mod names").
			Fix("set one with `go env -w GOPROXY=…`, vendor the modules, or go on without them, with container.deps: off: what needs them stays red").NeedsPerson()
	}
	if !at.UseLogins {
		proxies = slices.DeleteFunc(proxies, hasLogin)
	}
	if at.Mirror != "" {
		proxies = append(slices.DeleteFunc(proxies, func(p string) bool { return !strings.HasPrefix(p, "file://") }), at.Mirror+"/go")
	}
	if len(proxies) == 0 {
		proxies = []string{"off"} // an empty list is the go command's own
	}
	return proxies, nil
}

func hasLogin(proxy string) bool {
	u, err := url.Parse(proxy)
	return err != nil || u.User != nil
}

// moduleCollector copies a module cache, less locks and the checksum database's
// answers: go.sum is checked again inside.
type moduleCollector struct{ of *modules }

// Notes are the modules that could not be downloaded.
func (c moduleCollector) Notes() []string { return c.of.lacks }

// Place puts an entry into the image's module cache.
func (moduleCollector) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	// A module's own files and folders may be called so too.
	isLock := e.Path == "cache/lock" || strings.HasSuffix(e.Path, ".lock") && path.Base(path.Dir(e.Path)) == "@v"
	ok := e.Link == "" && filepath.IsLocal(e.Path) && !ecosystem.IsWithin(e.Path, "cache/download/sumdb") && !isLock
	return ecosystem.Entry{Path: path.Join(modulesPath, e.Path)}, ok
}

// Files are the cache itself.
func (moduleCollector) Files() []ecosystem.ImageFile {
	return []ecosystem.ImageFile{{Path: modulesPath, Dir: true}}
}
