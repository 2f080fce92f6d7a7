package image

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"company/internal/safetext"
)

// hostTree is a toolchain of this host that can be copied into an image.
type hostTree struct {
	dir       string   // where it lies here
	version   string   // as its program says it
	keyInputs []string // tells two of them apart without reading all
}

// hostLookup keeps the findings for the life of a Builder.
type hostLookup struct {
	sync.Once
	tree hostTree
	err  error
}

func (o *hostLookup) findOnce(ctx context.Context, look func(context.Context) (hostTree, error)) (hostTree, error) {
	o.Do(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second) // kept for all callers
		defer cancel()
		o.tree, o.err = look(ctx)
	})
	return o.tree, o.err
}

func (b *Builder) hostNode(ctx context.Context) (hostTree, error) {
	return b.node.findOnce(ctx, findNode)
}
func (b *Builder) hostRust(ctx context.Context) (hostTree, error) {
	return b.rust.findOnce(ctx, findRust)
}

// minNode is what today's test runners need at least.
const minNode = 18

// findNode finds the host's Node, with npm beside it as Node's own packages
// have it. Debian splits npm over hundreds of packages: that one is not taken.
func findNode(ctx context.Context) (hostTree, error) {
	out, err := runHostTool(ctx, "node", "-p", "process.execPath + '\\n' + process.versions.node + '\\n' + process.platform")
	if err != nil {
		return hostTree{}, hostToolError("node", err)
	}
	f := strings.Split(out, "\n")
	if len(f) != 3 || f[2] != "linux" {
		return hostTree{}, errors.New("the node of this host gives no answer that is understood")
	}
	major, _, _ := strings.Cut(f[1], ".")
	if n, err := strconv.Atoi(major); err != nil || n < minNode {
		return hostTree{}, fmt.Errorf("the node of this host is %s, older than %d", f[1], minNode)
	}
	exe, err := filepath.EvalSymlinks(f[0])
	if err != nil {
		return hostTree{}, err
	}
	t := hostTree{dir: filepath.Dir(filepath.Dir(exe)), version: f[1]}
	if filepath.Base(filepath.Dir(exe)) != "bin" {
		return hostTree{}, fmt.Errorf("%s lies in no bin directory", exe)
	}
	for _, need := range []string{"lib/node_modules/npm/package.json", "lib/node_modules/npm/bin/npm-cli.js"} {
		if info, err := os.Lstat(filepath.Join(t.dir, need)); err != nil || !info.Mode().IsRegular() {
			return hostTree{}, fmt.Errorf("npm does not lie beside the node of this host (%s)", t.dir)
		}
	}
	if err := runsInBase(exe); err != nil {
		return hostTree{}, err
	}
	t.keyInputs, err = treeIdentity(t, "bin/node", "lib/node_modules/npm/package.json")
	return t, err
}

// findRust finds the Rust toolchain that the host's rustc belongs to.
func findRust(ctx context.Context) (hostTree, error) {
	sysroot, err := runHostTool(ctx, "rustc", "--print", "sysroot")
	if err != nil {
		return hostTree{}, hostToolError("rustc", err)
	}
	verbose, err := runHostTool(ctx, "rustc", "-vV")
	if err != nil {
		return hostTree{}, err
	}
	t := hostTree{}
	for line := range strings.SplitSeq(verbose, "\n") {
		if v, ok := strings.CutPrefix(line, "release: "); ok {
			t.version = v
		}
	}
	if t.dir, err = filepath.EvalSymlinks(sysroot); err != nil {
		return hostTree{}, err
	}
	if t.version == "" || t.dir == "/usr" {
		return hostTree{}, errors.New("the rustc of this host does not lie in a directory of its own")
	}
	for _, need := range []string{"bin/rustc", "bin/cargo", "lib/rustlib/" + rustTarget + "/lib"} {
		if _, err := os.Stat(filepath.Join(t.dir, need)); err != nil {
			return hostTree{}, fmt.Errorf("the rust toolchain of this host has no %s", need)
		}
	}
	if err := runsInBase(filepath.Join(t.dir, "bin/rustc")); err != nil {
		return hostTree{}, err
	}
	t.keyInputs, err = treeIdentity(t, "bin/rustc", "bin/cargo", "lib/rustlib/"+rustTarget+"/lib")
	return t, err
}

// rustTarget is Rust's name of what a worker is.
var rustTarget = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch] + "-unknown-linux-gnu"

// runHostTool runs a program of the host where nothing of a project can steer it.
func runHostTool(ctx context.Context, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "NODE_OPTIONS=") || strings.HasPrefix(e, "RUSTFLAGS=")
	})
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// hostToolError says why a program of the host gave no answer.
func hostToolError(name string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("this host has no %s", name)
	}
	why := err.Error()
	if e := (*exec.ExitError)(nil); errors.As(err, &e) && len(e.Stderr) > 0 {
		why, _, _ = strings.Cut(strings.TrimSpace(string(e.Stderr)), "\n")
	}
	return fmt.Errorf("the %s of this host does not answer (%s)", name, safetext.Cut(safetext.StripLine(why), 60))
}

// treeIdentity names files of a tree with their sizes and times.
func treeIdentity(t hostTree, files ...string) ([]string, error) {
	id := []string{t.version}
	for _, f := range files {
		info, err := os.Stat(filepath.Join(t.dir, f))
		if err != nil {
			return nil, err
		}
		id = append(id, f, strconv.FormatInt(info.Size(), 10), strconv.FormatInt(info.ModTime().UnixNano(), 10))
	}
	return id, nil
}

// What the base of Debian 12 has for programs that come from elsewhere.
var (
	baseLibraries = []string{
		"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0", "librt.so.1", "libstdc++.so.6", "libz.so.1",
	}
	baseSymbols = map[string][3]int{"GLIBC_": {2, 36}, "GLIBCXX_": {3, 4, 30}, "CXXABI_": {1, 3, 13}, "GCC_": {12, 0, 0}}
)

// runsInBase tells whether a program of the host finds its libraries in the
// base, which may be older than the host.
func runsInBase(exe string) error {
	f, err := elf.Open(exe)
	if err != nil {
		return fmt.Errorf("%s is no program", exe)
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, l := range libs {
		// A toolchain's own libraries lie beside it, found by its run path.
		if !slices.Contains(baseLibraries, l) && !strings.HasPrefix(l, "librustc_driver-") {
			return fmt.Errorf("%s needs %s, which the base does not have", exe, l)
		}
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return err
	}
	for _, s := range symbols {
		for prefix, most := range baseSymbols {
			v, ok := strings.CutPrefix(s.Version, prefix)
			if ok && isNewer(v, most) {
				return fmt.Errorf("%s needs %s, which is newer than the base's", exe, s.Version)
			}
		}
	}
	return nil
}

// isNewer compares a version in dots with numbers; text that is no version is
// newer.
func isNewer(v string, than [3]int) bool {
	for i, part := range strings.SplitN(v, ".", 3) {
		n, err := strconv.Atoi(part)
		if err != nil || n > than[i] {
			return true
		}
		if n < than[i] {
			return false
		}
	}
	return false
}

func (b *Builder) fillNode(t hostTree) writeLayerFunc {
	return func(ctx context.Context, _ *existingImage, _ string, l *layer) error {
		b.reportProgress("copying Node %s from %s", t.version, t.dir)
		if err := l.addHostFile("usr/local/bin/node", 0o755, filepath.Join(t.dir, "bin/node")); err != nil {
			return err
		}
		leave := func(rel string) bool { return rel == "docs" || rel == "man" }
		if err := copyTree(ctx, l, filepath.Join(t.dir, "lib/node_modules/npm"), nodeModulesPath+"/npm", leave); err != nil {
			return err
		}
		for _, name := range []string{"npm", "npx"} {
			if err := l.addLink("usr/local/bin/"+name, nodeModulesPath+"/npm/bin/"+name+"-cli.js"); err != nil {
				return err
			}
		}
		return nil
	}
}

func (b *Builder) fillRust(t hostTree) writeLayerFunc {
	return func(ctx context.Context, _ *existingImage, _ string, l *layer) error {
		b.reportProgress("copying Rust %s from %s", t.version, t.dir)
		leave := func(rel string) bool {
			switch {
			case rel == "share", rel == "etc", rel == "libexec", rel == "lib/rustlib/src", rel == "lib/rustlib/etc":
				return true
			case strings.HasPrefix(rel, "bin/rust-"): // debuggers' wrappers
				return true
			}
			dir, name := path.Split(rel)
			return dir == "lib/rustlib/" && name != rustTarget // other targets, the installer's lists
		}
		if err := copyTree(ctx, l, t.dir, rustPath, leave); err != nil {
			return err
		}
		entries, err := os.ReadDir(filepath.Join(t.dir, "bin"))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !leave("bin/" + e.Name()) {
				if err := l.addLink("usr/local/bin/"+e.Name(), rustPath+"/bin/"+e.Name()); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// copyTree copies a directory of the host, sorted, with modes and times of our
// own. Links are followed: Debian's trees are made of them, and they lead to
// where the image has nothing. leave says what stays out, by its path below
// root.
func copyTree(ctx context.Context, l *layer, root, to string, leave func(rel string) bool) error {
	return copyDir(ctx, l, root, strings.TrimPrefix(to, "/"), "", leave, 0)
}

func copyDir(ctx context.Context, l *layer, root, to, rel string, leave func(string) bool, depth int) error {
	if depth > 30 {
		return fmt.Errorf("%s: links that lead in a circle", rel)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(root, rel)) // sorted by name
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := path.Join(rel, e.Name())
		if leave(p) {
			continue
		}
		host := filepath.Join(root, p)
		info, err := os.Stat(host)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a dangling link
		}
		if err != nil {
			return err
		}
		switch {
		case info.IsDir():
			err = copyDir(ctx, l, root, to, p, leave, depth+1)
		case info.Mode().IsRegular():
			mode := int64(0o644)
			if info.Mode()&0o111 != 0 {
				mode = 0o755
			}
			err = l.addHostFile(path.Join(to, p), mode, host)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
