package strangers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// DebianSource is a source package of Debian: its upstream files with Debian's
// patches, without the packaging.
type DebianSource struct {
	Package string
	Suite   string
}

// DebianCrate is a crate as Debian's packages carry it, whole and unpatched but for
// what debian/patches of the package did.
type DebianCrate struct{ Package, Folder string }

// apt is a configuration of its own: the lists and the cache of the host, and what it
// has installed, are neither read nor changed.
type apt struct{ dir string }

var aptOnce struct {
	sync.Mutex
	ready map[string]bool // suites whose lists were fetched by this process
}

const archiveKeyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// openApt writes the configuration. Archives are those that this host installs from;
// their signatures are checked with Debian's key.
func openApt(ctx context.Context, suite string) (apt, error) {
	dir, err := cacheDir("apt", suite)
	a := apt{dir}
	if err != nil {
		return a, err
	}
	for _, d := range []string{"lists/partial", "cache/archives/partial", "state"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return a, err
		}
	}
	uri := findArchive(ctx)
	sources := fmt.Sprintf("deb [signed-by=%[1]s] %[2]s %[3]s main\ndeb-src [signed-by=%[1]s] %[2]s %[3]s main\n",
		archiveKeyring, uri, suite)
	conf := fmt.Sprintf(`Dir::Etc::sourcelist "%[1]s/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "%[1]s/state";
Dir::State::status "%[1]s/status";
Dir::State::lists "%[1]s/lists";
Dir::Cache "%[1]s/cache";
APT::Sandbox::User "";
APT::Install-Recommends "false";
`, dir)
	for name, text := range map[string]string{"sources.list": sources, "apt.conf": conf, "status": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return a, err
		}
	}
	return a, nil
}

// findArchive finds the archive of Debian that this host uses.
func findArchive(ctx context.Context) string {
	out, err := exec.CommandContext(
		ctx, "apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)", "Created-By: Packages").Output()
	if err == nil {
		for line := range strings.Lines(string(out)) {
			if f := strings.Fields(line); len(f) == 3 && f[1] == "bookworm" && f[2] == "main" {
				return f[0]
			}
		}
	}
	return "http://deb.debian.org/debian"
}

// Fetch fetches the source package by its version, and has dpkg-source unpack it.
func (d DebianSource) Fetch(ctx context.Context, s Stranger) (Checkout, error) {
	parent, err := cacheDir("debian")
	if err != nil {
		return Checkout{}, err
	}
	dir := filepath.Join(parent, d.Package+"_"+s.Version)
	err = keepIn(dir, func(temp string) error {
		a, err := openApt(ctx, d.Suite)
		if err != nil {
			return err
		}
		if err := a.fetchFiles(ctx, temp, d.Suite, "source", "--download-only", d.Package+"="+s.Version); err != nil {
			return err
		}
		descriptions, err := filepath.Glob(filepath.Join(temp, "*.dsc"))
		if err != nil || len(descriptions) != 1 {
			return fmt.Errorf("%s: %d descriptions were fetched: %w", d.Package, len(descriptions), err)
		}
		if err := runHere(ctx, temp, nil, "dpkg-source", "--extract", "--no-check", descriptions[0], "tree"); err != nil {
			return err
		}
		return errors.Join(os.Rename(filepath.Join(temp, "tree", "debian"), filepath.Join(temp, "debian")),
			os.RemoveAll(filepath.Join(temp, "tree", ".pc")))
	})
	return Checkout{Dir: filepath.Join(dir, "tree"), Packaging: filepath.Join(dir, "debian")}, err
}

// Fetch fetches the binary package that holds the crate.
func (d DebianCrate) Fetch(ctx context.Context, s Stranger) (Checkout, error) {
	parent, err := cacheDir("debian")
	if err != nil {
		return Checkout{}, err
	}
	dir := filepath.Join(parent, d.Package+"_"+s.Version)
	err = keepIn(dir, func(temp string) error {
		a, err := openApt(ctx, "bookworm")
		if err != nil {
			return err
		}
		if err := a.fetchFiles(ctx, temp, "bookworm", "download", d.Package+"="+s.Version); err != nil {
			return err
		}
		archives, err := filepath.Glob(filepath.Join(temp, "*.deb"))
		if err != nil || len(archives) != 1 {
			return fmt.Errorf("%s: %d archives were fetched: %w", d.Package, len(archives), err)
		}
		if err := runHere(ctx, temp, nil, "dpkg-deb", "--extract", archives[0], "all"); err != nil {
			return err
		}
		tree := filepath.Join(temp, "tree")
		err = os.Rename(filepath.Join(temp, "all", "usr", "share", "cargo", "registry", d.Folder), tree)
		for _, made := range []string{".cargo-checksum.json", ".cargo_vcs_info.json", "Cargo.toml.orig"} {
			err = errors.Join(err, os.RemoveAll(filepath.Join(tree, made)))
		}
		return err
	})
	return Checkout{Dir: filepath.Join(dir, "tree")}, err
}

// fetchFiles runs a command of apt-get that puts files into a folder. apt checks them with
// the signed lists; those are fetched once.
func (a apt) fetchFiles(ctx context.Context, dir, suite string, args ...string) error {
	aptOnce.Lock()
	defer aptOnce.Unlock()
	env := []string{"APT_CONFIG=" + filepath.Join(a.dir, "apt.conf")}
	if !aptOnce.ready[suite] {
		if err := runHere(ctx, dir, env, "apt-get", "update", "-qq"); err != nil {
			return err
		}
		if aptOnce.ready == nil {
			aptOnce.ready = map[string]bool{}
		}
		aptOnce.ready[suite] = true
	}
	return runHere(ctx, dir, env, append([]string{"apt-get", "-qq"}, args...)...)
}

// runHere runs a program of this host in a folder, for at most ten minutes.
func runHere(ctx context.Context, dir string, env []string, argv ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(
		slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "APT_CONFIG=") }), env...)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, clipText(string(out), 4000))
	}
	return nil
}
