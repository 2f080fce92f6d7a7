package gitops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitexec"
)

// keepSpace holds what the company's state names and no other reference does:
// the tree of a merge that waits, the base of a run.
const keepSpace = "refs/company/keep/"

const (
	tooManyPacks = 40        // packs that make the mirror worth packing
	tooManyLoose = 4000      // loose objects, estimated from one of 256 folders
	bigPack      = 256 << 20 // bytes from which a pack is left as it is
	packGrace    = 14 * 24 * time.Hour
	packLimit    = 10 * time.Minute
)

// Keep makes sure that what the state names stays in the mirror: ids are the
// objects of tasks that are not over, or not for long. Bases and other objects
// that were kept before and are not among them are let go; Pack removes them
// in time. Ids that are not in the mirror are passed over.
func (m *Mirror) Keep(ctx context.Context, ids []company.OID) error {
	unlock, err := m.s.lockRepo(ctx, m.dir)
	if err != nil {
		return err
	}
	defer unlock()
	wanted := map[string]bool{}
	b, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return err
	}
	defer b.close()
	found, err := b.readInfos(ids)
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
		if _, err := m.s.runOK(ctx, call{dir: m.dir, args: []string{"update-ref", "--no-deref", "-z", "--stdin"}, stdin: strings.NewReader(in.String())}); err != nil {
			return err
		}
	}
	for _, space := range []string{keepSpace, "refs/company/base/"} {
		if err := m.dropRefs(ctx, space, func(ref string) bool { return !wanted[strings.TrimPrefix(ref, space)] }); err != nil {
			return err
		}
	}
	return nil
}

// Pack packs the mirror when it has become untidy, and removes objects that
// nothing names and that are older than two weeks; it reports whether it did.
// Packs above a size are left as they are, so the work is bounded by the new
// objects. It may run beside everything else: work in progress has younger
// objects, also where the wall clock, whose time files have, was set forward
// since. now is the office's time, which no step of that clock moves.
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
	config := []gitexec.Setting{{"pack.threads", "1"}, {"repack.writeBitmaps", "false"}, {"repack.useDeltaBaseOffset", "true"}}
	if _, err := m.s.runOK(ctx, call{dir: m.dir, args: args, config: config, limit: packLimit}); err != nil {
		return false, err
	}
	_, err = m.s.runOK(ctx, call{dir: m.dir, args: []string{"prune", "--expire=" + before}, limit: packLimit})
	return err == nil, err
}

// inspectPacks looks at the object store: the packs to leave alone, and whether
// there is more in it than there should be. What a git that was killed left there
// counts once it is old.
func (m *Mirror) inspectPacks(old time.Time) (big []string, untidy bool, err error) {
	entries, err := m.s.own.List(m.s.relName(m.dir) + "/objects/pack")
	if err != nil {
		return nil, false, company.E(company.EGit, "the mirror cannot be read").Wrap(err)
	}
	n, left := 0, false
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			continue // it was replaced just now
		}
		left = left || strings.HasPrefix(e.Name(), "tmp_") && fi.ModTime().Before(old)
		if !strings.HasSuffix(e.Name(), ".pack") {
			continue
		}
		n++
		if fi.Size() >= bigPack {
			big = append(big, e.Name())
		}
	}
	loose, err := m.s.own.List(m.s.relName(m.dir) + "/objects/17")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, company.E(company.EGit, "the mirror cannot be read").Wrap(err)
	}
	return big, left || n-len(big) > tooManyPacks || len(loose)*256 > tooManyLoose, nil
}

// Mirrors are the projects that have a mirror here.
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
