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
	"company/internal/lib/safedir"
)

// Blobs stores each blob in a file named by the SHA-256 of its bytes. It implements bus.Blobs.
//
// Files are used instead of a JetStream object store, because a blob is written once, as a stream, and
// can be examined with ls and sha256sum. An object store would split it into synced chunks under a
// random id and keep the hash separately.
type Blobs struct {
	own *safedir.Folder // folder of the bus, with the blobs in blobs/

	mu      sync.Mutex
	folders map[string]bool // folders that are known to be on disk

	placing sync.Mutex // held while a blob's file is moved into place or removed
	closed  bool       // guarded by placing
}

var _ bus.Blobs = (*Blobs)(nil)

// OpenBlobs opens the blobs of a bus's folder. The caller must hold the folder's lock.
func OpenBlobs(own *safedir.Folder) (*Blobs, error) {
	// The directory is locked, so existing files belong to a process that died.
	if err := own.RemoveAll(tmpName); err != nil {
		return nil, err
	}
	if err := own.Mkdir(tmpName); err != nil {
		return nil, err
	}
	// If blobs/ exists, the process that created it may not have synced the name.
	if err := own.Sync("."); err != nil {
		return nil, err
	}
	return &Blobs{own: own, folders: map[string]bool{}}, nil
}

const (
	blobsName = "blobs"            // folder of the blobs in the folder of the bus
	tmpName   = blobsName + "/tmp" // folder of unfinished blobs
)

// ensureFolder creates the folder of a blob and syncs its name, once per process. It also syncs
// existing folders, because the process that created one may not have synced it.
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

// blobPath returns the path of a blob in the folder of the bus.
func (b *Blobs) blobPath(name string) string { return blobsName + "/" + name[:2] + "/" + name[2:] }

// Close refuses further blobs. It may be called again.
func (b *Blobs) Close() error {
	b.placing.Lock()
	defer b.placing.Unlock()
	b.closed = true
	return nil
}

// Put implements bus.Blobs. It opens each of the two folders only once, because reopening them for
// every step took most of the processor time.
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
	// Sync even if the file existed, because its writer may not have done so.
	if err := dir.Sync("."); err != nil {
		return "", 0, fmt.Errorf("put blob: %w", err)
	}
	return name, size, nil
}

// placement is a finished file that is to be moved to its final name.
type placement struct {
	tmp     *os.File
	tmpName string // in from
	from    *safedir.Folder
	to      *safedir.Folder
	name    string // in to
	size    int64
}

func (p placement) isThere() bool {
	info, err := p.to.Lstat(p.name)
	return err == nil && info.Size() == p.size
}

// placeFile moves a finished file to its final name. An existing file keeps its place and gets the
// current time, because Remove spares recent blobs. placed is true if the file was moved.
func (b *Blobs) placeFile(p placement) (placed bool, err error) {
	synced := !p.isThere()
	if synced {
		if err := p.tmp.Sync(); err != nil { // sync before locking, so that other puts need not wait
			return false, err
		}
	}
	b.placing.Lock()
	defer b.placing.Unlock()
	if b.closed {
		return false, bus.ErrClosed
	}
	if p.isThere() {
		return false, p.to.Touch(p.name, time.Now())
	}
	if !synced { // the existing file was removed in between
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

// isBlobName reports whether a string is a SHA-256 in lower-case hexadecimal.
func isBlobName(name string) bool {
	raw, err := hex.DecodeString(name)
	return err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == name
}

// Get implements bus.Blobs.
func (b *Blobs) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if !isBlobName(name) {
		return nil, fmt.Errorf("blob %.80q: %w", name, bus.ErrNotFound) // the name may be a path, so do not use it
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
	for first := range 256 {
		dir := hex.EncodeToString([]byte{byte(first)})
		if dir < after[:min(2, len(after))] {
			continue
		}
		list, err := b.listFolder(dir)
		if err != nil {
			return fmt.Errorf("list blobs: %w", err)
		}
		for _, info := range list {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if info.Hash <= after {
				continue
			}
			if err := fn(info); err != nil {
				return err
			}
		}
	}
	return nil
}

// listFolder lists the blobs in a folder, in order.
func (b *Blobs) listFolder(dir string) (list []bus.BlobInfo, err error) {
	files, err := b.own.List(blobsName + "/" + dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, file := range files {
		name := dir + file.Name()
		if !isBlobName(name) {
			continue
		}
		info, err := file.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		list = append(list, bus.BlobInfo{Hash: name, Size: info.Size(), Time: info.ModTime()})
	}
	return list, nil
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
	if b.closed {
		return false, bus.ErrClosed
	}
	info, err := b.own.Lstat(b.blobPath(name))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Before(before) {
		return false, nil
	}
	if err == nil {
		err = b.own.Remove(b.blobPath(name))
	}
	if err != nil {
		return false, fmt.Errorf("remove blob: %w", err)
	}
	return true, nil
}

// blobReader returns ErrDamaged instead of io.EOF if the bytes do not match the blob's name.
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
		return n, fmt.Errorf("the content of %s does not match its name: %w", r.path, bus.ErrDamaged)
	}
	return n, err
}

func (r *blobReader) Close() error { return r.file.Close() }

// contextReader stops reading from a slow source when ctx ends.
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
