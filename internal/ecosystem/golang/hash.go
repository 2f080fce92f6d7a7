package golang

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"

	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"

	"company/internal/company"
	"company/internal/ecosystem"
)

// hashMod returns the digest of a version's go.mod.
func hashMod(ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency) (string, error) {
	file, err := versionPath(dependency, "mod")
	if err != nil {
		return "", err
	}
	text, err := readMod(ctx, fetcher, file)
	if err != nil {
		return "", err
	}
	return dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text)), nil
	})
}

// hashZip returns the digest of a version's files.
func hashZip(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency,
) (sum string, err error) {
	file, err := versionPath(dependency, "zip")
	if err != nil {
		return "", err
	}
	archive, err := getFile(ctx, fetcher, file, ecosystem.MaxPackage, ecosystem.CheckZip)
	if err != nil {
		return "", err
	}
	err = archive.ReadAt(func(content io.ReaderAt, size int64) error {
		reader, err := zip.NewReader(content, size)
		if err != nil {
			return err
		}
		files := map[string]*zip.File{}
		var names []string
		left := uint64(modzip.MaxZipFile)
		for _, entry := range reader.File {
			if entry.UncompressedSize64 > left { // the go command refuses such a file, too
				return fmt.Errorf("the files of %s have more than %d bytes", dependency, int64(modzip.MaxZipFile))
			}
			left -= entry.UncompressedSize64
			files[entry.Name], names = entry, append(names, entry.Name)
		}
		sum, err = dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return files[name].Open() })
		return err
	})
	return sum, err
}
