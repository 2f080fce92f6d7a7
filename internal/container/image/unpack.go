package image

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/depproxy"
	"company/internal/lib/safetext"
)

// Unpack fetches a package through our own mirror, which checks it against the registry's digest, and
// unpacks it.
func (h *hostFolder) Unpack(ctx context.Context, file, dir string) error {
	access := h.access
	if access.policy == nil {
		access = &registryAccess{store: access.store, policy: depproxy.NewOpenPolicy(h.registry)}
	}
	address, stop, err := serveHost(access)
	if err != nil {
		return err
	}
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/"+h.registry+"/"+file, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		line, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
		return company.E(company.EImage, "cannot fetch "+path.Base(file)).Because(safetext.StripLine(string(line)))
	}
	return unpackArchive(resp.Body, filepath.Join(h.places.Out, filepath.FromSlash(dir)))
}

// unpackArchive writes the regular files of a .tar.gz below a folder. It strips the topmost folder.
func unpackArchive(r io.Reader, dir string) error {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	var total int64
	for n, tr := 0, tar.NewReader(unzipped); ; n++ {
		head, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a package: %w", err)
		}
		_, rel, ok := strings.Cut(path.Clean(head.Name), "/")
		isFile := head.Typeflag == tar.TypeReg && ok
		// Count skipped entries too: they are also decompressed, and may be far larger than the package.
		if total += head.Size; isFile && !filepath.IsLocal(rel) || n > maxDepFiles || total > maxDeps {
			return company.E(company.EImage, "a package is too large, or has a path outside of its folder")
		}
		if !isFile {
			continue
		}
		if err := unpackFile(tr, filepath.Join(dir, filepath.FromSlash(rel)), head.Mode); err != nil {
			return err
		}
	}
}

// unpackFile writes a file of an archive. It keeps only the owner's execute permission.
func unpackFile(r io.Reader, file string, mode int64) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|os.FileMode(mode&0o100))
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
