package depproxy

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"company/internal/ecosystem"
	"company/internal/lib/clock"
)

// cacheEntry is a file in the cache.
type cacheEntry struct {
	path   string
	meta   metadata
	cached bool // it was served without downloading
	stale  bool // the registry could not be asked for a newer version
}

// metadata describes a cached body and is stored beside it.
type metadata struct {
	URL       string    `json:"url"`
	Size      int64     `json:"size"`
	SHA256    string    `json:"sha256"`
	ETag      string    `json:"etag,omitempty"`
	Modified  string    `json:"last_modified,omitempty"`
	Type      string    `json:"type,omitempty"` // media type, as the registry gave it
	CheckedAt time.Time `json:"checked"`
	// Unsure means that only the end of the connection marked the end of the file, and no digest proves that it is
	// complete. The file is requested again.
	Unsure bool `json:"unsure,omitempty"`
}

// isFresh reports whether a cached file can be used without asking the registry.
func (o *cacheEntry) isFresh(w order, listTTL time.Duration) bool {
	return w.Immutable && !o.meta.Unsure || clock.Within(listTTL, o.meta.CheckedAt)
}

// ReadAt lends the file's bytes.
func (o *cacheEntry) ReadAt(use func(content io.ReaderAt, size int64) error) error {
	file, err := os.Open(o.path)
	if err != nil {
		return err
	}
	defer file.Close()
	return use(file, o.meta.Size)
}

// httpError is an error status from a registry.
type httpError struct {
	status int
	host   string // for the operator
	origin string
	path   string // of the URL
}

func (e *httpError) Error() string {
	return fmt.Sprintf("the registry answers with status %d", e.status)
}

// Is reports 404 and 410 as ecosystem.ErrNotFound.
func (e *httpError) Is(target error) bool {
	return target == ecosystem.ErrNotFound && (e.status == http.StatusNotFound || e.status == http.StatusGone)
}

func notFound(err error) bool { return errors.Is(err, ecosystem.ErrNotFound) }

// isRefusal reports whether a registry has answered but refuses the file, at least with this login.
func isRefusal(err error) bool {
	var e *httpError
	return errors.As(err, &e) && (e.status == http.StatusUnauthorized || e.status == http.StatusForbidden ||
		e.status == http.StatusUnavailableForLegalReasons)
}

var (
	errTooLarge       = errors.New("the file is too large")
	errDigestMismatch = errors.New("the file's digest differs from the registry's own record")
	errWrongKind      = errors.New("the answer is not a file of the requested kind")
	errClosed         = errors.New("the cache of registries is closed")
)

// order is a request for a file of one kind of registry.
type order struct {
	ecosystem.Fetch
	kind   string
	charge func(bytes int64) // see fetcher
}

// cacheKey returns the key of a file in the cache. It includes the kind, so kinds of registries do not share files.
func (w order) cacheKey() string {
	sum := sha256.Sum256(
		[]byte(w.kind + "\n" + w.Accept + "\n" + w.URL + "\n" + w.Digest.Algorithm + hex.EncodeToString(w.Digest.Sum)))
	return hex.EncodeToString(sum[:])
}

// get returns a file from the cache and asks the registry if necessary. A cached file may exceed w.Limit if an order
// with a larger limit fetched it. In that case get returns errTooLarge.
func (s *Store) get(ctx context.Context, w order) (*cacheEntry, error) {
	o, err := s.getAnySize(ctx, w)
	if err == nil && o.meta.Size > w.Limit {
		return nil, fmt.Errorf("%w: %d bytes, %d at most", errTooLarge, o.meta.Size, w.Limit)
	}
	return o, err
}

// getAnySize is get without the size limit. Concurrent requests for one file share one download.
func (s *Store) getAnySize(ctx context.Context, w order) (*cacheEntry, error) {
	k := w.cacheKey()
	if s.isMissing(k) {
		return nil, &httpError{status: http.StatusNotFound}
	}
	if o := s.lookupEntry(k); o != nil && o.isFresh(w, s.listTTL) {
		o.cached = true
		s.markUsed(k)
		return o, nil
	}
	done := s.flight.DoChan(
		k, func() (any, error) { //nolint:contextcheck // a download is for all who wait for it, and outlives the first
			if !s.beginDownload() {
				return nil, errClosed
			}
			defer s.active.Done()
			o, err := s.load(k, w)
			if err == nil && !o.cached {
				s.noteGrowth(o.meta.Size)
				if w.charge != nil {
					w.charge(o.meta.Size) // even if the request was canceled
				}
			}
			return o, err
		})
	select {
	case r := <-done:
		if r.Err != nil {
			return nil, r.Err
		}
		o := *r.Val.(*cacheEntry)
		return &o, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// load downloads a file or revalidates the cached one.
func (s *Store) load(k string, w order) (*cacheEntry, error) {
	slots := s.slotsOf(w.kind)
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-s.ctx.Done():
		return nil, errClosed
	}
	old := s.lookupEntry(k) // another request may have just fetched it
	if old != nil && old.isFresh(w, s.listTTL) {
		old.cached = true
		return old, nil
	}
	fresh, err := s.downloadFile(k, w, old)
	switch {
	case err == nil:
		return fresh, nil
	case notFound(err):
		s.setMissing(k)
		return nil, err
	case isRefusal(err): // a withdrawn package does not mean that the registry is away
		return nil, err
	case old != nil:
		s.log.Warn("registry not reached, serving what is in the cache", "url", w.URL, "since", old.meta.CheckedAt,
			"err", err)
		old.cached, old.stale = true, true
		return old, nil
	}
	return nil, err
}

func (s *Store) slotsOf(kind string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slots[kind] == nil {
		s.slots[kind] = make(chan struct{}, maxDownloads)
	}
	return s.slots[kind]
}

func (s *Store) downloadFile(k string, w order, old *cacheEntry) (*cacheEntry, error) {
	ctx, end := context.WithCancelCause(withKind(s.ctx, w.kind))
	defer end(nil)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "company")
	if w.RawBytes {
		r.Header.Set("Accept-Encoding", "identity")
	}
	if w.Accept != "" {
		r.Header.Set("Accept", w.Accept)
	}
	if old != nil {
		if old.meta.ETag != "" {
			r.Header.Set("If-None-Match", old.meta.ETag)
		}
		if old.meta.Modified != "" {
			r.Header.Set("If-Modified-Since", old.meta.Modified)
		}
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified && old != nil {
		old.meta.CheckedAt = time.Now()
		old.cached = true
		return old, s.writeMetadata(k, old.meta)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, &httpError{resp.StatusCode, resp.Request.URL.Host, originOf(resp.Request.URL), resp.Request.URL.Path}
	}
	if resp.ContentLength > w.Limit {
		return nil, fmt.Errorf("%w: %d bytes, %d at most", errTooLarge, resp.ContentLength, w.Limit)
	}
	f := metadata{
		URL: w.URL, ETag: resp.Header.Get("ETag"), Modified: resp.Header.Get("Last-Modified"),
		Type: resp.Header.Get("Content-Type"), CheckedAt: time.Now(),
	}
	if endsUnsure(resp) && w.Digest.NewHash() == nil {
		// A truncated file is requested without its tag, because the registry would report it as current.
		f.Unsure = true
		f.ETag = ""
		f.Modified = ""
	}
	began, body := time.Now(), newPatientBody(resp.Body, s.upstreams.patience(), end)
	defer body.timer.Stop()
	entry, err := s.storeBody(k, w, f, body, resp.ContentLength)
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		s.transport.outages.noteSilence(originOf(resp.Request.URL), began)
		err = errSilent
	}
	if errors.Is(err, errSilent) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = &url.Error{Op: "Get", URL: resp.Request.URL.Redacted(), Err: err} // names the host at fault
	}
	return entry, err
}

// endsUnsure reports whether only the end of the connection marks the end of a body. Such a body looks the same if it
// is truncated.
func endsUnsure(r *http.Response) bool {
	return r.ContentLength < 0 && r.ProtoMajor < 2 && len(r.TransferEncoding) == 0 && !r.Uncompressed
}

// storeBody writes a body to a temporary file, checks it, and moves it into the cache. After a crash at any point,
// the cache has the old object or none.
func (s *Store) storeBody(k string, w order, f metadata, body io.Reader, length int64) (*cacheEntry, error) {
	tmp, err := os.CreateTemp(filepath.Join(s.dir, "tmp"), "part-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = tmp.Close()
		_ = os.Remove(tmp.Name())
	}()
	ours := sha256.New()
	to := io.MultiWriter(tmp, ours)
	theirs := w.Digest.NewHash()
	if theirs != nil {
		to = io.MultiWriter(tmp, ours, theirs)
	}
	if f.Size, err = io.Copy(to, io.LimitReader(body, w.Limit+1)); err != nil {
		return nil, fmt.Errorf("download: %w", err)
	}
	switch {
	case f.Size > w.Limit:
		return nil, fmt.Errorf("%w: %d at most", errTooLarge, w.Limit)
	case length >= 0 && f.Size != length:
		return nil, fmt.Errorf("download: %w", io.ErrUnexpectedEOF)
	case theirs != nil && subtle.ConstantTimeCompare(theirs.Sum(nil), w.Digest.Sum) != 1:
		return nil, errDigestMismatch
	}
	if w.Check != nil && !w.Check(tmp, f.Size) {
		return nil, errWrongKind
	}
	f.SHA256 = hex.EncodeToString(ours.Sum(nil))
	if err := tmp.Sync(); err != nil {
		return nil, err
	}
	path := s.entryPath(k)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return nil, err
	}
	s.setWhole(k)
	return &cacheEntry{path: path, meta: f}, s.writeMetadata(k, f)
}

func (s *Store) entryPath(k string) string { return filepath.Join(s.dir, k[:2], k) }

// writeMetadata does not sync its file. After a crash, lookupEntry ignores unreadable metadata, and the file that it
// describes is already synced.
func (s *Store) writeMetadata(k string, f metadata) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Join(s.dir, "tmp"), "facts-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), s.entryPath(k)+".json")
}

// lookupEntry returns the cached object of a key, or nil. It ignores a body that does not match its metadata. The
// cause may be a crash between the two writes, two processes or a damaged disk.
func (s *Store) lookupEntry(k string) *cacheEntry {
	text, err := os.ReadFile(s.entryPath(k) + ".json")
	if err != nil {
		return nil
	}
	o := &cacheEntry{path: s.entryPath(k)}
	if err := json.Unmarshal(text, &o.meta); err != nil {
		return nil
	}
	info, err := os.Stat(o.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != o.meta.Size {
		return nil
	}
	if !s.isWhole(k, o) {
		s.log.Warn("a file of the cache of registries has other bytes than it had, and is fetched again", "file", o.path,
			"url", o.meta.URL)
		return nil
	}
	return o
}

// isWhole compares the bytes of a cached file with its digest, once per process, because most files are served
// without further checks.
func (s *Store) isWhole(k string, o *cacheEntry) bool {
	s.mu.Lock()
	known := s.whole[k]
	s.mu.Unlock()
	if known {
		return true
	}
	_, err, _ := s.comparing.Do(k, func() (any, error) { // concurrent requests share one comparison
		file, err := os.Open(o.path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, file); err != nil {
			return nil, err
		}
		if hex.EncodeToString(sum.Sum(nil)) != o.meta.SHA256 {
			return nil, errDigestMismatch
		}
		s.setWhole(k)
		return nil, nil
	})
	return err == nil
}

func (s *Store) setWhole(k string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole[k] = true
}

// read returns the content of a file, verified against its metadata, because it will be parsed and trusted. hold
// waits until there is memory for its size.
func (s *Store) read(
	ctx context.Context, w order, hold func(ctx context.Context, size int64) error,
) ([]byte, *cacheEntry, error) {
	if w.Limit == 0 {
		w.Limit = ecosystem.MaxMetadata
	}
	for range 2 {
		o, err := s.get(ctx, w)
		if err != nil {
			return nil, nil, err
		}
		if err := hold(ctx, o.meta.Size); err != nil {
			return nil, nil, err
		}
		text, err := os.ReadFile(o.path)
		if err == nil {
			if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) == o.meta.SHA256 {
				return text, o, nil
			}
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, nil, err
		}
		// The file was replaced between the two reads or is damaged, so fetch it again.
		_ = os.Remove(o.path + ".json")
	}
	return nil, nil, fmt.Errorf("the cache of registries is damaged at %s", w.URL)
}

// isOwnFault reports whether an error comes from the cache on this machine and not from the registry.
func isOwnFault(err error) bool {
	p, l := (*fs.PathError)(nil), (*os.LinkError)(nil)
	return diskFull(err) || errors.As(err, &p) || errors.As(err, &l)
}

func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
