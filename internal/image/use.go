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

	"company/internal/clock"
	"company/internal/company"
	"company/internal/folder"
)

// The daemon does not say when an image of ours was made: its layers name no time. So
// each worker image with a history has a file in the cache that is named by its key. The
// file holds the mirrors that the history came from, one to a line, since offices of one user
// share images. Its time is that of the last use.
const usedFolder = "used"

// maxUsers is how many mirrors are remembered of an image.
const maxUsers = 64

// usesLock is held while a record is changed: offices share them.
const usesLock = "uses"

// usesTimeout is how long a change of a record waits for another one, which takes no time
// unless its process stands still.
const usesTimeout = 15 * time.Second

// markUse records that the image of a key was made or asked for now. An empty mirror
// leaves what is recorded. Without the record the image only counts as old.
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

// changeUse writes what change makes of the record of a key, and the time of its last use. No
// other process changes it meanwhile, and one that reads it sees the old record or the new one.
// A nil list leaves the record as it is.
func (b *Builder) changeUse(ctx context.Context, key company.Hash, change func(mirrors []string, last time.Time) ([]string, time.Time)) error {
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

// readUse returns what markUse recorded of a key. Without a record both are zero.
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

// ListOthers lists the mirrors that are still there of the projects that have an image, too, but
// for one's own. The tasks of another office are not known here, and it removes the image itself.
func (e ImageEntry) ListOthers(isOwn func(mirror string) bool) []string {
	return slices.DeleteFunc(slices.Clone(e.Mirrors), func(m string) bool {
		_, err := os.Stat(m)
		return isOwn(m) || err != nil
	})
}

// LeaveToOthers takes one's own projects off an image's record, if others have the image. It
// reports whether they do.
func (b *Builder) LeaveToOthers(ctx context.Context, e ImageEntry, isOwn func(mirror string) bool) bool {
	left := false
	err := b.changeUse(ctx, keyOf(e.Tag), func(known []string, last time.Time) ([]string, time.Time) {
		e.Mirrors = known // others may have noted a use since e was listed
		others := e.ListOthers(isOwn)
		if left = len(others) > 0; !left {
			return nil, last
		}
		return others, last // this was no use
	})
	if err != nil { // not known: it stays
		b.log.WarnContext(ctx, "an image is not left to other offices", "image", e.Tag, "err", err)
		return true
	}
	return left
}

// keyOf returns the key that a tag of ours carries, or nothing.
func keyOf(tag string) company.Hash {
	key := company.Hash(tag[strings.LastIndexAny(tag, ":-")+1:])
	if !key.Valid() {
		return ""
	}
	return key
}

// forgetUse removes the record of an image that is removed.
func (b *Builder) forgetUse(tag string) {
	if key := keyOf(tag); key != "" {
		_ = os.Remove(filepath.Join(b.dir, usedFolder, string(key))) // one that stays is removed by SweepUses
	}
}

// SweepUses removes the records of images that were removed behind our back, once they
// are a day old: an image may be made again.
func (b *Builder) SweepUses(entries []ImageEntry) {
	keep := map[string]bool{}
	for _, e := range entries {
		keep[string(keyOf(e.Tag))] = true
	}
	files, err := os.ReadDir(filepath.Join(b.dir, usedFolder))
	if err != nil {
		return // the next round tries again
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && !keep[f.Name()] && !clock.Within(24*time.Hour, info.ModTime()) {
			_ = os.Remove(filepath.Join(b.dir, usedFolder, f.Name()))
		}
	}
}

// buildsLock is held, shared, by every builder that makes layers, in this process or
// another, and alone by a removal. A builder holds layers that no image is stacked on yet.
const buildsLock = "builds"

// whileNoneIsMade calls remove while no builder of this user makes an image. ok is false,
// and remove not called, where one is at work.
func (b *Builder) whileNoneIsMade(remove func() error) (ok bool, err error) {
	f, err := os.OpenFile(filepath.Join(b.dir, "locks", buildsLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, company.E(company.EImage, "the lock of image builds cannot be opened").Wrap(err)
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false, f.Close()
	}
	defer func() { _ = folder.Unlock(f) }()
	return true, remove()
}
