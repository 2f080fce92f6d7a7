package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/cifile"
	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/safetext"

	"github.com/google/renameio/v2"
	"golang.org/x/mod/semver"
)

// wish is the version of a toolchain that a project asks for and this host does not
// have.
type wish struct {
	file         string
	wants, shown string // for the registry, and for people
	has          string
}

// describeUnmet is the wish as a note; why is the reason that it is not met.
func (w wish) describeUnmet(tool, why string) string {
	n := fmt.Sprintf("%s wants %s %s, the image has %s", w.file, tool, w.shown, w.has)
	if why != "" {
		n += ": " + why + " (install it on this host)"
	}
	return n
}

// readWish compares what the files of a tree ask for with a version; nil where they
// ask for nothing else.
func readWish(ctx context.Context, tree treeFiles, t ecosystem.Toolchain, has string) (*wish, error) {
	var out *wish
	if has == "" {
		return nil, nil
	}
	met := false
	for _, name := range t.WishFiles {
		files := slices.DeleteFunc(tree.filesNamed(name), func(p string) bool { return ecosystem.IsForeignDir(strings.TrimPrefix(path.Dir(p), ".")) })
		if len(files) > 0 && !t.WishAll {
			files = files[:1]
		}
		for _, file := range files {
			text, err := tree.readText(ctx, file)
			if err != nil {
				return nil, err
			}
			wants, hasText := t.Wish(strings.TrimSpace(string(text)), has)
			if wants == "" {
				met = met || hasText != ""
				continue
			}
			if has = wants; out != nil {
				hasText = out.has
			}
			out = &wish{file: file, wants: wants, shown: safetext.Cut(safetext.StripLine(wants), 60), has: hasText}
		}
		if len(files) > 0 && !t.WishAll {
			break
		}
	}
	if out == nil && !met && t.WishAction != "" {
		return readCIWish(ctx, tree, t, has)
	}
	return out, nil
}

// readCIWish is what the CI asks for, where each version that it sets up is another one than the
// image has: the lowest of the newer ones, or else the highest.
func readCIWish(ctx context.Context, tree treeFiles, t ecosystem.Toolchain, has string) (*wish, error) {
	ci := ecosystem.TreeOf(textsOf{ctx, tree})
	var all []wish
	for _, d := range cifile.ReadDefinitions(ci) {
		for _, version := range cifile.ListVersions([]cifile.Definition{d}, t.WishAction) {
			wants, hasText := t.Wish(version, has)
			if wants == "" { // met, or not to be understood
				return nil, ci.Err()
			}
			all = append(all, wish{file: d.File, wants: wants, shown: safetext.Cut(safetext.StripLine(wants), 60), has: hasText})
		}
	}
	if len(all) == 0 {
		return nil, ci.Err()
	}
	slices.SortStableFunc(all, func(a, b wish) int { return semver.Compare("v"+a.wants, "v"+b.wants) })
	newer := slices.IndexFunc(all, func(w wish) bool { return semver.Compare("v"+w.wants, "v"+has) > 0 })
	if newer < 0 {
		newer = len(all) - 1
	}
	return &all[newer], nil
}

// findVersion finds the tree of the version that a project asks for, where what the
// image would have is another one; without one it says why.
func (b *Builder) findVersion(ctx context.Context, req Request, project treeFiles, t ecosystem.Toolchain, has string) (tree hostTree, why string, err error) {
	w, err := readWish(ctx, project, t, has)
	if err != nil || w == nil {
		return tree, "", err
	}
	return b.otherVersion(ctx, req, t, *w)
}

// isMetByDebian says whether Debian's version is one that a project asks for.
func isMetByDebian(ctx context.Context, project treeFiles, t ecosystem.Toolchain) bool {
	if t.Version == "" || len(t.Fallback) == 0 {
		return false
	}
	w, err := readWish(ctx, project, t, t.Version)
	return err == nil && w == nil
}

// otherVersion finds the tree of the version that a project asks for. Where there is
// none to be had, it says why.
func (b *Builder) otherVersion(ctx context.Context, req Request, t ecosystem.Toolchain, w wish) (tree hostTree, why string, err error) {
	switch {
	case t.Versions == nil:
		return tree, "", nil
	case req.Offline:
		return tree, "another is not fetched, container.deps is off", nil
	}
	chosen, err := b.chooseVersion(t, w.wants, func() ([]string, error) {
		store := b.registryStore(req)
		if store == nil {
			return nil, errors.New("no registry is at hand")
		}
		return store.ListVersions(ctx, t.Versions.Package)
	})
	switch {
	case ctx.Err() != nil:
		return tree, "", ctx.Err()
	case err != nil:
		return tree, errorLine(err), nil
	case chosen.Version == "":
		return tree, "no such version can be had", nil
	}
	dir := b.treeDir(t, chosen.Version)
	if why := b.whyRefused(dir); why != "" {
		return tree, why, nil
	}
	return hostTree{Toolchain: t, dir: dir, version: chosen.Shown, keyInputs: []string{"\x00fetched", chosen.Version}, wanted: chosen.Version, asked: w.file}, "", nil
}

// errorLine is an error on one line, for a note.
func errorLine(err error) string {
	line := err.Error()
	if e := (*company.Error)(nil); errors.As(err, &e) {
		line = e.Message
	}
	return safetext.Cut(safetext.StripLine(line), 160)
}

// chosenVersion is the version that was taken for a wish.
type chosenVersion struct{ Version, Shown string }

// chooseVersion is the version of a registry for a wish. A choice stays:
// the next task has the same image, and asks no registry.
func (b *Builder) chooseVersion(t ecosystem.Toolchain, wants string, list func() ([]string, error)) (chosenVersion, error) {
	var c chosenVersion
	file := filepath.Join(b.dir, versionsFolder, t.Name+"-"+string(hashKey(t.Versions.Package.Name, wants)[:20])+".json")
	text, err := os.ReadFile(file)
	if err == nil && json.Unmarshal(text, &c) == nil && c.Version != "" {
		return c, nil
	}
	b.reportProgress("looking for the version %s of %s", safetext.Cut(safetext.StripLine(wants), 60), t.Title)
	all, err := list()
	if err != nil {
		return c, err
	}
	if c.Version, c.Shown = t.Versions.Choose(wants, all); c.Version == "" {
		return c, nil
	}
	if text, err = json.Marshal(c); err != nil {
		return c, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return c, err
	}
	return c, renameio.WriteFile(file, text, 0o600)
}

// versionsFolder holds the choices and the downloads, in the cache.
const versionsFolder = "toolchains"

// treeDir is where a fetched tree lies.
func (b *Builder) treeDir(t ecosystem.Toolchain, version string) string {
	return filepath.Join(b.dir, versionsFolder, t.Name+"-"+version)
}

// refusedFor is how long a version that could not be had is not asked for again.
const refusedFor = time.Hour

// refusal says why a tree could not be had, and until when that counts.
type refusal struct {
	why   string
	until time.Time
}

func (b *Builder) whyRefused(dir string) string {
	b.refusedMu.Lock()
	defer b.refusedMu.Unlock()
	if r := b.refused[dir]; time.Now().Before(r.until) {
		return r.why
	}
	return ""
}

// errNoVersion: a version of a toolchain cannot be had. The image is planned again,
// without it.
var errNoVersion = errors.New("image: a version of a toolchain cannot be had")

// fetchTree has the tree of a version in its folder. Of several askers one fetches.
func (b *Builder) fetchTree(ctx context.Context, req Request, t hostTree) error {
	if t.wanted == "" {
		return nil
	}
	unlock, err := b.lockLayer(ctx, "toolchain-"+filepath.Base(t.dir))
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(t.dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = b.downloadTree(ctx, req, t)
	if err == nil || ctx.Err() != nil {
		return err
	}
	b.log.WarnContext(ctx, "a version of a toolchain cannot be had", "toolchain", t.Name, "version", t.wanted, "err", err)
	b.refusedMu.Lock()
	defer b.refusedMu.Unlock()
	b.refused[t.dir] = refusal{errorLine(err), time.Now().Add(refusedFor)}
	return fmt.Errorf("%w: %w", errNoVersion, err)
}

// downloadTree fetches a tree beside its place, and moves it there whole.
func (b *Builder) downloadTree(ctx context.Context, req Request, t hostTree) error {
	b.reportProgress("fetching %s, which %s asks for", t.fullName(), t.asked)
	work := filepath.Join(b.dir, "tmp", filepath.Base(t.dir))
	if err := removeTree(work); err != nil {
		return err
	}
	defer func() {
		if err := removeTree(work); err != nil {
			b.log.WarnContext(ctx, "temporary files of a toolchain stay", "dir", work, "err", err)
		}
	}()
	h, stop, err := b.openHostFolder(ecosystem.Install{Registry: t.Versions.Package.Ecosystem, Own: true}, req, work)
	if err != nil {
		return err
	}
	defer stop()
	if err := t.Versions.Fetch(ctx, h, t.wanted); err != nil {
		return h.access.explainError(err)
	}
	got := filepath.Join(h.places.Out, filepath.FromSlash(t.Versions.Dir(t.wanted)))
	if p := t.Versions.Program; p != "" {
		if err := runsInBase(filepath.Join(got, p), nil); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(t.dir), 0o700); err != nil {
		return err
	}
	if err := os.Chmod(got, 0o700); err != nil { // one that cannot be written cannot be moved
		return err
	}
	return placeTree(got, t.dir)
}

// fetchedTree is the tree of another version for a toolchain; not ok: it is this
// host's, or there is none.
func (s toolSet) fetchedTree(name string) (hostTree, bool) {
	i := slices.IndexFunc(s.trees, func(t hostTree) bool { return t.Name == name && t.wanted != "" })
	if i < 0 {
		return hostTree{}, false
	}
	return s.trees[i], true
}
