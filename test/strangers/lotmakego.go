package strangers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

// graphModules are large modules: their go.sum files name, with sums, the modules that
// the list of the Go proxy is made of. The proxy's own index is not asked.
var graphModules = []string{
	"github.com/prometheus/prometheus@v0.316.0",
	"github.com/hashicorp/terraform@v1.13.3",
	"github.com/grafana/loki/v3@v3.7.8",
	"github.com/aquasecurity/trivy@v0.74.0",
	"github.com/traefik/traefik/v3@v3.7.13",
	"istio.io/istio@v0.0.0-20260827124520-eed52ebb66ad",
	"github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c",
	"github.com/golangci/golangci-lint/v2@v2.15.0",
	"github.com/cilium/cilium@v1.20.2",
	"github.com/cosmos/cosmos-sdk@v0.55.0",
	"github.com/cockroachdb/pebble@v1.1.5",
}

// graphPackages are npm packages whose graph is installed to find the archives with tests.
var graphPackages = strings.Fields(`eslint-plugin-react eslint-plugin-import standard tape tap@16 mocha express pino
	fastify webpack-cli webpack gulp cheerio request yargs levelup browserify`)

// listModules returns the modules that the go.sum files of graphModules name, each in
// its newest version there.
func listModules(ctx context.Context) ([]Listed, error) {
	cache, err := os.MkdirTemp("", "company-lists-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = removeCopy(cache) }()
	newest := map[string]Listed{}
	for _, module := range graphModules {
		cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
		cmd.Dir, cmd.Env = os.TempDir(), append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOMODCACHE="+cache)
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go mod download %s: %w: %s", module, err, out)
		}
		var got struct{ Dir string }
		if err := json.Unmarshal(out, &got); err != nil {
			return nil, err
		}
		sums, err := os.ReadFile(filepath.Join(got.Dir, "go.sum"))
		if err != nil {
			return nil, err
		}
		addSums(newest, string(sums))
	}
	var list []Listed
	for _, l := range newest {
		list = append(list, l)
	}
	return limitList(list, mostModules), nil
}

// addSums adds the modules of a go.sum file. One of which it names the go.mod alone has
// no sum of its archive.
func addSums(newest map[string]Listed, sums string) {
	for line := range strings.Lines(sums) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		version, manifest := strings.CutSuffix(f[1], "/go.mod")
		one := Listed{Stratum: GoProxy, Name: f[0], Version: version, Digest: f[2]}
		if manifest {
			one.Digest = ""
		}
		old, known := newest[one.Name]
		switch {
		case !known || semver.Compare(old.Version, version) < 0, old.Version == version && one.Digest != "":
			newest[one.Name] = one
		}
	}
}

// listNpmPackages installs the graph of graphPackages and returns those of its packages
// that have a test script and tests in their archive.
func listNpmPackages(ctx context.Context) ([]Listed, error) {
	dir, err := os.MkdirTemp("", "company-lists-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		return nil, err
	}
	install := append([]string{"npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"},
		graphPackages...)
	if err := runHere(ctx, dir, nil, install...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, err
	}
	newest := map[string]Listed{}
	for at, p := range lock.Packages {
		_, name, nested := cutLast(at, "node_modules/")
		if !nested || p.Integrity == "" {
			continue
		}
		tested, err := hasTests(filepath.Join(dir, filepath.FromSlash(at)))
		if err != nil {
			return nil, err
		}
		if old := newest[name]; tested && semver.Compare("v"+old.Version, "v"+p.Version) < 0 {
			newest[name] = Listed{Stratum: Npm, Name: name, Version: p.Version, Digest: p.Integrity}
		}
	}
	var list []Listed
	for _, l := range newest {
		list = append(list, l)
	}
	return limitList(list, mostListed), nil
}

// cutLast cuts around the last place of a separator.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// testFileRE finds tests that lie in the root of a package of npm.
var testFileRE = regexp.MustCompile(`^tests?\.[cm]?js$|\.(test|spec)\.[cm]?[jt]sx?$`)

// hasTests reports whether an unpacked package of npm has a test script and tests.
func hasTests(dir string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it is for another platform
	}
	if err != nil {
		return false, err
	}
	var manifest struct{ Scripts map[string]string }
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &manifest); err != nil {
		return false, nil // no manifest that a client would read
	}
	if script := manifest.Scripts["test"]; script == "" || strings.Contains(script, "no test specified") {
		return false, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		switch {
		case e.IsDir() && (e.Name() == "test" || e.Name() == "tests" || e.Name() == "__tests__" || e.Name() == "spec"):
			return true, nil
		case testFileRE.MatchString(e.Name()):
			return true, nil
		}
	}
	return false, nil
}
