package gitops

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops/gitexec"
)

// History describes a clone of a quarantine as files: its references, and the packs that a container lacks. It
// contains only data that the host has checked, and no pushes of the run.
type History struct {
	Refs  map[string]OID // all references of the quarantine, by full name
	Whole bool           // false if the run has pushed; the rest of Refs must then be fetched
	Packs []PackFile
}

// PackFile is a pack or a pack index in the store.
type PackFile struct {
	Name string // pack-<id>.pack or pack-<id>.idx

	s    *Store
	path string // below the store
}

// Open opens the file. The caller closes it.
func (p PackFile) Open() (io.ReadCloser, int64, error) {
	file, err := p.s.own.OpenLinked(p.path)
	if err != nil {
		return nil, 0, storeError("a pack of the base cannot be read", err)
	}
	size, err := checkPackFile(file, p.Name)
	if err != nil {
		_ = file.Close()
		return nil, 0, storeError("a pack of the base cannot be read", err)
	}
	return file, size, nil
}

// checkPackFile checks that the file starts like a pack or an index, because the file has other hard links and goes
// into a container.
func checkPackFile(file *os.File, name string) (size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	begins := "PACK"
	if strings.HasSuffix(name, ".idx") {
		begins = "\xfftOc"
	}
	head := make([]byte, len(begins))
	if _, err := file.ReadAt(head, 0); err != nil || string(head) != begins {
		return 0, company.E(company.EGit, name+" is not what its name says").Wrap(err).
			Fix("remove the folder of the git store; it is made again")
	}
	return info.Size(), nil
}

// History returns the clone for a container that already has the history of baked. An empty baked means that it has
// none. A container that names a commit of another history gets everything. Runs that start at the same commit with
// the same image share one pack.
func (q *Quarantine) History(ctx context.Context, baked OID) (*History, error) {
	if err := q.s.checkUntampered(q.dir); err != nil {
		return nil, err
	}
	refs, ok, err := q.readRefs("refs/heads/", "refs/company/")
	if err == nil && !ok {
		refs, err = q.askRefs(ctx, "refs/heads/", "refs/company/")
	}
	if err != nil {
		return nil, err
	}
	history := &History{Refs: refs, Whole: true}
	for name := range refs {
		history.Whole = history.Whole && (name == BaseBranch || strings.HasPrefix(name, takenSpace))
	}
	more := slices.DeleteFunc(slices.Clone(q.known), func(id OID) bool { return id == baked || id == q.base })
	if baked == q.base && len(more) == 0 {
		return history, nil
	}
	if baked.Valid() {
		// The container names the commit. If no pack can be made from it, the container gets everything.
		if history.Packs, err = q.packSince(ctx, append([]OID{q.base}, more...), baked); err == nil || ctx.Err() != nil {
			return history, err
		}
	}
	if history.Packs, err = q.seededPacks(); err != nil || len(more) == 0 {
		return history, err
	}
	rest, err := q.packSince(ctx, more, q.base)
	history.Packs = append(history.Packs, rest...)
	return history, err
}

// seededPacks returns the packs that the quarantine was created from: the base's history.
func (q *Quarantine) seededPacks() ([]PackFile, error) {
	dir := q.s.relName(q.dir)
	list, err := q.s.own.ReadFile(dir+"/"+seedList, 0)
	if err != nil {
		return nil, storeError("the packs of the base cannot be found", err)
	}
	var out []PackFile
	for name := range strings.SplitSeq(string(list), "\n") {
		if isPackName(name) {
			out = append(out, PackFile{Name: name, s: q.s, path: dir + "/objects/pack/" + name})
		}
	}
	return out, nil
}

// isPackName reports whether a file is a pack or its index.
func isPackName(name string) bool {
	return strings.HasPrefix(name, "pack-") && (strings.HasSuffix(name, ".pack") || strings.HasSuffix(name, ".idx"))
}

// packSince creates a pack of what the commits in want contain and have does not. The pack is kept. If it is of the
// base only, it is stored with the seed for later runs.
func (q *Quarantine) packSince(ctx context.Context, want []OID, have OID) ([]PackFile, error) {
	var revs strings.Builder
	for _, id := range want {
		fmt.Fprintf(&revs, "%s\n", id)
	}
	fmt.Fprintf(&revs, "^%s\n", have)
	sum := sha256.Sum256([]byte(revs.String()))
	repo := q.dir
	if seed := filepath.Join(q.s.seedsDir(), string(q.base)+".git"); len(want) == 1 && want[0] == q.base {
		if there, err := q.s.pathExists(seed); err != nil {
			return nil, err
		} else if there {
			repo = seed
		}
	}
	dir := filepath.Join(repo, "company-since-"+hex.EncodeToString(sum[:8]))
	unlock, err := q.s.lockRepo(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if there, err := q.s.pathExists(dir); err != nil {
		return nil, err
	} else if !there {
		if err := q.makePack(ctx, repo, dir, revs.String()); err != nil {
			return nil, err
		}
	}
	entries, err := q.s.own.List(q.s.relName(dir))
	var out []PackFile
	for _, entry := range entries {
		if isPackName(entry.Name()) {
			out = append(out, PackFile{Name: entry.Name(), s: q.s, path: q.s.relName(dir) + "/" + entry.Name()})
		}
	}
	if err != nil {
		return nil, storeError("a pack of the base cannot be read", err)
	}
	return out, nil
}

// makePack creates a pack with its index in a temporary folder and renames the folder when it is complete.
func (q *Quarantine) makePack(ctx context.Context, repo, dir, revs string) error {
	aside := filepath.Join(q.s.tempDir(), "since-"+filepath.Base(repo)+"-"+filepath.Base(dir))
	if err := q.s.own.RemoveAll(q.s.relName(aside)); err != nil {
		return storeError("no pack can be made", err)
	}
	if err := q.s.own.Mkdir(q.s.relName(aside)); err != nil {
		return storeError("no pack can be made", err)
	}
	defer func() { _ = q.s.own.RemoveAll(q.s.relName(aside)) }()
	_, err := q.s.runOK(ctx, call{
		dir:   repo,
		args:  []string{"pack-objects", "--revs", "--non-empty", "--delta-base-offset", "-q", filepath.Join(aside, "pack")},
		stdin: strings.NewReader(revs),
		// As for a fetch: reuse existing deltas and search for no new ones.
		config: []gitexec.Setting{{"pack.window", "0"}, {"pack.writeReverseIndex", "false"}},
	})
	if err != nil {
		return err
	}
	if err := q.s.own.Rename(q.s.relName(aside), q.s.relName(dir)); err != nil {
		return storeError("no pack can be made", err)
	}
	return nil
}
