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

// fillDebian writes the layer of additional Debian packages: the difference between a base built with
// them and the plain base. The layer fits on any stack whose lowest layer is the plain base. The
// difference is kept in the cache, so one build serves all stacks.
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
		file, err := os.Open(kept)
		if err != nil {
			return err
		}
		defer file.Close()
		for tr := tar.NewReader(file); ; {
			header, err := tr.Next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read %s: %w", kept, err)
			}
			if err := l.copyEntry(header, tr); err != nil {
				return err
			}
		}
	}
}

// makeDifference writes the whole difference to a file, or leaves no file.
func (b *Builder) makeDifference(ctx context.Context, base, with layerStep, all []string, work, kept string) error {
	full := filepath.Join(work, "full.tar")
	if err := b.buildRootfs(ctx, with, all, work, full); err != nil {
		return err
	}
	defer os.Remove(full)
	// This is usually in the cache, because the base was imported from it.
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

// cachedRootfs returns the file of a root file system with the packages. It builds the file if it is
// not in the cache. Concurrent callers wait for one build.
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

// rootfsEntry holds the properties in which files with the same name are compared.
type rootfsEntry struct {
	head string
	sum  [sha256.Size]byte
	link string // target of a hard link
}

// writeDifference adds to a layer the files of the root file system full that are missing or different
// in plain. Files that are only in plain are ignored, because packages are only added.
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
	for name, rootfsEntry := range now {
		if o, ok := old[name]; ok && o == rootfsEntry &&
			(rootfsEntry.link == "" || old[rootfsEntry.link] == now[rootfsEntry.link]) {
			continue
		}
		wanted[name] = true
		if rootfsEntry.link != "" {
			wanted[rootfsEntry.link] = true // a hard link must refer to a file of the same layer
		}
	}
	file, err := os.Open(full)
	if err != nil {
		return err
	}
	defer file.Close()
	dirs := map[string]*tar.Header{}
	for tr := tar.NewReader(file); ; {
		header, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a root file system: %w", err)
		}
		name := cleanName(header.Name)
		if name == "" {
			continue
		}
		if header.Typeflag == tar.TypeDir {
			dirs[name] = header
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
		if header.Typeflag == tar.TypeDir && l.dirs[name] {
			continue
		}
		if err := l.copyEntry(header, tr); err != nil {
			return err
		}
	}
}

// readEntries reads the properties of files for writeDifference. It ignores times.
func readEntries(file string) (map[string]rootfsEntry, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string]rootfsEntry{}
	for tr := tar.NewReader(f); ; {
		header, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read a root file system: %w", err)
		}
		name := cleanName(header.Name)
		e := rootfsEntry{head: fmt.Sprintf(
			"%c %o %d:%d %d %s", header.Typeflag, header.Mode, header.Uid, header.Gid, header.Size, header.Linkname)}
		if header.Typeflag == tar.TypeLink {
			e.link = cleanName(header.Linkname)
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

// isServerData reports whether a file is data that a server creates when it is installed. The data
// from which containers start is built in a separate layer.
func isServerData(name string) bool {
	return slices.ContainsFunc(
		[]string{"var/lib/postgresql/", "var/lib/mysql/", "var/lib/redis/", "var/lib/rabbitmq/", "etc/ssl/private/"},
		func(dir string) bool {
			return strings.HasPrefix(name, dir)
		})
}

func cleanName(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// parentDirs returns the directories above a path, topmost first.
func parentDirs(name string) []string {
	var all []string
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		all = append(all, dir)
	}
	slices.Reverse(all)
	return all
}
