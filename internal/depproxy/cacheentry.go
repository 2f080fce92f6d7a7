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

	"company/internal/clock"
	"company/internal/ecosystem"
)

// cacheEntry is a file in the cache.
type cacheEntry struct {
	path   string
	meta   metadata
	cached bool // no byte of it was asked for
	stale  bool // the registry could not be asked whether there is a newer one
}

// metadata describes a cached body, and is kept beside it.
type metadata struct {
	URL       string    `json:"url"`
	Size      int64     `json:"size"`
	SHA256    string    `json:"sha256"`
	ETag      string    `json:"etag,omitempty"`
	Modified  string    `json:"last_modified,omitempty"`
	Type      string    `json:"type,omitempty"` // media type, as the registry gave it
	CheckedAt time.Time `json:"checked"`
	// Unsure: the end of the connection was the only end of the file, and no digest tells
	// whether it is whole. It is asked for again.
	Unsure bool `json:"unsure,omitempty"`
}

// isFresh says whether nothing has to be asked about a cached file.
func (o *cacheEntry) isFresh(w order, listTTL time.Duration) bool {
	return w.Immutable && !o.meta.Unsure || clock.Within(listTTL, o.meta.CheckedAt)
}

// ReadAt lends the file's bytes.
func (o *cacheEntry) ReadAt(use func(content io.ReaderAt, size int64) error) error {
	f, err := os.Open(o.path)
	if err != nil {
		return err
	}
	defer f.Close()
	return use(f, o.meta.Size)
}

// httpError is a registry's "no".
type httpError struct {
	status int
	host   string // for the operator
	origin string
	path   string // of the URL
}

func (e *httpError) Error() string {
	return fmt.Sprintf("the registry answers with status %d", e.status)
}

// Is makes an answer of 404 or 410 an ecosystem.ErrNotFound.
func (e *httpError) Is(target error) bool {
	return target == ecosystem.ErrNotFound && (e.status == http.StatusNotFound || e.status == http.StatusGone)
}

func notFound(err error) bool { return errors.Is(err, ecosystem.ErrNotFound) }

var (
	errTooLarge       = errors.New("the file is larger than is allowed")
	errDigestMismatch = errors.New("the file is not what the registry's own record says: its digest differs")
	errWrongKind      = errors.New("the answer is not a file of the kind that was asked for")
	errClosed         = errors.New("the cache of registries is closed")
)

// order is a file that a kind of registry is asked for.
type order struct {
	ecosystem.Fetch
	kind   string
	charge func(bytes int64) // see fetcher
}

// cacheKey is the place of a file in the cache. What one kind of registry has is not what another names.
func (w order) cacheKey() string {
	sum := sha256.Sum256([]byte(w.kind + "\n" + w.Accept + "\n" + w.URL + "\n" + w.Digest.Algorithm + hex.EncodeToString(w.Digest.Sum)))
	return hex.EncodeToString(sum[:])
}

// get returns a file from the cache, asking the registry where it must. A cached file
// may be larger than w allows, where an order with a larger Limit brought it: that is errTooLarge.
func (s *Store) get(ctx context.Context, w order) (*cacheEntry, error) {
	o, err := s.getAnySize(ctx, w)
	if err == nil && o.meta.Size > w.Limit {
		return nil, fmt.Errorf("%w: %d bytes, %d at most", errTooLarge, o.meta.Size, w.Limit)
	}
	return o, err
}

// getAnySize is get without the bound. Concurrent requests for one file wait for one download.
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
	done := s.flight.DoChan(k, func() (any, error) { //nolint:contextcheck // a download is for all who wait for it, and outlives the first
		if !s.beginDownload() {
			return nil, errClosed
		}
		defer s.active.Done()
		o, err := s.load(k, w)
		if err == nil && !o.cached {
			s.noteGrowth(o.meta.Size)
			if w.charge != nil {
				w.charge(o.meta.Size) // also where its request was given up
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

// load downloads a file, or finds that the cached one is still valid.
func (s *Store) load(k string, w order) (*cacheEntry, error) {
	select {
	case s.downloadSlots <- struct{}{}:
		defer func() { <-s.downloadSlots }()
	case <-s.ctx.Done():
		return nil, errClosed
	}
	old := s.lookupEntry(k) // another may have just brought it
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
	case old != nil:
		s.log.Warn("registry not reached, serving what is in the cache", "url", w.URL, "since", old.meta.CheckedAt, "err", err)
		old.cached, old.stale = true, true
		return old, nil
	}
	return nil, err
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
		// A file that was cut is not asked for by its tag: the registry would say that it is current.
		f.Unsure, f.ETag, f.Modified = true, "", ""
	}
	began, body := time.Now(), newPatientBody(resp.Body, s.upstreams.patience(), end)
	defer body.timer.Stop()
	entry, err := s.storeBody(k, w, f, body, resp.ContentLength)
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		s.transport.outages.noteSilence(originOf(resp.Request.URL), began)
		err = errSilent
	}
	if errors.Is(err, errSilent) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = &url.Error{Op: "Get", URL: resp.Request.URL.Redacted(), Err: err} // whose fault it is
	}
	return entry, err
}

// endsUnsure says whether a body ends with its connection alone, which looks like one that
// was cut.
func endsUnsure(r *http.Response) bool {
	return r.ContentLength < 0 && r.ProtoMajor < 2 && len(r.TransferEncoding) == 0 && !r.Uncompressed
}

// storeBody writes a body beside the cache, checks it, and moves it in. A crash at
// any point leaves the old object or none.
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
	return &cacheEntry{path: path, meta: f}, s.writeMetadata(k, f)
}

func (s *Store) entryPath(k string) string { return filepath.Join(s.dir, k[:2], k) }

// writeMetadata is not synced: after a crash of the machine what cannot be read counts
// as not there (lookupEntry), and the file that it describes was synced before.
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

// lookupEntry is what the cache holds under a key, or nil. A body that does not fit
// its facts (a crash between the two, two processes at once) is not there.
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
	return o
}

// read returns the whole of a file, checked against its metadata: it is about
// to be parsed and believed. hold waits until there is room for so much.
func (s *Store) read(ctx context.Context, w order, hold func(ctx context.Context, size int64) error) ([]byte, *cacheEntry, error) {
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
		// Replaced between the two reads, or damaged: have it anew.
		_ = os.Remove(o.path + ".json")
	}
	return nil, nil, fmt.Errorf("the cache of registries is damaged at %s", w.URL)
}

// isOwnFault tells trouble with the cache on this machine from the registry's.
func isOwnFault(err error) bool {
	p, l := (*fs.PathError)(nil), (*os.LinkError)(nil)
	return diskFull(err) || errors.As(err, &p) || errors.As(err, &l)
}

func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
