package localfiles

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
	"path"
	"sync"
	"time"

	"company/internal/bus"
	"company/internal/folder"
)

// Blobs is a directory of files named by the SHA-256 of their bytes. It
// implements bus.Blobs.
//
// Files and not a JetStream object store: a blob is written once, streamed, and
// read by ls and sha256sum when something is wrong; an object store would cut
// it into synced chunks and name it by a random id, with the hash on the side.
type Blobs struct {
	own *folder.Folder // of the bus; blobs are in blobs/ of it

	mu      sync.Mutex
	folders map[string]bool // known to be on disk

	placing sync.Mutex // held while a blob comes to its name, or leaves it
}

var _ bus.Blobs = (*Blobs)(nil)

// OpenBlobs opens the blobs of a bus's folder, which the caller has locked.
func OpenBlobs(own *folder.Folder) (*Blobs, error) {
	// The directory is locked, so what lies there is of a process that died.
	if err := own.RemoveAll(tmpName); err != nil {
		return nil, err
	}
	if err := own.Mkdir(tmpName); err != nil {
		return nil, err
	}
	return &Blobs{own: own, folders: map[string]bool{}}, nil
}

const (
	blobsName = "blobs"            // the folder of the blobs in that of the bus
	tmpName   = blobsName + "/tmp" // of those that are not whole yet
)

// ensureFolder makes the folder of a blob and syncs its name, once per process:
// a process that finds it cannot know whether its maker came that far.
func (b *Blobs) ensureFolder(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	dir := path.Dir(name)
	if b.folders[dir] {
		return nil
	}
	if err := b.own.Mkdir(dir); err != nil {
		return err
	}
	if err := b.own.Sync(blobsName); err != nil {
		return err
	}
	b.folders[dir] = true
	return nil
}

// blobPath is where a blob is kept, as the folder calls it.
func (b *Blobs) blobPath(name string) string { return blobsName + "/" + name[:2] + "/" + name[2:] }

// Put implements bus.Blobs. Each of the two folders is found once: to find one anew for
// each step took most of the processor's time.
func (b *Blobs) Put(ctx context.Context, r io.Reader) (name string, size int64, err error) {
	unfinished, err := b.own.Sub(tmpName)
	if err != nil {
		return "", 0, fmt.Errorf("put blob: %w", err)
	}
	defer unfinished.Close()
	tmp, tmpFile, err := unfinished.CreateTemp("put-")
	if err != nil {
		return "", 0, fmt.Errorf("put blob: %w", err)
	}
	placed := false
	defer func() {
		err = errors.Join(err, tmp.Close())
		if !placed {
			err = errors.Join(err, unfinished.Remove(tmpFile))
		}
	}()
	sum := sha256.New()
	size, err = io.Copy(io.MultiWriter(tmp, sum), contextReader{ctx, r})
	if err != nil {
		return "", 0, fmt.Errorf("put blob: %w", err)
	}
	name = hex.EncodeToString(sum.Sum(nil))
	file := b.blobPath(name)
	if err := b.ensureFolder(file); err != nil {
		return "", 0, fmt.Errorf("put blob: %w", err)
	}
	dir, err := b.own.Sub(path.Dir(file))
	if err != nil {
		return "", 0, fmt.Errorf("put blob: %w", err)
	}
	defer dir.Close()
	if placed, err = b.placeFile(placement{tmp, tmpFile, unfinished, dir, path.Base(file), size}); err != nil {
		return "", 0, fmt.Errorf("put blob: %w", err)
	}
	// Also when the file was there: its writer may not have come this far.
	if err := dir.Sync("."); err != nil {
		return "", 0, fmt.Errorf("put blob: %w", err)
	}
	return name, size, nil
}

// placement is a finished file on the way to its name.
type placement struct {
	tmp     *os.File
	tmpName string // in from
	from    *folder.Folder
	to      *folder.Folder
	name    string // in to
	size    int64
}

func (p placement) isThere() bool {
	info, err := p.to.Lstat(p.name)
	return err == nil && info.Size() == p.size
}

// placeFile gives a finished file its name. One that is there keeps its place and gets
// the present time: Remove spares recent blobs. placed says that the file was moved.
func (b *Blobs) placeFile(p placement) (placed bool, err error) {
	synced := !p.isThere()
	if synced {
		if err := p.tmp.Sync(); err != nil { // others need not wait for it
			return false, err
		}
	}
	b.placing.Lock()
	defer b.placing.Unlock()
	if p.isThere() {
		return false, p.to.Touch(p.name, time.Now())
	}
	if !synced { // it was removed in between
		if err := p.tmp.Sync(); err != nil {
			return false, err
		}
	}
	if err := p.from.Touch(p.tmpName, time.Now()); err != nil { // the kernel's times are coarser
		return false, err
	}
	err = p.from.MoveTo(p.to, p.tmpName, p.name)
	return err == nil, err
}

// isBlobName says whether a string is the SHA-256 of something.
func isBlobName(name string) bool {
	raw, err := hex.DecodeString(name)
	return err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == name
}

// Get implements bus.Blobs.
func (b *Blobs) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if !isBlobName(name) {
		return nil, fmt.Errorf("blob %.80q: %w", name, bus.ErrNotFound) // perhaps a path
	}
	file, err := b.own.Open(b.blobPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob %s: %w", name, bus.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("get blob: %w", err)
	}
	return &blobReader{ctx: ctx, file: file, name: name, path: b.own.Join(b.blobPath(name)), sum: sha256.New()}, nil
}

// List implements bus.Blobs.
func (b *Blobs) List(ctx context.Context, after string, fn func(bus.BlobInfo) error) error {
	dirs, err := b.own.List(blobsName)
	if err != nil {
		return fmt.Errorf("list blobs: %w", err)
	}
	for _, dir := range dirs {
		if !dir.IsDir() || len(dir.Name()) != 2 || dir.Name() < after[:min(2, len(after))] {
			continue // the folder of unfinished ones, or behind us
		}
		files, err := b.own.List(blobsName + "/" + dir.Name())
		if err != nil {
			return fmt.Errorf("list blobs: %w", err)
		}
		for _, file := range files {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			name := dir.Name() + file.Name()
			if !isBlobName(name) || name <= after {
				continue
			}
			info, err := file.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed meanwhile
			}
			if err != nil {
				return fmt.Errorf("list blobs: %w", err)
			}
			if err := fn(bus.BlobInfo{Hash: name, Size: info.Size(), Time: info.ModTime()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove implements bus.Blobs.
func (b *Blobs) Remove(ctx context.Context, name string, before time.Time) (removed bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	if !isBlobName(name) {
		return false, nil
	}
	b.placing.Lock()
	defer b.placing.Unlock()
	info, err := b.own.Lstat(b.blobPath(name))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.ModTime().Before(before):
		return false, nil
	case err == nil:
		err = b.own.Remove(b.blobPath(name))
	}
	if err != nil {
		return false, fmt.Errorf("remove blob: %w", err)
	}
	return true, nil
}

// blobReader fails with ErrDamaged in place of io.EOF when the bytes read are
// not those that the name promises.
type blobReader struct {
	ctx  context.Context
	file *os.File
	name string
	path string // for people
	sum  hash.Hash
}

func (r *blobReader) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	n, err := r.file.Read(p)
	r.sum.Write(p[:n])
	if err == io.EOF && hex.EncodeToString(r.sum.Sum(nil)) != r.name {
		return n, fmt.Errorf("%s does not hold what its name says: %w", r.path, bus.ErrDamaged)
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
