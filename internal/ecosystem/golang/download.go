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

// downloadTimeout limits the download of the modules of one go.mod.
const downloadTimeout = 10 * time.Minute

// says describes error messages of the go command.
var says = ecosystem.Words{Permanent: []string{
	"checksum mismatch", "SECURITY ERROR", "unknown revision", "malformed module path", "errors parsing go.mod",
	"invalid go version", "missing go.sum entry", tooOld,
}}

// tooOld is the go command's message if a go.mod needs a newer version.
const tooOld = "; GOTOOLCHAIN=local)"

// fetched returns a layer with the modules of the lock files. It is made on the host, whose go command knows the
// operator's proxies. No code can run, because only the text of the lock files is present. If not every module is
// permitted, the go command uses a mirror. A go.mod has more ways to request modules and versions than a check of its
// text can detect.
func (m *modules) fetched() ecosystem.Install {
	what := ecosystem.LockPaths(m.download, "go.mod")
	return ecosystem.Install{
		Layer: "gomod", Why: "the modules of " + what, What: what, Registry: ecosystem.Go, Remote: true,
		Inputs: append(slices.Clone(m.inputs), "with the module graph"), Says: says, Fetch: m.fetch, ReadOnly: true,
		Collector: func() ecosystem.Collector { return moduleCollector{m} },
	}
}

// fetch downloads the modules into a cache.
func (m *modules) fetch(ctx context.Context, fetchHost ecosystem.FetchHost) error {
	texts, err := m.s.ReadTexts(m.locks)
	if err != nil {
		return err
	}
	if err := fetchHost.Stage(texts); err != nil {
		return err
	}
	env, err := downloadEnv(ctx, fetchHost, local)
	if err != nil {
		return err
	}
	done, err := m.downloadWorkspaces(ctx, fetchHost, env)
	if err != nil {
		return err
	}
	for i, dir := range m.download {
		if done[dir] {
			continue
		}
		file := path.Join(dir, "go.mod")
		fetchHost.ReportProgress("downloading the Go modules of %s", file)
		err := downloadModules(ctx, fetchHost, dir, env)
		if err == nil {
			continue
		}
		told := fetchHost.Explain(ctx, err)
		isUnexplained := told == err //nolint:errorlint // whether the very same error came back
		if i == 0 && dir == "." && !(m.isBase && isMissing(err) && isUnexplained) {
			return err
		}
		downloadEach(ctx, fetchHost, texts[file], env) // one unavailable module must not prevent the others
		m.lacks = append(m.lacks, fmt.Sprintf("the modules of %s cannot be downloaded; its gates may fail: %v", file, told))
		fetchHost.ReportProgress("%s", m.lacks[len(m.lacks)-1])
	}
	return nil
}

// local makes the go command use its own version only.
const local = "local"

// goCommand returns the path of the go command in the image's version.
func goCommand(h ecosystem.FetchHost) string {
	if tree := h.Places().Toolchain; tree != "" {
		return filepath.Join(tree, "bin", "go")
	}
	return "go"
}

// downloadModules runs `go mod download` in a directory that holds lock files only.
func downloadModules(ctx context.Context, fetchHost ecosystem.FetchHost, dir string, env []string) error {
	if err := checkReplaced(ctx, fetchHost, dir, env); err != nil {
		return err
	}
	return runDownload(ctx, fetchHost, dir, env)
}

// runDownload runs go mod download in a folder of the tree.
func runDownload(ctx context.Context, fetchHost ecosystem.FetchHost, dir string, env []string) error {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	_, err := fetchHost.Run(ctx, filepath.Join(fetchHost.Places().Source, dir), env, goCommand(fetchHost), "mod",
		"download")
	switch {
	case err == nil:
		downloadGraph(ctx, fetchHost, dir, env)
		return nil
	case strings.Contains(err.Error(), tooOld):
		return company.E(company.EImage, "the project's Go modules need a newer Go, which is not available").Wrap(err).
			Fix("install that version of Go on this host, or set `go env GOPROXY` to a proxy that has " +
				"golang.org/toolchain").NeedsPerson()
	}
	return company.E(company.EImage, "the project's Go modules cannot be downloaded").Wrap(err).
		Fix("check `go env GOPROXY` and that `go mod download` works in your checkout; or go on without them, with " +
			"container.deps: off: what needs them stays red")
}

// graphTimeout limits the download of the go.mod files of one module graph.
const graphTimeout = 2 * time.Minute

// downloadGraph downloads the go.mod files and times of all versions in the module graph, also beyond the built
// modules. These are some kilobytes each, which the go command compares with go.sum. `go doc` of a package outside of
// the module and `go list -m all` read all of them, offline too. A failure is only logged, because no check needs
// them.
func downloadGraph(ctx context.Context, fetchHost ecosystem.FetchHost, dir string, env []string) {
	ctx, cancel := context.WithTimeout(ctx, graphTimeout)
	defer cancel()
	const nothing = `{{""}}` // output of each module, which is not needed here
	if _, err := fetchHost.Run(ctx, filepath.Join(fetchHost.Places().Source, dir), env, goCommand(fetchHost), "list", "-m",
		"-e", "-f", nothing,
		"all"); err != nil {
		fetchHost.Log(ctx, "go.mod files of the module graph cannot be downloaded; go doc of other modules may fail", err)
	}
}

// checkReplaced returns an error for a go.mod with a replacement outside of the repository.
func checkReplaced(ctx context.Context, fetchHost ecosystem.FetchHost, dir string, env []string) error {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	root := fetchHost.Places().Source
	dir = filepath.Join(root, dir)
	out, err := fetchHost.Run(ctx, dir, env, goCommand(fetchHost), "mod", "edit", "-json")
	if err != nil {
		return company.E(company.EImage, "cannot read go.mod of the base commit").Wrap(err).
			Fix("check it with `go mod verify` in your checkout").NeedsPerson()
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

// checkReplacement returns an error for a local path outside of the repository, where the host's files are.
func checkReplacement(file, root, dir, to string) error {
	rel, err := filepath.Rel(root, filepath.Join(dir, filepath.FromSlash(to)))
	if filepath.IsAbs(to) || err != nil || !filepath.IsLocal(rel) {
		return company.E(company.EImage, fmt.Sprintf("%s replaces a module by %q, outside the repository", file, to)).
			Because("a worker only has the repository").
			Fix("remove the replace directive from the base commit, or vendor the module").NeedsPerson()
	}
	return nil
}

// downloadEach downloads the requirements of a go.mod independently. Unavailable modules are skipped.
func downloadEach(ctx context.Context, fetchHost ecosystem.FetchHost, text []byte, env []string) {
	mod, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil || len(mod.Require) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	argv := []string{goCommand(fetchHost), "mod", "download"}
	for _, r := range mod.Require {
		argv = append(argv, r.Mod.Path+"@"+r.Mod.Version)
	}
	if _, err := fetchHost.Run(ctx, fetchHost.Places().Home, env, argv...); err != nil { // it has no go.mod
		fetchHost.Log(ctx, "some modules of a part cannot be downloaded", err)
	}
}

// downloadEnv returns the environment of `go mod download`. It takes only the operator's choice of registry. Module
// names are untrusted text, so they may reach only proxies. No server that a name points to and no version control
// program on the host gets them.
//
// toolchain is local, or the release that the go command must fetch.
//
// The operator's passwords, in GOPROXY's addresses and in .netrc, may be used only with logins.
func downloadEnv(ctx context.Context, fetchHost ecosystem.FetchHost, toolchain string) ([]string, error) {
	out, err := fetchHost.Ask(ctx, []string{"GOTOOLCHAIN=local", "GOWORK=off"}, "go", "env", "-json", "GOPROXY", "GOSUMDB",
		"GONOSUMDB", "GOPRIVATE", "GOINSECURE", "GOROOT")
	if err != nil {
		return nil, company.E(company.EImage, "the host's go command does not answer").Wrap(err)
	}
	var op map[string]string
	if err := json.Unmarshal([]byte(out), &op); err != nil {
		return nil, err
	}
	fetchPlaces := fetchHost.Places()
	proxies, err := chooseProxies(op["GOPROXY"], fetchPlaces)
	if err != nil {
		return nil, err
	}
	noSum := op["GONOSUMDB"]
	if noSum == "" {
		noSum = op["GOPRIVATE"]
	}
	// The go command writes telemetry to HOME in a separate process. It would outlive this one and write into a deleted
	// directory.
	if err := fetchHost.Write(".config/go/telemetry/mode", []byte("off")); err != nil {
		return nil, err
	}
	env := []string{
		"PATH=" + filepath.Join(cmp.Or(fetchPlaces.Toolchain, op["GOROOT"]), "bin") + ":/usr/bin:/bin",
		"HOME=" + fetchPlaces.Home,
		"TMPDIR=" + fetchPlaces.Home,
		"GOPROXY=" + strings.Join(proxies, ","), "GONOPROXY=none", "GOSUMDB=" + op["GOSUMDB"], "GONOSUMDB=" + noSum,
		"GOINSECURE=" + op["GOINSECURE"],
		"GOMODCACHE=" + fetchPlaces.Out, "GOCACHE=" + filepath.Join(fetchPlaces.Home, "gocache"), "GOENV=off",
		"GOFLAGS=-modcacherw",
		"GOTOOLCHAIN=" + toolchain, "GOVCS=*:off", "GOWORK=off",
	}
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if v, ok := fetchHost.Getenv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	netrc := "/dev/null"
	if fetchPlaces.UseLogins { // passwords for the proxies' hosts; no other host is contacted
		if netrc, _ = fetchHost.Getenv("NETRC"); netrc == "" && fetchPlaces.User != "" {
			netrc = filepath.Join(fetchPlaces.User, ".netrc")
		}
	}
	return append(env, "NETRC="+netrc), nil
}

// chooseProxies returns the operator's proxies that may be used. A mirror replaces all proxies outside of this host.
func chooseProxies(setting string, fetchPlaces ecosystem.FetchPlaces) ([]string, error) {
	proxies := strings.FieldsFunc(setting, func(r rune) bool { return r == ',' || r == '|' })
	proxies = slices.DeleteFunc(proxies, func(p string) bool { return p == "direct" || p == "off" })
	if len(proxies) == 0 {
		return nil, company.E(company.EImage, "no Go module proxy is configured").
			Because("modules are only fetched from proxies, never from the URLs in a go.mod").
			Fix("set one with `go env -w GOPROXY=…`, vendor the modules, or go on without them, with container.deps: off: " +
				"what needs them stays red").NeedsPerson()
	}
	if !fetchPlaces.UseLogins {
		proxies = slices.DeleteFunc(proxies, hasLogin)
	}
	if fetchPlaces.Mirror != "" {
		proxies = append(slices.DeleteFunc(proxies, func(p string) bool { return !strings.HasPrefix(p, "file://") }),
			fetchPlaces.Mirror+"/go")
	}
	if len(proxies) == 0 {
		proxies = []string{"off"} // with an empty list, the go command uses its default
	}
	return proxies, nil
}

func hasLogin(proxy string) bool {
	u, err := url.Parse(proxy)
	return err != nil || u.User != nil
}

// moduleCollector copies a module cache without locks and without answers of the checksum database. go.sum is
// verified again in the container.
type moduleCollector struct{ of *modules }

// Notes lists the modules that could not be downloaded.
func (c moduleCollector) Notes() []string { return c.of.lacks }

// Place puts an entry into the image's module cache.
func (moduleCollector) Place(entry ecosystem.Entry) (ecosystem.Entry, bool) {
	// A module's own files and folders may have such names.
	isLock := entry.Path == "cache/lock" ||
		strings.HasSuffix(entry.Path, ".lock") && path.Base(path.Dir(entry.Path)) == "@v"
	ok := entry.Link == "" && filepath.IsLocal(entry.Path) &&
		!ecosystem.IsWithin(entry.Path, "cache/download/sumdb") && !isLock
	return ecosystem.Entry{Path: path.Join(modulesPath, entry.Path)}, ok
}

// Files returns the cache folder itself.
func (moduleCollector) Files() []ecosystem.ImageFile {
	return []ecosystem.ImageFile{{Path: modulesPath, Dir: true}}
}
