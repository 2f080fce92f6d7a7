package image

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
)

// fillDebian makes the layer of additional Debian packages: what a base built
// with them has and the plain base has not. So it can lie on any stack whose
// lowest layer is the plain base; the difference is kept, and one build of it
// serves all stacks.
func (b *Builder) fillDebian(base layerStep, packages []string) writeLayerFunc {
	all := append(slices.Clone(debianPackages), packages...)
	slices.Sort(all)
	with := layerStep{kind: "base", key: debianKey(slices.Compact(all))}
	return func(ctx context.Context, _ *existingImage, work string, l *layer) error {
		kept := filepath.Join(b.dir, "packages-"+with.uniqueName()+".tar")
		unlock, err := b.lockLayer(ctx, with.uniqueName()+"-packages")
		if err != nil {
			return err
		}
		defer unlock()
		if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
			err = b.makeDifference(ctx, base, with, all, work, kept)
			if err != nil {
				return err
			}
		}
		f, err := os.Open(kept)
		if err != nil {
			return err
		}
		defer f.Close()
		for tr := tar.NewReader(f); ; {
			h, err := tr.Next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read %s: %w", kept, err)
			}
			if err := l.copyEntry(h, tr); err != nil {
				return err
			}
		}
	}
}

// makeDifference writes the difference to a file, whole or not at all.
func (b *Builder) makeDifference(ctx context.Context, base, with layerStep, all []string, work, kept string) error {
	full := filepath.Join(work, "full.tar")
	if err := b.buildRootfs(ctx, with, all, work, full); err != nil {
		return err
	}
	defer os.Remove(full)
	// Usually there: the base was imported from it.
	plain, err := b.cachedRootfs(ctx, base, debianPackages, work)
	if err != nil {
		return err
	}
	part, err := newLayer(filepath.Join(work, "packages.tar"))
	if err != nil {
		return err
	}
	defer part.removeFile()
	if err := writeDifference(part, plain, full); err != nil {
		return err
	}
	if err := part.close(); err != nil {
		return err
	}
	return placeFile(part.tarFile.Name(), kept)
}

// cachedRootfs is the file of a root file system with the packages, built unless it
// is in the cache. Of several askers one builds.
func (b *Builder) cachedRootfs(ctx context.Context, s layerStep, packages []string, work string) (string, error) {
	unlock, err := b.lockLayer(ctx, s.uniqueName()+"-rootfs")
	if err != nil {
		return "", err
	}
	defer unlock()
	tarball := filepath.Join(b.dir, s.uniqueName()+".tar")
	_, err = os.Stat(tarball)
	if errors.Is(err, fs.ErrNotExist) {
		err = b.buildRootfs(ctx, s, packages, work, tarball)
	}
	return tarball, err
}

// rootfsEntry is what tells a file of a root file system from another of its name.
type rootfsEntry struct {
	head string
	sum  [sha256.Size]byte
	link string // target of a hard link
}

// writeDifference adds to a layer the files of one root file system that are
// not, or not alike, in another. Files of the other alone stay where they are:
// packages were added, none was taken away.
func writeDifference(l *layer, plain, full string) error {
	old, err := readEntries(plain)
	if err != nil {
		return err
	}
	now, err := readEntries(full)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for name, e := range now {
		if o, ok := old[name]; ok && o == e && (e.link == "" || old[e.link] == now[e.link]) {
			continue
		}
		wanted[name] = true
		if e.link != "" {
			wanted[e.link] = true // a link is to a file of the same layer
		}
	}
	f, err := os.Open(full)
	if err != nil {
		return err
	}
	defer f.Close()
	dirs := map[string]*tar.Header{}
	for tr := tar.NewReader(f); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a root file system: %w", err)
		}
		name := cleanName(h.Name)
		if name == "" {
			continue
		}
		if h.Typeflag == tar.TypeDir {
			dirs[name] = h
		}
		if !wanted[name] || isServerData(name) {
			continue
		}
		for _, dir := range parentDirs(name) {
			if d := dirs[dir]; d != nil && !l.dirs[dir] {
				if err := l.copyEntry(d, nil); err != nil {
					return err
				}
			}
		}
		if h.Typeflag == tar.TypeDir && l.dirs[name] {
			continue
		}
		if err := l.copyEntry(h, tr); err != nil {
			return err
		}
	}
}

// readEntries reads what difference compares. Times do not count.
func readEntries(file string) (map[string]rootfsEntry, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string]rootfsEntry{}
	for tr := tar.NewReader(f); ; {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read a root file system: %w", err)
		}
		name := cleanName(h.Name)
		e := rootfsEntry{head: fmt.Sprintf("%c %o %d:%d %d %s", h.Typeflag, h.Mode, h.Uid, h.Gid, h.Size, h.Linkname)}
		if h.Typeflag == tar.TypeLink {
			e.link = cleanName(h.Linkname)
		}
		sum := sha256.New()
		if _, err := io.Copy(sum, tr); err != nil {
			return nil, err
		}
		sum.Sum(e.sum[:0])
		all[name] = e
	}
	if len(all) == 0 {
		return nil, company.E(company.EImage, "the root file system "+file+" is empty").Fix("remove it, then try again")
	}
	return all, nil
}

// isServerData tells files that servers make of their own when they are installed.
// Data that containers start from is made in a layer of its own.
func isServerData(name string) bool {
	return slices.ContainsFunc([]string{"var/lib/postgresql/", "var/lib/mysql/", "var/lib/redis/", "var/lib/rabbitmq/", "etc/ssl/private/"}, func(dir string) bool { return strings.HasPrefix(name, dir) })
}

func cleanName(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// parentDirs are the directories above a path, from the top.
func parentDirs(name string) []string {
	var all []string
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		all = append(all, dir)
	}
	slices.Reverse(all)
	return all
}
