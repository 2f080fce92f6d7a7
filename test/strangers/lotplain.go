package strangers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mostPlain is how long one command of the maintainers may take in a plain container.
const mostPlain = 150 * time.Second

// A plainPlace is a copy of a checkout and a container's image for the maintainers' own
// commands: Debian, the packages that the repository names, and the toolchains of this
// host read-only. It has no network and nothing of the company.
type plainPlace struct {
	dir   string   // src, home, cache
	image string   // of the container
	made  bool     // the image is this case's alone
	args  []string // of docker run
	token string   // in the names of containers
}

// openPlain copies a checkout and installs what it names: npm's and Go's packages with
// this host's clients, Debian's build dependencies in the image.
func openPlain(ctx context.Context, l Listed, from Checkout, commands []theirCommand) (_ *plainPlace, err error) {
	image, err := buildOutsideImage(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "company-plain-")
	if err != nil {
		return nil, err
	}
	p := &plainPlace{dir: dir, image: image, token: strings.ToLower(rand.Text()[:12])}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.remove())
		}
	}()
	for _, d := range []string{"home", "cache"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	if err := copyTree(p.source(), from.Dir); err != nil {
		return nil, err
	}
	switch l.Stratum {
	case DebianNode, Npm, Generator:
		err = p.prepareNode(ctx, commands)
	case GoProxy, DebianGo:
		err = p.prepareGo(ctx)
	default:
		err = p.prepareDebian(ctx, l)
	}
	return p, err
}

func (p *plainPlace) source() string { return filepath.Join(p.dir, "src") }

// prepareNode installs the packages by the client whose lock file is there, and yarn where a
// command calls it.
func (p *plainPlace) prepareNode(ctx context.Context, commands []theirCommand) error {
	home := filepath.Join(p.dir, "home")
	env := append(nodeEnv(home), "PATH="+filepath.Join(home, "tools", "node_modules", ".bin")+":"+os.Getenv("PATH"),
		"npm_config_fetch_retries=1", "npm_config_fetch_retry_mintimeout=1000")
	has := func(name string) bool { _, err := os.Stat(filepath.Join(p.source(), name)); return err == nil }
	const install = "npm install --loglevel=error --ignore-scripts --no-audit --no-fund"
	script := install + " --no-package-lock"
	switch {
	case has("pnpm-lock.yaml"):
		script = installManager(pnpm10) + "pnpm install --ignore-scripts --silent"
	case has("yarn.lock"):
		script = installManager(yarn1) + "yarn install --ignore-scripts --silent"
	case has("package-lock.json"):
		script = "npm ci --loglevel=error --ignore-scripts --no-audit --no-fund || " + install
	case slices.ContainsFunc(commands, func(c theirCommand) bool { return strings.HasPrefix(c.Run, "yarn") }):
		script = installManager(yarn1) + script
	}
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	if err := runHere(ctx, p.source(), env, "bash", "-ec", script); err != nil {
		return err
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return err
	}
	npm, err := exec.CommandContext(ctx, "npm", "root", "-g").Output()
	if err != nil {
		return err
	}
	modules := strings.TrimSpace(string(npm))
	// npm's own starters look for the folder that Node was installed to.
	bin := filepath.Join(p.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"npm", "npx"} {
		starter := "#!/bin/sh\nexec node " + path.Join(modules, "npm", "bin", name+"-cli.js") + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(starter),
			0o755); err != nil { // it is a program
			return err
		}
	}
	p.args = append(p.args, "-v", node+":/opt/node/bin/node:ro", "-v", modules+":"+modules+":ro",
		"-e", "PATH=/work/home/tools/node_modules/.bin:/opt/node/bin:/work/bin:/usr/local/bin:/usr/bin:/bin", "-e", "CI=1",
		"-e", "npm_config_update_notifier=false",
		"-e", "NEXT_TELEMETRY_DISABLED=1", "-e", "NX_DAEMON=false")
	return nil
}

// prepareGo downloads the modules that the repository names.
func (p *plainPlace) prepareGo(ctx context.Context) error {
	root, err := goVariable(ctx, "GOROOT")
	if err != nil {
		return err
	}
	modules, err := goVariable(ctx, "GOMODCACHE")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	script := `find . -name go.mod -not -path '*/testdata/*' -not -path '*/vendor/*' | while read f; do (cd "$(dirname "$f")" && go mod download); done`
	if err := runHere(ctx, p.source(), []string{"GOFLAGS=-mod=mod", "GOWORK=off"}, "bash", "-ec", script); err != nil {
		return err
	}
	shared, err := cacheDir("plain-gocache") // of these containers alone: it is what a maintainer's machine keeps
	if err != nil {
		return err
	}
	p.args = append(p.args, "-v", root+":"+root+":ro", "-v", modules+":"+modules+":ro", "-v", shared+":/gocache", "-e",
		"GOMODCACHE="+modules, "-e", "GOCACHE=/gocache", "-e", "GOFLAGS=-mod=mod -buildvcs=false",
		"-e", "GOPROXY=off", "-e", "GOTOOLCHAIN=local", "-e", "PATH="+root+"/bin:/usr/local/bin:/usr/bin:/bin")
	return nil
}

func goVariable(ctx context.Context, name string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", name).Output()
	if err != nil {
		return "", fmt.Errorf("go env %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// prepareDebian installs the build dependencies of the source package into an image of
// this case, with a network; what runs later has none.
func (p *plainPlace) prepareDebian(ctx context.Context, l Listed) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	name := "company-plain-" + p.token
	script := "sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/sources.list && apt-get update " +
		"-qq && DEBIAN_FRONTEND=noninteractive apt-get build-dep -qq -y --no-install-recommends " + l.Name
	if l.Stratum == Python { // what maintainers' commands call, and Debian's own do not
		script += " && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends flake8 mypy black " +
			"pylint isort"
	}
	script += " && apt-get clean"
	defer func() { _ = exec.CommandContext(context.WithoutCancel(ctx), "docker", "rm", "-f", name).Run() }()
	if err := runHere(ctx, p.dir, nil, "docker", "run", "--name", name, "--network", "host", p.image, "bash", "-ec",
		script); err != nil {
		return err
	}
	made := "company-strangers/case:" + p.token
	if err := runHere(ctx, p.dir, nil, "docker", "commit", name, made); err != nil {
		return err
	}
	p.image, p.made = made, true
	if l.Stratum != Rust {
		return nil
	}
	config := "[source.crates-io]\nreplace-with = \"debian\"\n[source.debian]\ndirectory = \"/usr/share/cargo/registry\"\n"
	at := filepath.Join(p.dir, "home", ".cargo")
	return errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(filepath.Join(at, "config.toml"), []byte(config), 0o644))
}

// run runs a command of the maintainers. A command that does not end in time has the
// exit code 124.
func (p *plainPlace) run(ctx context.Context, c theirCommand) (exit int, output string, err error) {
	limited, cancel := context.WithTimeout(ctx, mostPlain)
	defer cancel()
	name := "company-plain-" + p.token
	args := append([]string{"run", "--rm", "--name", name, "--network", "none", "--cap-drop", "ALL", "--init",
		"--user", strconv.Itoa(os.Getuid()) + ":" + strconv.Itoa(os.Getgid()), "-v", p.dir + ":/work", "-w",
		path.Join("/work/src", c.Dir),
		"-e", "HOME=/work/home", "-e", "LC_ALL=C.UTF-8", "--memory", "6g", "--pids-limit", "2000"}, p.args...)
	cmd := exec.CommandContext(limited, "docker", append(args, p.image, "bash", "-c", c.Run)...)
	cmd.Cancel = func() error { return exec.Command("docker", "rm", "-f", name).Run() }
	exit, output, err = runToEnd(limited, cmd)
	if limited.Err() != nil && ctx.Err() == nil {
		return 124, output, nil
	}
	return exit, output, err
}

// write puts a file into the copy. It returns what restores the copy.
func (p *plainPlace) write(name, text string) (restore func() error, err error) {
	at := filepath.Join(p.source(), filepath.FromSlash(name))
	old, err := os.ReadFile(at)
	existed := err == nil
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return nil, err
	}
	restore = func() error { return os.Remove(at) }
	if existed {
		restore = func() error { return os.WriteFile(at, old, 0o644) }
		return restore, os.WriteFile(at, []byte(text), 0o644) // its mode stays
	}
	return restore, os.WriteFile(at, []byte(text), 0o644)
}

// format has the repository's own prettier write a file that was put into the copy, and
// returns its text: a good change has the form that the repository wants. Where there is
// none, or it cannot, the text stays.
func (p *plainPlace) format(ctx context.Context, f File) (string, error) {
	const prettier = "node_modules/.bin/prettier"
	if _, err := os.Stat(filepath.Join(p.source(), filepath.FromSlash(prettier))); err != nil {
		return f.Text, nil // it has none
	}
	if _, _, err := p.run(ctx, theirCommand{Run: prettier + " --log-level error --write '" + f.Path + "'"}); err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(p.source(), filepath.FromSlash(f.Path)))
	return string(text), err
}

func (p *plainPlace) remove() error {
	err := removeCopy(p.dir)
	if p.made {
		err = errors.Join(err, exec.Command("docker", "image", "rm", p.image).Run())
	}
	return err
}
