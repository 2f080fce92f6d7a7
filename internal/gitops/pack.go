package gitops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec"
)

// keepSpace holds objects that the company's state names and no other reference keeps: the tree of a waiting merge,
// the base of a run.
const keepSpace = "refs/company/keep/"

const (
	tooManyPacks = 40        // number of packs from which the mirror is repacked
	tooManyLoose = 4000      // number of loose objects, estimated from one of 256 folders
	bigPack      = 256 << 20 // size in bytes from which a pack is left unchanged
	packGrace    = 14 * 24 * time.Hour
	packLimit    = 10 * time.Minute
)

// Keep protects objects that the state names from removal. ids are the objects of tasks that are open or ended
// recently. Keep releases bases and other objects that are not among ids; Pack removes them later. It ignores ids
// that are not in the mirror.
func (m *Mirror) Keep(ctx context.Context, ids []company.OID) error {
	unlock, err := m.s.lockRepo(ctx, m.dir)
	if err != nil {
		return err
	}
	defer unlock()
	wanted := map[string]bool{}
	batch, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return err
	}
	defer batch.close()
	found, err := batch.readInfos(ids)
	if err != nil {
		return err
	}
	var in strings.Builder
	for i, id := range ids {
		if found[i].kind == "" || wanted[string(id)] || !id.Valid() {
			continue
		}
		wanted[string(id)] = true
		fmt.Fprintf(&in, "update %s%s\x00%s\x00\x00", keepSpace, id, id)
	}
	if in.Len() > 0 {
		if _, err := m.s.runOK(
			ctx, call{dir: m.dir, args: []string{"update-ref", "--no-deref", "-z", "--stdin"},
				stdin: strings.NewReader(in.String())}); err != nil {
			return err
		}
	}
	for _, space := range []string{keepSpace, "refs/company/base/"} {
		if err := m.dropRefs(ctx, space,
			func(ref string) bool { return !wanted[strings.TrimPrefix(ref, space)] }); err != nil {
			return err
		}
	}
	return nil
}

// Pack repacks the mirror if it has too many packs, loose objects or leftovers, and removes unreachable objects older
// than two weeks. It reports whether it did. Large packs are left unchanged, so the work is limited by the new
// objects. It may run concurrently with other work, whose objects are younger. Since file times use the wall clock,
// which may have been set forward, it uses the earlier of that and now, the office's time.
func (m *Mirror) Pack(ctx context.Context, now time.Time) (bool, error) {
	if wall := time.Now(); wall.Before(now) {
		now = wall
	}
	old := now.Add(-packGrace)
	big, untidy, err := m.inspectPacks(old)
	if err != nil || !untidy {
		return false, err
	}
	before := old.UTC().Format(time.RFC3339)
	args := []string{"repack", "-A", "-d", "-l", "-q", "--unpack-unreachable=" + before}
	for _, name := range big {
		args = append(args, "--keep-pack="+name)
	}
	config := []gitexec.Setting{{"pack.threads", "1"}, {"repack.writeBitmaps", "false"},
		{"repack.useDeltaBaseOffset", "true"}}
	if _, err := m.s.runOK(ctx, call{dir: m.dir, args: args, config: config, limit: packLimit}); err != nil {
		return false, err
	}
	_, err = m.s.runOK(ctx, call{dir: m.dir, args: []string{"prune", "--expire=" + before}, limit: packLimit})
	return err == nil, err
}

// inspectPacks inspects the object store. It returns the packs to leave unchanged, and whether the store needs
// repacking. Leftovers of a killed git count once they are old.
func (m *Mirror) inspectPacks(old time.Time) (big []string, untidy bool, err error) {
	entries, err := m.s.own.List(m.s.relName(m.dir) + "/objects/pack")
	if err != nil {
		return nil, false, company.E(company.EGit, "the mirror cannot be read").Wrap(err)
	}
	n, left := 0, false
	for _, entry := range entries {
		fi, err := entry.Info()
		if err != nil {
			continue // it was just replaced
		}
		left = left || strings.HasPrefix(entry.Name(), "tmp_") && fi.ModTime().Before(old)
		if !strings.HasSuffix(entry.Name(), ".pack") {
			continue
		}
		n++
		if fi.Size() >= bigPack {
			big = append(big, entry.Name())
		}
	}
	loose, err := m.s.own.List(m.s.relName(m.dir) + "/objects/17")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, company.E(company.EGit, "the mirror cannot be read").Wrap(err)
	}
	return big, left || n-len(big) > tooManyPacks || len(loose)*256 > tooManyLoose, nil
}

// Mirrors returns the projects that have a mirror here.
func (s *Store) Mirrors() ([]string, error) {
	entries, err := s.own.List(".")
	if err != nil {
		return nil, company.E(company.EGit, "the git store cannot be read").Wrap(err)
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".git"); ok && e.IsDir() && projectRE.MatchString(name) {
			out = append(out, name)
		}
	}
	return out, nil
}
