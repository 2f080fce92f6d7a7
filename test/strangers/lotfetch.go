package strangers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// fetchListed brings a repository of a list to this machine and holds it against the
// digest of the list.
func fetchListed(ctx context.Context, l Listed) (Checkout, error) {
	s := Stranger{Name: l.Name, Version: l.Version}
	switch l.Stratum {
	case Generator:
		return fetchGenerated(ctx, l)
	case Npm:
		return NpmPackage{Package: l.Name, Integrity: l.Digest}.Fetch(ctx, s)
	case GoProxy:
		return GoModule{Path: l.Name, Sum: l.Digest}.Fetch(ctx, s)
	}
	parent, err := cacheDir("upstream")
	if err != nil {
		return Checkout{}, err
	}
	dir := filepath.Join(parent, l.Name+"_"+l.Version)
	return Checkout{Dir: filepath.Join(dir, "tree")},
		keepIn(dir, func(temp string) error { return fetchUpstream(ctx, l, temp) })
}

// archiveAddress is where an archive of Debian serves the upstream's archive of a source package.
func archiveAddress(of string, l Listed) string {
	return strings.TrimRight(of, "/") + "/" + strings.ReplaceAll(l.Path, "+", "%2b")
}

// fetchUpstream fetches the upstream's archive of a source package, which apt holds
// against the digest, and unpacks it to the folder tree. What differs from a clone is
// what the upstream or Debian left out of the archive.
func fetchUpstream(ctx context.Context, l Listed, temp string) error {
	archive := filepath.Join(temp, filepath.Base(l.Path))
	if err := runHere(ctx, temp, nil, "/usr/lib/apt/apt-helper", "download-file", archiveAddress(findArchive(ctx), l),
		archive, "SHA256:"+l.Digest); err != nil {
		return err
	}
	tree := filepath.Join(temp, "tree")
	unpacked := filepath.Join(temp, "unpacked")
	if err := os.Mkdir(unpacked, 0o755); err != nil {
		return err
	}
	if err := runHere(ctx, temp, nil, "tar", "-xf", archive, "-C", unpacked, "--no-same-permissions",
		"--no-same-owner"); err != nil {
		return err
	}
	entries, err := os.ReadDir(unpacked)
	if err != nil {
		return err
	}
	if len(entries) == 1 && entries[0].IsDir() {
		unpacked = filepath.Join(unpacked, entries[0].Name())
	}
	if err := os.Rename(unpacked, tree); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(tree, ".git")); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has a .git of its own", filepath.Base(archive))
	}
	return os.Remove(archive)
}
