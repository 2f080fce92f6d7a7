package image

import (
	"archive/tar"
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"strings"
	"sync"
	"time"
)

// agentID is the uid and gid of the worker in every image.
const agentID = 65532

// layerTime is the time of every file in a layer, so that equal content makes an equal layer.
var layerTime = time.Unix(0, 0)

// layer writes the tar of one image layer to a file and hashes it at the same time. It adds missing
// parent folders (mode 0755, root), because the daemon would make them unreadable.
type layer struct {
	tarFile *os.File
	buf     *bufio.Writer
	sum     hash.Hash
	tw      *tar.Writer
	dirs    map[string]bool
	modTime time.Time

	size   int64  // bytes of the tar, once closed
	diffID string // sha256:… of the tar, once closed

	notes []string // missing parts of the layer

	rest []func() // see leaveForLater
}

// leaveForLater registers a function to call once the layer is built or has failed.
func (l *layer) leaveForLater(do func()) { l.rest = append(l.rest, do) }

func newLayer(file string) (*layer, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	l := &layer{tarFile: f, buf: bufio.NewWriterSize(f, 1<<20), sum: sha256.New(), dirs: map[string]bool{},
		modTime: layerTime}
	l.tw = tar.NewWriter(io.MultiWriter(l.buf, l.sum))
	return l, nil
}

// writeHeader writes a header, after the headers of its parents.
func (l *layer) writeHeader(header *tar.Header) error {
	if err := l.addParents(header.Name); err != nil {
		return err
	}
	header.ModTime = l.modTime
	return l.tw.WriteHeader(header)
}

func (l *layer) addParents(name string) error {
	dir := path.Dir(strings.TrimSuffix(name, "/"))
	if dir == "." || dir == "/" || l.dirs[dir] {
		return nil
	}
	return l.addDir(dir, 0)
}

// addDir adds a directory that only its owner may write to. It does nothing if the directory exists.
func (l *layer) addDir(name string, uid int) error {
	if l.dirs[name] {
		return nil
	}
	l.dirs[name] = true
	return l.writeHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, Uid: uid, Gid: uid})
}

// addBytes adds a small file owned by root.
func (l *layer) addBytes(name string, mode int64, data []byte) error {
	if err := l.writeHeader(
		&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(data))}); err != nil {
		return err
	}
	_, err := l.tw.Write(data)
	return err
}

// addStream adds a file of a known size, owned by root.
func (l *layer) addStream(name string, mode, size int64, r io.Reader) error {
	if err := l.writeHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: size}); err != nil {
		return err
	}
	n, err := io.Copy(l.tw, io.LimitReader(r, size))
	if err == nil && n != size {
		err = fmt.Errorf("%s: %d of %d bytes: the file shrank while it was read", name, n, size)
	}
	return err
}

// addLink adds a symbolic link owned by root.
func (l *layer) addLink(name, to string) error {
	return l.writeHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to, Mode: 0o777})
}

// addHardLink adds another name for a file of the layer.
func (l *layer) addHardLink(name, to string) error {
	return l.writeHeader(&tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: to, Mode: 0o644})
}

// copyEntry adds an entry of another tar unchanged. It also keeps the time, because programs of the
// system compare the times of files with recorded ones.
func (l *layer) copyEntry(header *tar.Header, content io.Reader) error {
	c := *header
	c.Name = cleanName(header.Name)
	if header.Typeflag == tar.TypeDir {
		l.dirs[c.Name] = true
		c.Name += "/"
	}
	if err := l.addParents(c.Name); err != nil {
		return err
	}
	if err := l.tw.WriteHeader(&c); err != nil || content == nil || header.Typeflag != tar.TypeReg {
		return err
	}
	_, err := io.Copy(l.tw, content)
	return err
}

// addHostFile adds a file of the host's disk, owned by root.
func (l *layer) addHostFile(name string, mode int64, host string) error {
	file, err := os.Open(host)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", host)
	}
	return l.addStream(name, mode, info.Size(), file)
}

// close finishes the tar. It sets size and diffID. newReader works only after close.
func (l *layer) close() error {
	if err := l.tw.Close(); err != nil {
		return err
	}
	if err := l.buf.Flush(); err != nil {
		return err
	}
	info, err := l.tarFile.Stat()
	if err != nil {
		return err
	}
	l.size = info.Size()
	l.diffID = "sha256:" + hex.EncodeToString(l.sum.Sum(nil))
	return nil
}

// newReader returns a reader of the whole tar.
func (l *layer) newReader() io.Reader { return io.NewSectionReader(l.tarFile, 0, l.size) }

// finishLayer removes the layer's file and starts the functions that leaveForLater registered.
func (l *layer) finishLayer(rest *sync.WaitGroup) {
	l.removeFile()
	for _, do := range l.rest {
		rest.Go(do)
	}
}

// removeFile closes and removes the file. It may be called at any time.
func (l *layer) removeFile() {
	_ = l.tarFile.Close()
	_ = os.Remove(l.tarFile.Name())
}
