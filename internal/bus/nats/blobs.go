package nats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"company/internal/bus"
)

// Blobs is a directory of files named by the SHA-256 of their bytes. It
// implements bus.Blobs.
//
// Files and not a JetStream object store: a blob is written once, streamed, and
// read by ls and sha256sum when something is wrong; an object store would cut
// it into synced chunks and name it by a random id, with the hash on the side.
type Blobs struct {
	dir string

	mu      sync.Mutex
	folders map[string]bool // known to be on disk
}

var _ bus.Blobs = (*Blobs)(nil)

func openBlobs(dir string) (*Blobs, error) {
	tmp := filepath.Join(dir, "tmp")
	// The directory is locked, so what lies there is of a process that died.
	if err := os.RemoveAll(tmp); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return nil, err
	}
	return &Blobs{dir: dir, folders: map[string]bool{}}, nil
}

// folder makes the folder of a blob and syncs its name, once per process: who
// finds it there cannot know whether its maker came that far.
func (b *Blobs) folder(path string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	dir := filepath.Dir(path)
	if b.folders[dir] {
		return nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := syncDir(b.dir); err != nil {
		return err
	}
	b.folders[dir] = true
	return nil
}

func (b *Blobs) path(name string) string { return filepath.Join(b.dir, name[:2], name[2:]) }

// Put implements bus.Blobs.
func (b *Blobs) Put(ctx context.Context, r io.Reader) (name string, size int64, err error) {
	tmp, err := os.CreateTemp(filepath.Join(b.dir, "tmp"), "put-*")
	if err != nil {
		return "", 0, fmt.Errorf("put blob: %w", err)
	}
	defer func() {
		// After the rename there is nothing left to remove.
		err = errors.Join(err, tmp.Close(), ignore(os.Remove(tmp.Name()), fs.ErrNotExist))
	}()
	sum := sha256.New()
	size, err = io.Copy(io.MultiWriter(tmp, sum), contextReader{ctx, r})
	if err != nil {
		return "", 0, fmt.Errorf("put blob: %w", err)
	}
	name = hex.EncodeToString(sum.Sum(nil))
	path := b.path(name)
	if err := b.folder(path); err != nil {
		return "", 0, fmt.Errorf("put blob: %w", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != size {
		if err := tmp.Sync(); err != nil {
			return "", 0, fmt.Errorf("put blob: %w", err)
		}
		if err := os.Rename(tmp.Name(), path); err != nil {
			return "", 0, fmt.Errorf("put blob: %w", err)
		}
	}
	// Also when the file was there: who wrote it may not have come this far.
	if err := syncDir(filepath.Dir(path)); err != nil {
		return "", 0, fmt.Errorf("put blob: %w", err)
	}
	return name, size, nil
}

func ignore(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

// syncDir makes a new name in a directory survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Get implements bus.Blobs.
func (b *Blobs) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if raw, err := hex.DecodeString(name); err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != name {
		return nil, fmt.Errorf("blob %.80q: %w", name, bus.ErrNotFound) // no name of a blob, and perhaps a path
	}
	file, err := os.Open(b.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob %s: %w", name, bus.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("get blob: %w", err)
	}
	return &blobReader{ctx: ctx, file: file, name: name, sum: sha256.New()}, nil
}

// blobReader fails with ErrDamaged in place of io.EOF when the bytes read are
// not those that the name promises.
type blobReader struct {
	ctx  context.Context
	file *os.File
	name string
	sum  hash.Hash
}

func (r *blobReader) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	n, err := r.file.Read(p)
	r.sum.Write(p[:n])
	if err == io.EOF && hex.EncodeToString(r.sum.Sum(nil)) != r.name {
		return n, fmt.Errorf("blob %s: %w", r.name, bus.ErrDamaged)
	}
	return n, err
}

func (r *blobReader) Close() error { return r.file.Close() }

// contextReader lets a slow source be given up.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
