package gitops

import (
	"company/internal/gitops/gitexec"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// seedList is the file in a repository that lists its linked packs.
const seedList = "company-seed-packs"

// maxSeedPacks limits the packs that a seed may inherit. Beyond it, the seed is packed from scratch.
const maxSeedPacks = 32

// ensureSeed returns a repository with exactly the history of base, in packs, from which quarantines are hard-linked.
// A new seed reuses the packs of an ancestor's seed. Nothing leaks, because an ancestor's history is part of the
// base's.
func (s *Store) ensureSeed(ctx context.Context, mirror *Mirror, base OID) (string, error) {
	dir := filepath.Join(s.seedsDir(), string(base)+".git")
	unlock, err := s.lockRepo(ctx, s.seedsDir())
	if err != nil {
		return "", err
	}
	defer unlock()
	if there, err := s.pathExists(dir); err != nil {
		return "", err
	} else if there {
		return dir, s.verifyRepo(dir)
	}
	older, olderID, err := s.ancestorSeed(ctx, mirror, base)
	if err != nil {
		return "", err
	}
	return dir, s.createRepo(ctx, dir, "base", func(tmp string) error {
		if older != "" {
			if err := s.linkPacks(older, tmp); err != nil {
				return err
			}
			if _, err := s.runOK(ctx, call{dir: tmp, args: []string{"update-ref", BaseBranch, string(olderID)}}); err != nil {
				return err
			}
		}
		// Store only packs and no loose objects, because only packs are linked.
		return s.copyCommit(ctx, mirror.dir, tmp, base, BaseBranch, []gitexec.Setting{{"fetch.unpackLimit", "1"}})
	})
}

// ancestorSeed returns a recent seed whose commit is an ancestor of base, or "".
func (s *Store) ancestorSeed(ctx context.Context, mirror *Mirror, base OID) (string, OID, error) {
	entries, err := s.own.List("seeds")
	if err != nil {
		return "", "", storeError("the git store cannot be read", err)
	}
	type candidate struct {
		id  OID
		age int64
	}
	var seeds []candidate
	for _, entry := range entries {
		id := OID(strings.TrimSuffix(entry.Name(), ".git"))
		if fi, err := entry.Info(); err == nil && id.Valid() {
			seeds = append(seeds, candidate{id, -fi.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(seeds, func(a, b candidate) int {
		if a.age != b.age {
			return int(max(-1, min(1, a.age-b.age)))
		}
		return strings.Compare(string(a.id), string(b.id))
	})
	for _, c := range seeds[:min(len(seeds), 8)] {
		dir := filepath.Join(s.seedsDir(), string(c.id)+".git")
		if n, err := s.countPacks(dir); err != nil || n == 0 || n > maxSeedPacks {
			continue
		}
		// A seed of another project's mirror is simply not an ancestor.
		if _, err := mirror.Resolve(ctx, string(c.id)); err != nil {
			continue
		}
		ok, err := mirror.IsAncestor(ctx, c.id, base)
		if err != nil {
			return "", "", err
		}
		if ok {
			return dir, c.id, s.verifyRepo(dir)
		}
	}
	return "", "", nil
}

// DropSeeds removes all seeds except keep. Quarantines keep their own links.
func (s *Store) DropSeeds(ctx context.Context, keep ...OID) error {
	unlock, err := s.lockRepo(ctx, s.seedsDir())
	if err != nil {
		return err
	}
	defer unlock()
	entries, err := s.own.List("seeds")
	for _, entry := range entries {
		if !slices.Contains(keep, OID(strings.TrimSuffix(entry.Name(), ".git"))) {
			err = errors.Join(err, s.own.RemoveAll("seeds/"+entry.Name()))
		}
	}
	if err != nil {
		return storeError("the seeds cannot be removed", err)
	}
	return nil
}

// linkPacks hard-links the packs of one repository into another. Packs are never modified, so sharing them is safe.
func (s *Store) linkPacks(from, to string) error {
	src, dst := s.relName(from)+"/objects/pack/", s.relName(to)+"/objects/pack/"
	entries, err := s.own.List(src)
	var names []string
	for _, entry := range entries {
		if entry.Type().IsRegular() && strings.HasPrefix(entry.Name(), "pack-") {
			names = append(names, entry.Name())
			err = errors.Join(err, s.own.Link(src+entry.Name(), dst+entry.Name()))
		}
	}
	err = errors.Join(err, s.own.WriteFile(s.relName(to)+"/"+seedList, []byte(strings.Join(names, "\n")), 0o600))
	if err != nil {
		return storeError("the packs of the base cannot be linked", err)
	}
	return nil
}

// countPacks returns the number of packs in a repository of ours.
func (s *Store) countPacks(dir string) (int, error) {
	entries, err := s.own.List(s.relName(dir) + "/objects/pack")
	n := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".pack") {
			n++
		}
	}
	return n, err
}
