package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/container/dockerapi"
	"company/internal/lib/clock"
	"company/internal/lib/lazyregexp"

	cerrdefs "github.com/containerd/errdefs"
	dockerimage "github.com/docker/docker/api/types/image"
)

// The recipe of a built base.
const (
	debianSuite   = "bookworm"
	debianKeyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
	defaultPath   = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

var (
	debianPackages = []string{"bash", "ca-certificates", "git", "make"}
	debianExcluded = []string{"/usr/share/doc/*", "/usr/share/man/*", "/usr/share/info/*", "/usr/share/locale/*",
		"/usr/share/lintian/*"}
)

// errUnreachable means that a registry did not answer. Building the base may still work.
var errUnreachable = errors.New("no registry answers")

func isUnreachable(err error) bool { return errors.Is(err, errUnreachable) }

// unreachableTTL is how long an unreachable registry is not asked again.
const unreachableTTL = time.Hour

// baseSource describes how the lowest layer is made.
type baseSource struct {
	pulled    bool
	ref       string         // name@sha256:…; for a described image, its name for people
	described *describedBase // nil if the repository does not describe its image
}

func newBuiltBase() baseSource            { return baseSource{} }
func newPulledBase(ref string) baseSource { return baseSource{pulled: true, ref: ref} }

func (b *Builder) baseStep(src baseSource) layerStep {
	s := layerStep{kind: "base", repository: layerRepository, build: b.makeBase(src)}
	if src.described != nil {
		s.key, s.why = hashKey("from", src.described.fromKey()), src.described.describeFrom()
	} else if src.pulled {
		s.key, s.why = hashKey("pulled", src.ref), src.ref
	} else {
		s.why = "Debian " + debianSuite + ": " + strings.Join(debianPackages, " ")
		s.key = debianKey(debianPackages)
	}
	return s
}

// debianKey returns the key of a root file system with these packages.
func debianKey(packages []string) company.Hash {
	return hashKey("debian", debianSuite, strings.Join(packages, " "), strings.Join(debianExcluded, " "))
}

// makeBase builds the lowest layer: it makes a root file system and imports it.
func (b *Builder) makeBase(src baseSource) buildFunc {
	return func(ctx context.Context, _ *existingImage, s layerStep, work string) (*existingImage, error) {
		if src.described != nil {
			return b.makeFrom(ctx, s, *src.described, work)
		}
		if src.pulled {
			tarball := filepath.Join(work, "rootfs.tar")
			from, err := b.pullBase(ctx, s, src.ref, tarball, "sh", "git")
			if err != nil {
				return nil, err
			}
			return b.importBase(ctx, s, from.env, tarball)
		}
		tarball, err := b.cachedRootfs(ctx, s, debianPackages, work)
		if err != nil {
			return nil, err
		}
		return b.importBase(ctx, s, []string{"PATH=" + defaultPath}, tarball)
	}
}

// importBase imports a root file system as the lowest layer. more are additional labels.
func (b *Builder) importBase(
	ctx context.Context, s layerStep, env []string, tarball string, more ...string,
) (*existingImage, error) {
	file, err := os.Open(tarball)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	c := imageConfig(s, nil)
	changes := []string{"USER " + c.User, "WORKDIR " + c.WorkingDir}
	for _, e := range append(env, "HOME=/home/agent", "LANG=C.UTF-8") {
		name, value, _ := strings.Cut(e, "=")
		changes = append(changes, fmt.Sprintf("ENV %s=%q", name, value))
	}
	for k, v := range c.Labels {
		changes = append(changes, fmt.Sprintf("LABEL %s=%q", k, v))
	}
	for _, l := range more {
		name, value, _ := strings.Cut(l, "=")
		changes = append(changes, fmt.Sprintf("LABEL %s=%q", name, value))
	}
	out, err := b.docker.ImageImport(
		ctx, dockerimage.ImportSource{Source: file, SourceName: "-"}, s.imageTag(),
		dockerimage.ImportOptions{Changes: changes})
	if err != nil {
		return nil, dockerapi.WrapError("import the base image", err)
	}
	defer out.Close()
	if err := readProgress(out); err != nil {
		return nil, dockerapi.WrapError("import the base image", err)
	}
	got, err := b.findImage(ctx, s)
	if err == nil && got == nil {
		err = errors.New("the daemon lost the base image")
	}
	return got, err
}

// buildRootfs builds a Debian root file system and stores it at tarball.
func (b *Builder) buildRootfs(ctx context.Context, s layerStep, packages []string, work, tarball string) error {
	tool, err := exec.LookPath("mmdebstrap")
	if err != nil {
		return company.E(company.EImage, "cannot build a worker image here").Because("mmdebstrap is not installed").
			Fix("run scripts/setup.sh as root, or `apt-get install mmdebstrap debian-archive-keyring`, or set " +
				"container.image to a digest that can be pulled")
	}
	step := rootfsStep
	if extra := slices.DeleteFunc(
		slices.Clone(packages), func(p string) bool { return slices.Contains(debianPackages, p) }); len(extra) > 0 {
		step = rootfsPackagesStep
		b.reportProgress("installing %s from Debian %s%s", strings.Join(extra, ", "), debianSuite,
			b.estimateStep(step, " (one to three minutes)"))
	} else {
		b.reportProgress("building a %s base from Debian packages%s", debianSuite,
			b.estimateStep(step, " (half a minute to two minutes)"))
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()

	// Do not use the cache folder: without root, mmdebstrap works as other user
	// ids, which cannot enter a private directory.
	temp, err := makeFreeDir(filepath.Join(os.TempDir(), fmt.Sprintf("company-image-%d-%s", os.Getuid(), s.uniqueName())))
	if err != nil {
		return err
	}
	defer func() {
		if err := removeTree(temp); err != nil {
			b.log.WarnContext(ctx, "a temporary root file system stays", "dir", temp, "err", err)
		}
	}()
	raw := filepath.Join(work, "raw.tar")
	args := []string{tool, "--variant=minbase", "--include=" + strings.Join(packages, ","),
		"--aptopt=APT::Install-Recommends \"false\"",
		// after a crash the root file system is built again, so its files need no sync
		"--dpkgopt=force-unsafe-io"}
	for _, p := range debianExcluded {
		args = append(args, "--dpkgopt=path-exclude="+p)
	}
	if slices.ContainsFunc(packages, func(p string) bool { return !slices.Contains(debianPackages, p) }) {
		// Packages with alternatives link their man pages into this folder and fail without it.
		args = append(args, `--essential-hook=mkdir -p "$1/usr/share/man/man1"`)
	}
	if _, err := os.Stat(debianKeyring); err == nil {
		args = append(args, "--keyring="+debianKeyring)
	}
	args = append(append(append(args, aptProxies(ctx)...), debianSuite, raw), aptSources(ctx)...)
	env := []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "HOME=" + temp, "TMPDIR=" + temp, "LC_ALL=C.UTF-8",
		"DEBIAN_FRONTEND=noninteractive"}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if err := runTool(ctx, "/", env, nil, args...); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return company.E(company.EImage, "cannot build a Debian base").Wrap(err).
			Fix("check that this host can install Debian packages (`apt-get update`), then try again")
	}
	file, err := os.Open(raw)
	if err != nil {
		return err
	}
	defer file.Close()
	clean := filepath.Join(work, "rootfs.tar")
	if err := writeRootfs(file, clean, "sh", "git"); err != nil {
		return err
	}
	b.noteTook(ctx, step, time.Since(began))
	return placeFile(clean, tarball)
}

// maxLeftovers limits how many folders with mounts of killed mmdebstraps are skipped.
const maxLeftovers = 20

// makeFreeDir creates a directory with this name, or with a number appended. A killed mmdebstrap of
// root leaves mounts, and folders with mounts below them must not be deleted.
func makeFreeDir(dir string) (string, error) {
	name := dir
	for i := 2; ; i++ {
		err := makeOwnDir(name)
		switch {
		case err == nil:
			return name, nil
		case !errors.Is(err, errMountedBelow):
			return "", err
		case i > maxLeftovers:
			return "", company.E(company.EImage, "cannot build a Debian base").Wrap(err).
				Fix("unmount everything below " + dir + "* (see /proc/self/mountinfo), and remove these folders")
		}
		name = fmt.Sprintf("%s-%d", dir, i)
	}
}

// makeOwnDir creates a directory. Others could guess its name, so an existing one must belong to us;
// it is replaced.
func makeOwnDir(dir string) error {
	if info, err := os.Lstat(dir); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() || !info.IsDir() {
			return company.E(company.EImage, dir+" belongs to another user").Fix("remove it")
		}
		if err := removeTree(dir); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755) // regardless of the umask
}

// aptSources returns the operator's own mirrors of our suite as lines of a sources.list. An empty
// result means mmdebstrap's default.
func aptSources(ctx context.Context) []string {
	out := askHostTool(ctx, "apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)",
		"Created-By: Packages")
	seen := map[string]bool{}
	var lines []string
	main := false
	for line := range strings.SplitSeq(out, "\n") {
		f := strings.Fields(line)
		if len(f) != 3 || f[2] != "main" || !strings.HasPrefix(f[0], "http") || seen[line] {
			continue
		}
		switch f[1] {
		case debianSuite:
			main = true
		case debianSuite + "-updates", debianSuite + "-security":
		default:
			continue
		}
		seen[line] = true
		lines = append(lines, "deb "+strings.Join(f, " "))
	}
	if !main {
		return nil
	}
	return lines
}

// aptProxies returns apt's own proxy settings as options of mmdebstrap. They do not get into the
// image: writeRootfs omits apt's options and sources.
func aptProxies(ctx context.Context) []string {
	var args []string
	for _, scheme := range []string{"http", "https"} {
		out := askHostTool(ctx, "apt-config", "shell", "P", "Acquire::"+scheme+"::Proxy")
		if v, ok := strings.CutPrefix(strings.TrimSpace(out), "P="); ok {
			args = append(args, fmt.Sprintf("--aptopt=Acquire::%s::Proxy \"%s\"", scheme, strings.Trim(v, "'")))
		}
	}
	return args
}

// askHostTool runs a program of the host and returns its output, or "" if it fails.
func askHostTool(ctx context.Context, argv ...string) string {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var out bytes.Buffer
	if err := runTool(ctx, "/", append(os.Environ(), "LC_ALL=C"), &out, argv...); err != nil {
		return ""
	}
	return out.String()
}

// plainEnvRE matches a variable of a foreign image that needs no quoting.
var plainEnvRE = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=[A-Za-z0-9_./:@%+,=-]*$`)

// pulledImage holds the settings of a flattened image that are kept.
type pulledImage struct {
	env       []string
	user, dir string
	shell     []string
}

// pullBase pulls an image by its digest, or uses a local image by its id. It flattens the image to one
// root file system, which drops its volumes, entry point and special users. The image must contain the
// programs.
func (b *Builder) pullBase(
	ctx context.Context, s layerStep, ref, tarball string, programs ...string,
) (pulledImage, error) {
	info, err := b.docker.ImageInspect(ctx, ref)
	if cerrdefs.IsNotFound(err) {
		if err := b.pullImage(ctx, s, ref); err != nil {
			return pulledImage{}, err
		}
		info, err = b.docker.ImageInspect(ctx, ref)
	}
	if err != nil {
		return pulledImage{}, dockerapi.WrapError("look at the image "+ref, err)
	}
	if info.Architecture != arch || info.Os != "linux" {
		return pulledImage{}, company.E(
			company.EImage, fmt.Sprintf("the image %s is for %s/%s", ref, info.Os, info.Architecture)).
			Fix("set container.image to a digest for linux/" + arch)
	}
	err = b.withStillContainer(ctx, s, ref, func(name string) error {
		body, err := b.docker.ContainerExport(ctx, name)
		if err != nil {
			return dockerapi.WrapError("export "+ref, err)
		}
		defer body.Close()
		return writeRootfs(body, tarball, programs...)
	})
	if err != nil {
		return pulledImage{}, err
	}
	out := pulledImage{env: []string{"PATH=" + defaultPath}}
	if info.Config == nil {
		return out, nil
	}
	out.user = info.Config.User
	out.dir = info.Config.WorkingDir
	out.shell = info.Config.Shell
	for _, e := range info.Config.Env {
		switch name, _, _ := strings.Cut(e, "="); {
		case !plainEnvRE.MatchString(e) || name == "HOME" || name == "LANG":
		case name == "PATH":
			out.env[0] = e
		default:
			out.env = append(out.env, e)
		}
	}
	return out, nil
}

// unreachableMark names the file whose time tells when the registry of a layer's image did not answer.
func (b *Builder) unreachableMark(s layerStep) string {
	return filepath.Join(b.dir, s.uniqueName()+".unreachable")
}

// pullImage pulls an image, unless its registry was recently unreachable.
func (b *Builder) pullImage(ctx context.Context, s layerStep, ref string) error {
	silent := b.unreachableMark(s)
	if info, err := os.Stat(silent); err == nil && clock.Within(unreachableTTL, info.ModTime()) {
		return fmt.Errorf("%s: %w (asked %s ago)", ref, errUnreachable, time.Since(info.ModTime()).Round(time.Second))
	}
	b.reportProgress("pulling %s", ref)
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	out, err := b.docker.ImagePull(ctx, ref, dockerimage.PullOptions{})
	if err == nil {
		defer out.Close()
		err = readProgress(out)
	}
	switch {
	case err == nil:
		_ = os.Remove(silent)
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case isNetworkError(err):
		if err := os.WriteFile(silent, nil, 0o600); err != nil {
			b.log.WarnContext(ctx, "a silent registry is not remembered", "err", err)
		}
		return fmt.Errorf("%s: %w: %w", ref, errUnreachable, err)
	default:
		return company.E(company.EImage, "cannot pull the image "+ref).Wrap(err).
			Fix("check its name and digest; an image of a private registry must be pulled by hand first (`docker pull`)")
	}
}

// isNetworkError reports whether a registry could not be reached, as opposed to a refusal. The daemon
// returns 500 in both cases, so only the text of Go's network errors distinguishes them. An unknown
// error counts as a refusal: a pinned image is not replaced lightly.
func isNetworkError(err error) bool {
	return slices.ContainsFunc(
		[]string{"dial tcp", "no such host", "i/o timeout", "Client.Timeout", "TLS handshake timeout", "connection reset",
			"proxyconnect"},
		func(words string) bool { return strings.Contains(err.Error(), words) })
}

// checkDaemon checks, before the first layer is built, that the daemon's platform is that of this
// host's toolchain.
func (b *Builder) checkDaemon(ctx context.Context) error {
	v, err := b.docker.ServerVersion(ctx)
	if err != nil {
		return dockerapi.WrapError("ask for the daemon's version", err)
	}
	if v.Os != "linux" || v.Arch != arch {
		return company.E(company.EImage,
			fmt.Sprintf("the Docker daemon runs %s/%s containers, but this host is %s", v.Os, v.Arch, arch)).
			Fix("use a daemon of the same architecture")
	}
	return nil
}
