package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
)

// packageClient is one client of a registry, as it is used by hand and in an image.
// The words of steps may name the cache and the programs of the bench: {cache}, {home},
// and the address of its registry: {index}.
type packageClient struct {
	name       string
	registry   string // its kind
	toolchains []string
	told       string // what one must know of the numbers
	mirrored   bool   // its packages come through the mirror, which may be full

	files, quickFiles, emptyFiles map[string][]byte
	lockFiles                     []string
	programs                      []string // packages of npm that the client is
	env                           []string
	lock                          [][]string
	installs                      []installation

	seed func(ctx context.Context, d *depsBench, cache string) error // what the image has before, too; may be nil
	// the bench's own registry, or nil for the operator's
	serve func(d *depsBench) (ups depproxy.Upstreams, stop func(), _ error)
}

// The versions of the clients are those that the images have.
const (
	yarnProgram  = "yarn@1.22.22"
	pnpmProgram  = "pnpm@10.34.8"
	berryProgram = "@yarnpkg/cli-dist@4.18.1"
)

// nodeFiles is a project with these fields and packages.
func nodeFiles(manager, packages string) map[string][]byte {
	return map[string][]byte{"package.json": fmt.Appendf(
		nil, `{"name":"bench","version":"1.0.0","private":true%s,"dependencies":{%s}}`+"\n", manager, packages)}
}

const (
	nodePackages  = `"express":"4.19.2","jest":"29.7.0","typescript":"5.4.5"` // some 340
	quickPackages = `"is-odd":"3.0.1"`
)

func withPackages(c packageClient, manager string) packageClient {
	c.registry, c.mirrored = ecosystem.NPM, true
	c.files, c.quickFiles, c.emptyFiles = nodeFiles(manager, nodePackages), nodeFiles(manager, quickPackages),
		nodeFiles(manager, "")
	return c
}

// programFile is a file of a program that the bench has installed.
func programFile(name string) string { return "{home}/programs/node_modules/" + name }

// packageClients are those that can be measured.
var packageClients = []packageClient{
	withPackages(packageClient{
		name: "npm", toolchains: []string{"node"}, lockFiles: []string{"package-lock.json"},
		env: []string{"npm_config_cache={cache}/npm"},
		lock: [][]string{{"npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund",
			"--omit-lockfile-registry-resolved=false"}},
		installs: []installation{{what: "npm ci", layers: []string{"npm"}, steps: [][]string{
			{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"},
		}}},
	}, ""),
	withPackages(packageClient{
		name: "yarn", toolchains: []string{"node", "yarn"}, lockFiles: []string{"yarn.lock"}, programs: []string{yarnProgram},
		env: []string{"CI=true", "SKIP_YARN_COREPACK_CHECK=1", "YARN_CACHE_FOLDER={cache}/yarn"},
		lock: [][]string{{"node", programFile("yarn/bin/yarn.js"), "install", "--ignore-scripts", "--ignore-engines",
			"--non-interactive", "--no-progress"}},
		installs: []installation{{what: "yarn 1", layers: []string{"yarndeps"}, steps: [][]string{
			{"node", programFile("yarn/bin/yarn.js"), "install", "--frozen-lockfile", "--ignore-scripts", "--ignore-engines",
				"--non-interactive", "--no-progress"},
		}}},
	}, `,"packageManager":"`+yarnProgram+`"`),
	withPackages(packageClient{
		name: "berry", toolchains: []string{"node", "berry"}, lockFiles: []string{"yarn.lock"},
		programs: []string{berryProgram},
		env: []string{
			"YARN_GLOBAL_FOLDER={cache}/berry", "YARN_ENABLE_GLOBAL_CACHE=1", "YARN_NODE_LINKER=node-modules",
			"YARN_ENABLE_SCRIPTS=0", "YARN_ENABLE_TELEMETRY=0", "YARN_IGNORE_PATH=1",
			"YARN_ENABLE_PROGRESS_BARS=0", "YARN_ENABLE_COLORS=0", "YARN_ENABLE_IMMUTABLE_INSTALLS=0",
		},
		lock: [][]string{{"sh", "-c", ": >yarn.lock"},
			{"node", programFile("@yarnpkg/cli-dist/bin/yarn.js"), "install", "--mode=update-lockfile"}},
		installs: []installation{{what: "yarn 4", layers: []string{"berrydeps"}, steps: [][]string{
			{"node", programFile("@yarnpkg/cli-dist/bin/yarn.js"), "install"},
		}}},
	}, `,"packageManager":"yarn@4.18.1"`),
	withPackages(packageClient{
		name: "pnpm", toolchains: []string{"node", "pnpm"}, lockFiles: []string{"pnpm-lock.yaml"},
		programs: []string{pnpmProgram},
		env: []string{
			"CI=true", "COREPACK_ROOT=/", "npm_config_store_dir={cache}/pnpm/store", "npm_config_cache_dir={cache}/pnpm/cache",
			"npm_config_state_dir={cache}/pnpm/state", "npm_config_reporter=append-only",
		},
		lock: [][]string{{"node", programFile("pnpm/bin/pnpm.cjs"), "install", "--lockfile-only", "--ignore-scripts"}},
		installs: []installation{{what: "pnpm install", layers: []string{"pnpmdeps"}, steps: [][]string{
			{"node", programFile("pnpm/bin/pnpm.cjs"), "install", "--frozen-lockfile", "--ignore-scripts"},
		}}},
	}, `,"packageManager":"`+pnpmProgram+`"`),
	{
		name: "go", registry: ecosystem.Go, toolchains: []string{"go"}, lockFiles: []string{"go.mod", "go.sum"},
		files: goFiles(`_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/viper"
	_ "go.uber.org/zap"
	_ "google.golang.org/grpc"`, `github.com/prometheus/client_golang v1.19.1
	github.com/spf13/cobra v1.8.0
	github.com/spf13/viper v1.18.2
	go.uber.org/zap v1.27.0
	google.golang.org/grpc v1.64.0`),
		quickFiles: goFiles(`_ "github.com/spf13/pflag"`, "github.com/spf13/pflag v1.0.5"), emptyFiles: noFiles,
		env: []string{"GOMODCACHE={cache}/mod", "GOCACHE={cache}/build", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local",
			"GOWORK=off"},
		lock: [][]string{{"go", "mod", "tidy"}},
		installs: []installation{
			{what: "go mod download", layers: []string{"gomod"}, steps: [][]string{{"go", "mod", "download"}}},
			{what: "that, and go build, vet, test", layers: []string{"godeps"}, steps: [][]string{
				{"go", "build", "-o", "/dev/null", "./..."}, {"go", "vet", "./..."}, {"go", "test", "-exec=/bin/true", "./..."},
			}},
		},
		seed: seedBuildCache,
	},
	{
		name: "pip", registry: ecosystem.PyPI, toolchains: []string{"python"}, mirrored: true,
		told:  "the packages of pip were made up for the bench, and their registry is on this host",
		files: map[string][]byte{"requirements.txt": nil}, quickFiles: map[string][]byte{"requirements.txt": nil},
		emptyFiles: noFiles,
		env: []string{"PIP_CONFIG_FILE=/dev/null", "PIP_CACHE_DIR={cache}/pip", "PIP_DISABLE_PIP_VERSION_CHECK=1",
			"PIP_INDEX_URL={index}"},
		installs: []installation{{what: "pip install", layers: []string{"pip"}, steps: [][]string{
			{"python3", "-m", "venv", "--without-pip", "venv"},
			{"python3", "-m", "pip", "--python", "venv/bin/python", "install", "-q", "--only-binary", ":all:", "--no-deps",
				"--require-hashes", "-r", "requirements.txt"},
		}}},
		serve: serveWheels,
	},
	{
		name: "cargo", registry: ecosystem.Crates, toolchains: []string{"rust"}, mirrored: true,
		lockFiles:  []string{"Cargo.lock"},
		told:       "the crates were made up for the bench, and their registry is on this host",
		emptyFiles: noFiles,
		env:        []string{"CARGO_HOME={cache}/cargo"},
		lock:       [][]string{cargoCommand("generate-lockfile", "-q")},
		installs: []installation{{what: "cargo fetch", layers: []string{"cargo"},
			steps: [][]string{cargoCommand("fetch", "-q", "--locked")}}},
		serve: serveCrates,
	},
}

// cargoCommand is a command of cargo that takes crates from the registry of the bench.
func cargoCommand(args ...string) []string {
	return append(
		[]string{"cargo", "--config", `source.crates-io.replace-with="bench"`, "--config",
			`source.bench.registry="sparse+{index}/"`}, args...)
}

// noFiles is a project that asks for nothing.
var noFiles = map[string][]byte{"README": []byte("It needs nothing.\n")}

// goFiles is a module with these imports.
func goFiles(imports, requires string) map[string][]byte {
	return map[string][]byte{
		"go.mod":       []byte("module example.org/bench\n\ngo 1.22\n\nrequire (\n\t" + requires + "\n)\n"),
		"main.go":      []byte("package main\n\nimport (\n\t" + imports + "\n)\n\nfunc main() {}\n"),
		"main_test.go": []byte("package main\n\nimport \"testing\"\n\nfunc TestNothing(t *testing.T) {}\n"),
	}
}

// prepare installs the programs of a client that this host need not have.
func (c packageClient) prepare(ctx context.Context, d *depsBench) error {
	if len(c.programs) == 0 {
		return nil
	}
	argv := append(
		[]string{"npm", "install", "--prefix", "{home}/programs", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"},
		c.programs...)
	return d.runSteps(ctx, d.home, filepath.Join(d.home, "cache-programs"), [][]string{argv})
}

// seedBuildCache compiles the standard library, as an image has it before there is any
// project.
func seedBuildCache(ctx context.Context, d *depsBench, cache string) error {
	seed := filepath.Join(d.home, "seed")
	if _, err := os.Stat(seed); err != nil {
		steps := [][]string{{"go", "build", "std"}, {"go", "vet", "std"}}
		if err := d.runSteps(ctx, d.home, seed, steps); err != nil {
			return err
		}
	}
	return os.CopyFS(cache, os.DirFS(seed))
}

// runSteps runs commands of the client on this host, with a cache of their own.
func (d *depsBench) runSteps(ctx context.Context, dir, cache string, steps [][]string) error {
	words := strings.NewReplacer("{cache}", cache, "{home}", d.home, "{index}", d.index)
	env := os.Environ()
	for _, e := range d.client.env {
		env = append(env, words.Replace(e))
	}
	for _, step := range steps {
		argv := make([]string, len(step))
		for i, word := range step {
			argv[i] = words.Replace(word)
		}
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		var out bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &out, &out
		if err := cmd.Run(); err != nil {
			text := out.String()
			return company.E(company.EConfig, "the client to measure against fails: "+strings.Join(argv, " ")).Wrap(
				fmt.Errorf("%w: %s", err, text[max(0, len(text)-2000):]))
		}
	}
	return nil
}
