package image

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
	"company/internal/ecosystem/node"
	"company/internal/lib/hosttest"
	"company/internal/toolbox/toolproto"
)

var updateScreens = flag.Bool("update-screens", false, "write the screens that the failures give")

// npmPackages are the packages of a registry: manifest.json by name and version.
type npmPackages map[string]map[string]string

// newNPM is a registry of npm's with these packages. A request that spoil answers is
// answered no further.
func newNPM(t *testing.T, all npmPackages, spoil func(w http.ResponseWriter, r *http.Request) bool) *httptest.Server {
	t.Helper()
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if spoil != nil && spoil(w, r) {
			return
		}
		name, file, isFile := strings.Cut(strings.Trim(r.URL.Path, "/"), "/-/")
		versions, ok := all[name]
		switch {
		case !ok:
			http.NotFound(w, r)
		case isFile:
			version := strings.TrimSuffix(strings.TrimPrefix(file, name+"-"), ".tgz")
			if versions[version] == "" {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write(npmTarball(t, versions[version]))
		default:
			list := map[string]any{}
			for v, manifest := range versions {
				var m map[string]any
				_ = json.Unmarshal([]byte(manifest), &m)
				m["dist"] = map[string]string{"tarball": srv.URL + "/" + name + "/-/" + name + "-" + v + ".tgz",
					"integrity": npmDigest(t, manifest)}
				list[v] = m
			}
			_ = json.NewEncoder(w).Encode(
				map[string]any{"name": name, "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": list})
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

func npmTarball(t *testing.T, manifest string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	if err := errors.Join(
		w.WriteHeader(&tar.Header{Name: "package/package.json", Mode: 0o644, Size: int64(len(manifest))}),
		writeAll(w, manifest), w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func writeAll(w *tar.Writer, text string) error {
	_, err := w.Write([]byte(text))
	return err
}

func npmDigest(t *testing.T, manifest string) string {
	sum := sha512.Sum512(npmTarball(t, manifest))
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// npmProject is a project that needs one and two, with the lock file of both.
func npmProject(t *testing.T, all npmPackages) map[string]string {
	locked := map[string]any{"": map[string]any{"name": "x", "version": "1.0.0",
		"dependencies": map[string]string{"one": "1.0.0", "two": "1.0.0"}}}
	for name, versions := range all {
		p := map[string]any{"version": "1.0.0",
			"resolved":  "https://registry.npmjs.org/" + name + "/-/" + name + "-1.0.0.tgz",
			"integrity": npmDigest(t, versions["1.0.0"])}
		if strings.Contains(versions["1.0.0"], `"scripts"`) {
			p["hasInstallScript"] = true
		}
		locked["node_modules/"+name] = p
	}
	lock, err := json.Marshal(map[string]any{"name": "x", "version": "1.0.0", "lockfileVersion": 3, "packages": locked})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"package.json": `{"name":"x","version":"1.0.0","dependencies":{"one":"1.0.0","two":"1.0.0"}}`,
		"package-lock.json": string(lock)}
}

// showScreen is an error as the command line shows it, and what becomes of the task.
func showScreen(err error) string {
	var e *company.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("no error for people: %v\n", err)
	}
	why := e.Why
	if why == "" && e.Err != nil {
		why = e.Err.Error()
	}
	next := "the task tries again by itself"
	if company.NeedsPerson(err) {
		next = "the president is asked, and nothing is tried again before"
	}
	return fmt.Sprintf("error[%s]: %s\n  why:  %s\n  fix:  %s\n  then: %s\n", e.Code, e.Message, why, e.Hint, next)
}

var portRE = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// checkScreen compares a screen with the one in testdata/screens.
func checkScreen(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	got := portRE.ReplaceAllString(showScreen(err), "registry.example")
	file := filepath.Join("testdata", "screens", name+".txt")
	if *updateScreens {
		writeTo(t, file, got)
	}
	want, rerr := os.ReadFile(file)
	if rerr != nil || got != string(want) {
		t.Errorf("%v\n%s\nwant\n%s\nthe whole output:\n%s", rerr, got, want, company.DetailsOf(err))
	}
}

// The usual packages: two depends on nothing, and its manifest takes more.
const (
	packageOne = `{"name":"one","version":"1.0.0"}`
	packageTwo = `{"name":"two","version":"1.0.0"%s}`
)

func npmWith(more string) npmPackages {
	return npmPackages{"one": {"1.0.0": packageOne}, "two": {"1.0.0": strings.Replace(packageTwo, "%s", more, 1)}}
}

// Each kind of bad input from a registry or a manifest ends in one screen, which says
// what failed, why and the one remedy; what cannot change is not tried again. Nothing
// takes longer than a registry is waited for. The client is the real one, on this host.
func TestRegistryFailureScreens(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		hosttest.Lacks(t, "there is no npm: %v", err)
	}
	answer := func(file string, with func(w http.ResponseWriter, r *http.Request)) func(http.ResponseWriter,
		*http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, file) {
				return false
			}
			with(w, r)
			return true
		}
	}
	status := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", code) }
	}
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	half := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("half of it"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	wrongFile := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(npmTarball(t, "{}")) }
	manifest := func(text string) func(map[string]string) map[string]string {
		return func(map[string]string) map[string]string { return map[string]string{"package.json": text} }
	}
	replace := func(file, old, text string) func(map[string]string) map[string]string {
		return func(files map[string]string) map[string]string {
			files[file] = strings.Replace(files[file], old, text, 1)
			return files
		}
	}
	var all sync.WaitGroup // they wait for npm, and compute little: all begin at once
	defer all.Wait()
	for _, c := range []struct {
		name   string
		spoil  func(http.ResponseWriter, *http.Request) bool
		away   bool // nothing listens at the registry's address
		change func(map[string]string) map[string]string
		again  bool
	}{
		{name: "the lock file does not fit its manifest", change: replace("package.json", `"two":"1.0.0"`, `"two":"2.0.0"`)},
		{name: "the lock file lacks an optional package",
			change: replace("package-lock.json", `"integrity"`, `"optionalDependencies":{"three":"1.0.0"},"integrity"`)},
		{name: "the lock file is not JSON", change: replace("package-lock.json", `{`, "<<<<<<< ours\n{"), again: true},
		{name: "the registry is away", away: true},
		{name: "the registry has all but one", spoil: answer("/two-1.0.0.tgz", status(http.StatusNotFound))},
		{name: "the registry fails for one of many", spoil: answer("/two-1.0.0.tgz", status(http.StatusInternalServerError))},
		{name: "the registry refuses the login", spoil: answer("/two-1.0.0.tgz", status(http.StatusUnauthorized))},
		{name: "the registry has another file", spoil: answer("/two-1.0.0.tgz", wrongFile)},
		{name: "the registry accepts and hangs", spoil: answer("", hang), again: true},
		{name: "the registry hangs in the middle of a file", spoil: answer("/two-1.0.0.tgz", half), again: true},
		{name: "a version that the registry does not have", change: manifest(`{"name":"x","dependencies":{"one":"^7.0.0"}}`)},
		{name: "a package that the registry does not have", change: manifest(`{"name":"x","dependencies":{"three":"1.0.0"}}`),
			again: true},
	} {
		all.Go(func() {
			t.Run(c.name, func(t *testing.T) {
				if c.again {
					hosttest.Long(t, "a failure that shows as another one does, or packages of Debian")
				}
				files := npmProject(t, npmWith(""))
				if c.change != nil {
					files = c.change(files)
				}
				srv := newNPM(t, npmWith(""), c.spoil)
				if c.away {
					srv.Close()
				}
				up := upstreams()
				if strings.Contains(c.name, "hangs") { // a busy machine may take longer for an answer that comes
					up.Patience = 2 * time.Second
				}
				up.Registries[ecosystem.NPM] = ecosystem.At(ecosystem.Endpoint{URL: srv.URL})
				checkScreen(t, strings.ReplaceAll(c.name, " ", "-"), installOnHost(t, up, newProject(t).commit(files)))
			})
		})
	}
}

// installOnHost runs the steps of npm's layer, or of a resolution, with this host's npm
// where a build container would run them.
func installOnHost(t *testing.T, up depproxy.Upstreams, repo *Repo) error {
	t.Helper()
	store, err := depproxy.Open(t.TempDir(), up)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	b, err := New(Config{CacheDir: t.TempDir(), Registries: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	ctx, plan, req := newContext(t), &layerPlan{b: b}, Request{Toolchains: []string{"node"}, Repo: repo}
	tree, err := listTree(ctx, *repo, repo.Commit)
	if err != nil {
		t.Fatal(err)
	}
	sources := newSources(ctx, plan, tree, req)
	all, err := node.Ecosystem{}.Installs(sources)
	if err != nil {
		t.Fatal(err)
	}
	open, err := node.Ecosystem{}.Resolutions(sources)
	if err != nil {
		t.Fatal(err)
	}
	var in ecosystem.Install
	access := &registryAccess{store: store, policy: depproxy.NewPolicy()}
	switch {
	case len(all) == 1 && len(open) == 0:
		in = all[0]
		if access, err = plan.installAccess(req, in); err != nil {
			t.Fatal(err)
		}
	case len(all) == 0 && len(open) == 1:
		in = ecosystem.Install{Stage: open[0].Stage, Steps: []ecosystem.Step{open[0].Step}, Says: open[0].Says}
		for _, d := range open[0].Wants {
			access.policy.AllowWithNeeds(d)
		}
	default:
		t.Fatalf("%d layers and %d resolutions", len(all), len(open))
	}
	mirror := httptest.NewServer(access.newHandler())
	t.Cleanup(mirror.Close)
	dir := t.TempDir()
	for _, f := range in.Stage {
		writeTo(t, filepath.Join(dir, f.Path), string(f.Text))
	}
	return access.explainError(b.runSteps(ctx, in, func(step ecosystem.Step) (toolproto.RunResult, error) {
		cmd := exec.CommandContext(ctx, "sh", "-c", step.Command)
		cmd.Dir, cmd.Env = filepath.Join(dir, step.Dir), os.Environ()
		for name, value := range step.Env {
			value = strings.ReplaceAll(strings.ReplaceAll(value, MirrorURL, mirror.URL), "/tmp/", dir+"/")
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		out, err := cmd.CombinedOutput()
		if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
			return toolproto.RunResult{}, err
		}
		return toolproto.RunResult{ExitCode: cmd.ProcessState.ExitCode(),
			Stderr: toolproto.Output{Head: strings.ReplaceAll(string(out), mirror.URL, MirrorURL)}}, nil
	}))
}

// The same for what fails or hangs in a container: scripts of packages, and the
// president's own commands.
func TestContainerFailureScreens(t *testing.T) {
	for _, c := range []struct {
		name, script, setup string
		limit               time.Duration // of one command; zero: as long as it takes, for it ends by itself
		variant             bool
	}{
		{name: "an install script fails", script: "echo no compiler >&2; exit 3", variant: true},
		// of which npm has its time first
		{name: "an install script hangs", script: "sleep 86400", limit: 40 * time.Second, variant: true},
		{name: "a set-up command fails", setup: "echo 'no such mirror' >&2; exit 4", variant: true},
		{name: "a set-up command hangs", setup: "sleep 86400", limit: 2 * time.Second},
		{name: "a set-up command needs more memory than there is", setup: "head -c 900000000 /dev/zero | tail"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.variant {
				hosttest.Long(t, "a failure that shows as another one does, or packages of Debian")
			}
			be := newTestBuilder(t)
			be.stepTimeout = cmp.Or(c.limit, 10*time.Minute)
			be.sizes = container.NewSizes(container.Limits{MemoryBytes: 512 * container.MiB}, 0)
			req := Request{Setup: []string{c.setup}}
			if c.script != "" {
				all := npmWith(`,"scripts":{"install":"` + c.script + `"}`)
				up := upstreams()
				up.Registries[ecosystem.NPM] = ecosystem.At(ecosystem.Endpoint{URL: newNPM(t, all, nil).URL})
				useRegistries(t, be, up, t.TempDir())
				req = Request{Toolchains: []string{"node"}, Repo: newProject(t).commit(npmProject(t, all)),
					Scripts: []string{"two"}}
			}
			be.dropAtEnd(t, req, newBuiltBase())
			_, err := be.Ensure(newContext(t), req)
			checkScreen(t, strings.ReplaceAll(c.name, " ", "-"), err)
		})
	}
}
