package image

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/lib/clock"
	"company/internal/lib/safedir"
)

// The daemon does not know when our images were built, because their layers have no time.
// So each worker image with a history has a file in the cache, named by its key. The file
// lists the mirrors of the history, one per line, since offices of one user share images.
// Its modification time is the time of the last use.
const usedFolder = "used"

// maxUsers limits how many mirrors are recorded for an image.
const maxUsers = 64

// usesLock is the lock for changing a record. Offices share the records.
const usesLock = "uses"

// usesTimeout limits how long a change of a record waits for another one. Changes are fast unless
// their process is stopped.
const usesTimeout = 15 * time.Second

// markUse records that the image with this key was built or requested now. With an empty mirror, only
// the time is updated. If the record is missing, the image just counts as old.
func (b *Builder) markUse(ctx context.Context, key company.Hash, mirror string) {
	if !key.Valid() {
		return
	}
	var err error
	if mirror == "" {
		now := time.Now()
		err = os.Chtimes(filepath.Join(b.dir, usedFolder, string(key)), now, now)
	} else {
		err = b.changeUse(ctx, key, func(known []string, _ time.Time) ([]string, time.Time) {
			known = append([]string{mirror}, slices.DeleteFunc(known, func(m string) bool { return m == mirror })...)
			return known[:min(len(known), maxUsers)], time.Now()
		})
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.log.WarnContext(ctx, "the use of an image is not recorded", "image", key, "err", err)
	}
}

// changeUse replaces the record of a key and the time of its last use with the results of change.
// Other processes cannot change the record meanwhile, and readers see either the old record or the new
// one. If change returns a nil list, the record is unchanged.
func (b *Builder) changeUse(
	ctx context.Context, key company.Hash, change func(mirrors []string, last time.Time) ([]string, time.Time),
) error {
	ctx, cancel := context.WithTimeout(ctx, usesTimeout)
	defer cancel()
	unlock, err := b.lockFile(ctx, usesLock, syscall.LOCK_EX, "")
	if err != nil {
		return err
	}
	defer unlock()
	mirrors, used := change(b.readUse(key))
	if mirrors == nil {
		return nil
	}
	file := filepath.Join(b.dir, usedFolder, string(key))
	if err := os.WriteFile(file+".new", []byte(strings.Join(mirrors, "\n")), 0o600); err != nil {
		return err
	}
	if err := os.Chtimes(file+".new", used, used); err != nil {
		return err
	}
	return placeFile(file+".new", file)
}

// readUse returns the record of a key. Without a record both results are zero.
func (b *Builder) readUse(key company.Hash) (mirrors []string, last time.Time) {
	file := filepath.Join(b.dir, usedFolder, string(key))
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, time.Time{}
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, time.Time{}
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), info.ModTime()
}

// ListOthers lists the existing mirrors of the image for which isOwn returns false. The tasks of other
// offices are not known here, and those offices remove the image themselves.
func (e ImageEntry) ListOthers(isOwn func(mirror string) bool) []string {
	return slices.DeleteFunc(slices.Clone(e.Mirrors), func(m string) bool {
		_, err := os.Stat(m)
		return isOwn(m) || err != nil
	})
}

// LeaveToOthers removes one's own projects from an image's record if others use the image. It reports
// whether they do.
func (b *Builder) LeaveToOthers(ctx context.Context, imageEntry ImageEntry, isOwn func(mirror string) bool) bool {
	left := false
	err := b.changeUse(ctx, keyOf(imageEntry.Tag), func(known []string, last time.Time) ([]string, time.Time) {
		imageEntry.Mirrors = known // others may have noted a use since imageEntry was listed
		others := imageEntry.ListOthers(isOwn)
		if left = len(others) > 0; !left {
			return nil, last
		}
		return others, last // removing a project is not a use
	})
	if err != nil { // others may use the image, so it remains
		b.log.WarnContext(ctx, "an image is not left to other offices", "image", imageEntry.Tag, "err", err)
		return true
	}
	return left
}

// keyOf returns the key in one of our tags, or "".
func keyOf(tag string) company.Hash {
	key := company.Hash(tag[strings.LastIndexAny(tag, ":-")+1:])
	if !key.Valid() {
		return ""
	}
	return key
}

// forgetUse removes the record of a removed image.
func (b *Builder) forgetUse(tag string) {
	if key := keyOf(tag); key != "" {
		_ = os.Remove(filepath.Join(b.dir, usedFolder, string(key))) // if this fails, SweepUses removes it
	}
}

// SweepUses removes the records of images that were removed by other programs, once the records are a
// day old. The delay is needed because an image may be built again.
func (b *Builder) SweepUses(entries []ImageEntry) {
	keep := map[string]bool{}
	for _, e := range entries {
		keep[string(keyOf(e.Tag))] = true
	}
	files, err := os.ReadDir(filepath.Join(b.dir, usedFolder))
	if err != nil {
		return // the next sweep retries
	}
	for _, entry := range files {
		if info, err := entry.Info(); err == nil && !keep[entry.Name()] && !clock.Within(24*time.Hour, info.ModTime()) {
			_ = os.Remove(filepath.Join(b.dir, usedFolder, entry.Name()))
		}
	}
}

// buildsLock is held shared by every builder that makes layers, in this process or another, and
// exclusively by a removal. It protects new layers on which no image is built yet.
const buildsLock = "builds"

// whileNoneIsMade calls remove while no builder of this user is building an image. If one is, ok is
// false and remove is not called.
func (b *Builder) whileNoneIsMade(remove func() error) (ok bool, err error) {
	file, err := os.OpenFile(filepath.Join(b.dir, "locks", buildsLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, company.E(company.EImage, "cannot open the lock of image builds").Wrap(err)
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false, file.Close()
	}
	defer func() { _ = safedir.Unlock(file) }()
	return true, remove()
}
