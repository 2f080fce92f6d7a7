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

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ciconfig"
	"company/internal/lib/safetext"

	"github.com/google/renameio/v2"
	"golang.org/x/mod/semver"
)

// wish is a toolchain version that a project requests and this host does not have.
type wish struct {
	file         string
	wants, shown string // for the registry and for people, respectively
	has          string
}

// describeUnmet describes the wish in a note. reason says why it is not met.
func (w wish) describeUnmet(tool, reason string) string {
	n := fmt.Sprintf("%s wants %s %s, the image has %s", w.file, tool, w.shown, w.has)
	if reason != "" {
		n += ": " + reason + " (install it on this host)"
	}
	return n
}

// readWish reads the version that the files of a tree request. It returns nil if the version in has
// meets the request, or if there is no request.
func readWish(ctx context.Context, tree treeFiles, toolchain ecosystem.Toolchain, has string) (*wish, error) {
	var out *wish
	if has == "" {
		return nil, nil
	}
	met := false
	for _, name := range toolchain.WishFiles {
		files := slices.DeleteFunc(tree.filesNamed(name),
			func(p string) bool { return ecosystem.IsForeignDir(strings.TrimPrefix(path.Dir(p), ".")) })
		if len(files) > 0 && !toolchain.WishAll {
			files = files[:1]
		}
		for _, file := range files {
			text, err := tree.readText(ctx, file)
			if err != nil {
				return nil, err
			}
			wants, hasText := toolchain.Wish(strings.TrimSpace(string(text)), has)
			if wants == "" {
				met = met || hasText != ""
				continue
			}
			if has = wants; out != nil {
				hasText = out.has
			}
			out = &wish{file: file, wants: wants, shown: safetext.Cut(safetext.StripLine(wants), 60), has: hasText}
		}
		if len(files) > 0 && !toolchain.WishAll {
			break
		}
	}
	if out == nil && !met && toolchain.WishAction != "" {
		return readCIWish(ctx, tree, toolchain, has)
	}
	return out, nil
}

// readCIWish returns the version that the CI requests, if the image's version differs from all
// versions that the CI sets up. It picks the lowest newer version, or else the highest one.
func readCIWish(ctx context.Context, tree treeFiles, toolchain ecosystem.Toolchain, has string) (*wish, error) {
	ci := ecosystem.TreeOf(textsOf{ctx, tree})
	var all []wish
	for _, definition := range ciconfig.ReadDefinitions(ci) {
		for _, version := range ciconfig.ListVersions([]ciconfig.Definition{definition}, toolchain.WishAction) {
			wants, hasText := toolchain.Wish(version, has)
			if wants == "" { // met, or not understood
				return nil, ci.Err()
			}
			all = append(
				all, wish{file: definition.File, wants: wants, shown: safetext.Cut(safetext.StripLine(wants), 60), has: hasText})
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

// findVersion finds the tree of the version that a project requests, if the image would have a
// different one. If there is no such tree, it returns the reason.
func (b *Builder) findVersion(
	ctx context.Context, req Request, project treeFiles, toolchain ecosystem.Toolchain, has string,
) (tree hostTree, reason string, err error) {
	wish, err := readWish(ctx, project, toolchain, has)
	if err != nil || wish == nil {
		return tree, "", err
	}
	return b.otherVersion(ctx, req, toolchain, *wish)
}

// isMetByDebian reports whether Debian's version meets the request of a project.
func isMetByDebian(ctx context.Context, project treeFiles, toolchain ecosystem.Toolchain) bool {
	if toolchain.Version == "" || len(toolchain.Fallback) == 0 {
		return false
	}
	w, err := readWish(ctx, project, toolchain, toolchain.Version)
	return err == nil && w == nil
}

// otherVersion finds the tree of the version that a project requests. If the version is not available,
// it returns the reason.
func (b *Builder) otherVersion(
	ctx context.Context, req Request, toolchain ecosystem.Toolchain, w wish,
) (tree hostTree, reason string, err error) {
	switch {
	case toolchain.Versions == nil:
		return tree, "", nil
	case req.Offline:
		return tree, "another is not fetched, container.deps is off", nil
	}
	chosen, err := b.chooseVersion(toolchain, w.wants, func() ([]string, error) {
		store := b.registryStore(req)
		if store == nil {
			return nil, errors.New("no registry is available")
		}
		return store.ListVersions(ctx, toolchain.Versions.Package)
	})
	switch {
	case ctx.Err() != nil:
		return tree, "", ctx.Err()
	case err != nil:
		return tree, errorLine(err), nil
	case chosen.Version == "":
		return tree, "no such version can be had", nil
	}
	dir := b.treeDir(toolchain, chosen.Version)
	if why := b.whyRefused(dir); why != "" {
		return tree, why, nil
	}
	return hostTree{Toolchain: toolchain, dir: dir, version: chosen.Shown,
		keyInputs: []string{"\x00fetched", chosen.Version},
		wanted:    chosen.Version, asked: w.file}, "", nil
}

// errorLine returns an error as one line of text for a note.
func errorLine(err error) string {
	line := err.Error()
	if e := (*company.Error)(nil); errors.As(err, &e) {
		line = e.Message
	}
	return safetext.Cut(safetext.StripLine(line), 160)
}

// chosenVersion is the version that was chosen for a wish.
type chosenVersion struct{ Version, Shown string }

// chooseVersion chooses a version of a registry for a wish. The choice is stored in the cache, so the
// next task gets the same image without asking a registry.
func (b *Builder) chooseVersion(
	toolchain ecosystem.Toolchain, wants string, list func() ([]string, error),
) (chosenVersion, error) {
	var version chosenVersion
	file := filepath.Join(b.dir, versionsFolder,
		toolchain.Name+"-"+string(hashKey(toolchain.Versions.Package.Name, wants)[:20])+".json")
	text, err := os.ReadFile(file)
	if err == nil && json.Unmarshal(text, &version) == nil && version.Version != "" {
		return version, nil
	}
	b.reportProgress("looking for the version %s of %s", safetext.Cut(safetext.StripLine(wants), 60), toolchain.Title)
	all, err := list()
	if err != nil {
		return version, err
	}
	if version.Version, version.Shown = toolchain.Versions.Choose(wants, all); version.Version == "" {
		return version, nil
	}
	if text, err = json.Marshal(version); err != nil {
		return version, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return version, err
	}
	return version, renameio.WriteFile(file, text, 0o600)
}

// versionsFolder is the cache folder of choices and downloads.
const versionsFolder = "toolchains"

// treeDir returns the folder of a fetched tree.
func (b *Builder) treeDir(t ecosystem.Toolchain, version string) string {
	return filepath.Join(b.dir, versionsFolder, t.Name+"-"+version)
}

// refusedFor is how long a version that could not be fetched is not requested again.
const refusedFor = time.Hour

// refusal records why a tree could not be fetched, and until when it is not retried.
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

// errNoVersion means that a toolchain version cannot be fetched. The image is then planned again
// without that version.
var errNoVersion = errors.New("image: a version of a toolchain is not available")

// fetchTree fetches the tree of a version into its folder, unless it exists. Concurrent callers wait
// for one fetch.
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

// downloadTree fetches a tree into a temporary folder and moves it to its final place.
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
	hostFolder, stop, err := b.openHostFolder(
		ecosystem.Install{Registry: t.Versions.Package.Ecosystem, Own: true}, req, work)
	if err != nil {
		return err
	}
	defer stop()
	if err := t.Versions.Fetch(ctx, hostFolder, t.wanted); err != nil {
		return hostFolder.access.explainError(err)
	}
	got := filepath.Join(hostFolder.places.Out, filepath.FromSlash(t.Versions.Dir(t.wanted)))
	if p := t.Versions.Program; p != "" {
		if err := runsInBase(filepath.Join(got, p), nil); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(t.dir), 0o700); err != nil {
		return err
	}
	if err := os.Chmod(got, 0o700); err != nil { // a folder without write permission cannot be moved
		return err
	}
	return placeTree(got, t.dir)
}

// fetchedTree returns the tree of another version of a toolchain. ok is false if the version is this
// host's, or if there is no tree.
func (s toolSet) fetchedTree(name string) (hostTree, bool) {
	i := slices.IndexFunc(s.trees, func(t hostTree) bool { return t.Name == name && t.wanted != "" })
	if i < 0 {
		return hostTree{}, false
	}
	return s.trees[i], true
}
