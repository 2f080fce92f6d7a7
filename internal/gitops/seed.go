package gitops

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
)

// seedList is the file in a repository that lists the packs it was linked.
const seedList = "company-seed-packs"

// maxSeedPacks is how many packs a seed may inherit before it is packed anew.
const maxSeedPacks = 32

// seed is a repository with exactly the history of base, in packs, to hard
// link quarantines from. A seed of an ancestor gives its packs to the new
// one: an ancestor's history is part of the base's, so nothing leaks.
func (s *Store) seed(ctx context.Context, m *Mirror, base OID) (string, error) {
	dir := filepath.Join(s.seeds(), string(base)+".git")
	unlock, err := s.lock(ctx, s.seeds())
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, s.verify(dir)
	}
	older, olderID, err := s.ancestorSeed(ctx, m, base)
	if err != nil {
		return "", err
	}
	return dir, s.create(ctx, dir, "base", func(tmp string) error {
		if older != "" {
			if err := linkPacks(older, tmp); err != nil {
				return err
			}
			if _, err := s.must(ctx, call{dir: tmp, args: []string{"update-ref", BaseBranch, string(olderID)}}); err != nil {
				return err
			}
		}
		// Packs only, never loose objects: packs are what is linked.
		return s.copyCommit(ctx, m.dir, tmp, base, BaseBranch, []setting{{"fetch.unpackLimit", "1"}})
	})
}

// ancestorSeed finds a recent seed whose commit is an ancestor of base.
func (s *Store) ancestorSeed(ctx context.Context, m *Mirror, base OID) (string, OID, error) {
	entries, err := os.ReadDir(s.seeds())
	if err != nil {
		return "", "", company.E(company.EGit, "the git store cannot be read").Wrap(err)
	}
	type candidate struct {
		id  OID
		age int64
	}
	var seeds []candidate
	for _, e := range entries {
		id := OID(strings.TrimSuffix(e.Name(), ".git"))
		if fi, err := e.Info(); err == nil && id.Valid() {
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
		dir := filepath.Join(s.seeds(), string(c.id)+".git")
		if packs, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack")); err != nil || len(packs) == 0 || len(packs) > maxSeedPacks {
			continue
		}
		// A seed of another project's mirror is simply no ancestor.
		if _, err := m.Resolve(ctx, string(c.id)); err != nil {
			continue
		}
		ok, err := m.IsAncestor(ctx, c.id, base)
		if err != nil {
			return "", "", err
		}
		if ok {
			return dir, c.id, s.verify(dir)
		}
	}
	return "", "", nil
}

// DropSeeds removes every seed but those of keep. Quarantines keep their own
// links.
func (s *Store) DropSeeds(ctx context.Context, keep ...OID) error {
	unlock, err := s.lock(ctx, s.seeds())
	if err != nil {
		return err
	}
	defer unlock()
	entries, err := os.ReadDir(s.seeds())
	for _, e := range entries {
		if !slices.Contains(keep, OID(strings.TrimSuffix(e.Name(), ".git"))) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.seeds(), e.Name())))
		}
	}
	if err != nil {
		return company.E(company.EGit, "the seeds cannot be removed").Wrap(err)
	}
	return nil
}

// linkPacks gives the packs of one repository to another without copying.
// Packs are never written again, so sharing them is safe.
func linkPacks(from, to string) error {
	src, dst := filepath.Join(from, "objects", "pack"), filepath.Join(to, "objects", "pack")
	entries, err := os.ReadDir(src)
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), "pack-") {
			names = append(names, e.Name())
			err = errors.Join(err, os.Link(filepath.Join(src, e.Name()), filepath.Join(dst, e.Name())))
		}
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(to, seedList), []byte(strings.Join(names, "\n")), 0o600))
	if err != nil {
		return company.E(company.EGit, "the packs of the base cannot be linked").Wrap(err)
	}
	return nil
}
