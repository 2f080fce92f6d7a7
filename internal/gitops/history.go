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
	"company/internal/gitexec"
)

// History is a clone of a quarantine in files: its references, and the packs that
// a container lacks of them. It holds what the host has checked and nothing that
// the run has pushed.
type History struct {
	Refs  map[string]OID // all references of the quarantine, by full name
	Whole bool           // false: the run has pushed; the rest of Refs is to be fetched
	Packs []PackFile
}

// PackFile is a pack, or the index of one, as it lies in the store.
type PackFile struct {
	Name string // pack-<id>.pack or pack-<id>.idx

	s    *Store
	path string // below the store
}

// Open opens the file. The caller closes it.
func (p PackFile) Open() (io.ReadCloser, int64, error) {
	f, err := p.s.own.OpenLinked(p.path)
	if err != nil {
		return nil, 0, storeError("a pack of the base cannot be read", err)
	}
	size, err := checkPackFile(f, p.Name)
	if err != nil {
		_ = f.Close()
		return nil, 0, storeError("a pack of the base cannot be read", err)
	}
	return f, size, nil
}

// checkPackFile accepts what begins as a pack or an index does: the file has other
// names, and goes into a container.
func checkPackFile(f *os.File, name string) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	begins := "PACK"
	if strings.HasSuffix(name, ".idx") {
		begins = "\xfftOc"
	}
	head := make([]byte, len(begins))
	if _, err := f.ReadAt(head, 0); err != nil || string(head) != begins {
		return 0, company.E(company.EGit, name+" is not what its name says").Wrap(err).Fix("remove the folder of the git store; it is made again")
	}
	return info.Size(), nil
}

// History gives the clone for a container that has the history of baked; empty:
// it has nothing. A container that names a commit of another history is
// given everything. Where several runs begin at the same commit with the same
// image, one pack is made for all.
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
	h := &History{Refs: refs, Whole: true}
	for name := range refs {
		h.Whole = h.Whole && (name == BaseBranch || strings.HasPrefix(name, takenSpace))
	}
	more := slices.DeleteFunc(slices.Clone(q.known), func(id OID) bool { return id == baked || id == q.base })
	if baked == q.base && len(more) == 0 {
		return h, nil
	}
	if baked.Valid() {
		// The container names it: where nothing can be made of that, it gets all.
		if h.Packs, err = q.packSince(ctx, append([]OID{q.base}, more...), baked); err == nil || ctx.Err() != nil {
			return h, err
		}
	}
	if h.Packs, err = q.seededPacks(); err != nil || len(more) == 0 {
		return h, err
	}
	rest, err := q.packSince(ctx, more, q.base)
	h.Packs = append(h.Packs, rest...)
	return h, err
}

// seededPacks are the packs that the quarantine was made of: the base's history.
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

// isPackName tells a pack or its index from what else lies beside them.
func isPackName(name string) bool {
	return strings.HasPrefix(name, "pack-") && (strings.HasSuffix(name, ".pack") || strings.HasSuffix(name, ".idx"))
}

// packSince packs what commits hold and one older commit does not. The pack stays:
// with the seed, for the next run, where it is of the base alone.
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
	for _, e := range entries {
		if isPackName(e.Name()) {
			out = append(out, PackFile{Name: e.Name(), s: q.s, path: q.s.relName(dir) + "/" + e.Name()})
		}
	}
	if err != nil {
		return nil, storeError("a pack of the base cannot be read", err)
	}
	return out, nil
}

// makePack makes a pack with its index in a new folder: aside, and renamed when it
// is whole.
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
		dir: repo, args: []string{"pack-objects", "--revs", "--non-empty", "--delta-base-offset", "-q", filepath.Join(aside, "pack")}, stdin: strings.NewReader(revs),
		// As for a fetch: deltas at hand are used, and none are looked for.
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
