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

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/gitops/gitexec"
	"company/internal/lib/safetext"
)

// hostTree is a toolchain tree that can be copied into an image.
type hostTree struct {
	ecosystem.Toolchain
	dir       string   // folder on this host
	version   string   // as printed by its program
	keyInputs []string // identify the tree without reading all of it
	// wanted is the registry's name of a fetched version. asked is the project's file that
	// requests it. Both are empty if the tree is this host's own.
	wanted, asked string
}

// fullName returns the toolchain with its version. The version may already contain the name: go1.26.8.
func (t hostTree) fullName() string {
	if strings.HasPrefix(t.version, strings.ToLower(t.Title)) {
		return t.version
	}
	return t.Title + " " + t.version
}

// describeSource describes the source of a tree for people.
func (t hostTree) describeSource() string {
	if t.wanted != "" {
		return t.fullName() + ", which " + t.asked + " asks for"
	}
	return t.fullName() + " of this host"
}

// hostLookup caches the result of a search for the life of a Builder.
type hostLookup struct {
	sync.Once
	tree hostTree
	err  error
}

// findTree finds a toolchain of this host. The result is cached for the life of the Builder.
func (b *Builder) findTree(ctx context.Context, toolchain ecosystem.Toolchain) (hostTree, error) {
	hostLookup := b.trees[toolchain.Name]
	hostLookup.Do(func() {
		// Ignore the cancellation of ctx, because all callers share the result.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if hostLookup.tree, hostLookup.err = lookForTree(ctx, toolchain); hostLookup.err != nil &&
			toolchain.IsFromHostAlone() {
			hostLookup.err = company.E(company.EImage, "cannot find "+toolchain.Title+" on this host").Wrap(hostLookup.err).
				Fix("install " + toolchain.Title + " and put its bin directory into PATH")
		}
	})
	return hostLookup.tree, hostLookup.err
}

func lookForTree(ctx context.Context, toolchain ecosystem.Toolchain) (hostTree, error) {
	answers := make([]string, 0, len(toolchain.Tree.Ask))
	for _, argv := range toolchain.Tree.Ask {
		out, err := askHost(ctx, toolchain.Tree.Env, argv...)
		if err != nil {
			return hostTree{}, hostToolError(argv[0], err)
		}
		answers = append(answers, strings.TrimSpace(out))
	}
	found, err := toolchain.Tree.Read(answers, filepath.EvalSymlinks)
	if err != nil {
		return hostTree{}, err
	}
	for _, need := range slices.Concat(found.Needs, found.OwnFiles) {
		info, err := os.Lstat(filepath.Join(found.Dir, need))
		if err == nil && !info.Mode().IsRegular() && slices.Contains(found.OwnFiles, need) {
			err = errors.New("it is not a file")
		}
		if err != nil {
			return hostTree{}, fmt.Errorf("the %s of this host (%s) has no %s", toolchain.Title, found.Dir, need)
		}
	}
	if found.Program != "" {
		if err := runsInBase(filepath.Join(found.Dir, found.Program), found.Libraries); err != nil {
			return hostTree{}, err
		}
	}
	tree := hostTree{Toolchain: toolchain, dir: found.Dir, version: found.Version, keyInputs: []string{found.Version}}
	for _, f := range found.Identity {
		info, err := os.Stat(filepath.Join(found.Dir, f))
		if err != nil {
			return hostTree{}, err
		}
		if !toolchain.Tree.BareIdentity {
			tree.keyInputs = append(tree.keyInputs, f)
		}
		tree.keyInputs = append(tree.keyInputs, strconv.FormatInt(info.Size(), 10),
			strconv.FormatInt(info.ModTime().UnixNano(), 10))
	}
	return tree, nil
}

// askHost runs a program of this host in the operator's own environment and returns its output. The
// working directory is /, so that files of a project cannot influence the program.
func askHost(ctx context.Context, env []string, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = 5 * time.Second
	gitexec.SeparateGroup(cmd)
	out, err := cmd.Output()
	return string(out), err
}

// hostToolError explains why a program of the host failed.
func hostToolError(name string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("this host has no %s", name)
	}
	reason := err.Error()
	if e := (*exec.ExitError)(nil); errors.As(err, &e) && len(e.Stderr) > 0 {
		reason, _, _ = strings.Cut(strings.TrimSpace(string(e.Stderr)), "\n")
	}
	return fmt.Errorf("the %s of this host does not answer (%s)", name, safetext.Cut(safetext.StripLine(reason), 60))
}

// The libraries and symbol versions that the Debian 12 base provides for foreign programs.
var (
	baseLibraries = []string{
		"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6",
		"libpthread.so.0", "librt.so.1", "libstdc++.so.6", "libz.so.1",
	}
	baseSymbols = map[string][3]int{"GLIBC_": {2, 36}, "GLIBCXX_": {3, 4, 30}, "CXXABI_": {1, 3, 13}, "GCC_": {12, 0, 0}}
)

// runsInBase returns an error if a program of the host needs libraries or symbols that the base lacks.
// The base may be older than the host. own lists the prefixes of the program's own libraries.
func runsInBase(exe string, own []string) error {
	f, err := elf.Open(exe)
	if err != nil {
		return fmt.Errorf("%s is not a program", exe)
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, l := range libs {
		// A toolchain's own libraries are in its tree and are found through the run path.
		isOwn := func(prefix string) bool { return strings.HasPrefix(l, prefix) }
		if !slices.Contains(baseLibraries, l) && !slices.ContainsFunc(own, isOwn) {
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

// isNewer reports whether a dotted version is newer than the numbers. Text that is not a version
// counts as newer.
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

func (b *Builder) fillTree(req Request, t hostTree) writeLayerFunc {
	return func(ctx context.Context, _ *existingImage, _ string, l *layer) error {
		if err := b.fetchTree(ctx, req, t); err != nil {
			return err
		}
		b.reportProgress("copying %s from %s", t.fullName(), t.dir)
		for _, c := range t.Tree.Copies {
			if err := t.copyPart(ctx, l, c); err != nil {
				return err
			}
		}
		return addFiles(l, t.Tree.Files)
	}
}

// copyPart copies a file or folder of a tree.
func (t hostTree) copyPart(ctx context.Context, l *layer, c ecosystem.Copy) error {
	from, to := filepath.Join(t.dir, c.From), strings.TrimPrefix(c.To, "/")
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return l.addHostFile(to, 0o755, from)
	}
	leave := c.Leave
	if leave == nil {
		leave = func(string) bool { return false }
	}
	if err := copyDir(ctx, l, from, to, "", leave, 0); err != nil || c.Programs == "" {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(from, c.Programs))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if rel := path.Join(c.Programs, entry.Name()); !leave(rel) {
			if err := l.addLink("usr/local/bin/"+entry.Name(), path.Join(c.To, rel)); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyDir copies a directory of the host in sorted order, with fixed modes and times. It follows
// links, because Debian's trees consist of links to folders that the image lacks. leave reports which
// paths below root to skip.
func copyDir(ctx context.Context, l *layer, root, to, rel string, leave func(string) bool, depth int) error {
	if depth > 30 {
		return fmt.Errorf("%s: symbolic links form a loop", rel)
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
