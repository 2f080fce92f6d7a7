package depproxy

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"company/internal/company"
	"company/internal/ecosystem"
)

const (
	defaultListTTL  = 5 * time.Minute // after this time, a list is requested again
	notFoundTTL     = time.Minute     // how long "not found" is remembered
	maxMissing      = 10_000          // of remembered "not found" answers
	maxDownloads    = 48              // at a time for one kind of registry, over all runs; as many as yarn requests
	partFileTTL     = time.Hour       // age of a part file after which its process counts as dead
	maxCache        = 10 << 30        // bytes; beyond it, the least recently used files are removed
	usedGranularity = 24 * time.Hour  // precision of a file's time of last use
)

// Store is a cache on disk in front of the operator's registries. It is safe for concurrent use, and two processes
// may share its folder.
type Store struct {
	dir       string
	upstreams Upstreams
	log       *slog.Logger
	transport *transport
	client    *http.Client
	listTTL   time.Duration
	maxBytes  int64 // limit of the whole cache

	ctx       context.Context // ends downloads
	cancel    context.CancelFunc
	flight    singleflight.Group
	comparing singleflight.Group  // of cached files with their digests
	parsed    *semaphore.Weighted // bytes of large descriptions that are being read
	pruning   atomic.Bool
	grown     atomic.Int64 // bytes added to the cache since it was last pruned
	active    sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	missing map[string]time.Time     // key → when it was not found
	whole   map[string]bool          // keys of files whose digests were verified since the start
	slots   map[string]chan struct{} // by kind of registry, so that a slow one does not block others
}

// Open opens the cache and creates it if necessary. It sends no request to a registry.
func Open(dir string, up Upstreams) (*Store, error) { return open(dir, up, maxCache) }

func open(dir string, up Upstreams, limit int64) (*Store, error) {
	for _, d := range []string{dir, filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, company.E(company.EImage, "cannot create the cache of registries").Wrap(err).
				Fix("make " + dir + " writable")
		}
	}
	transport, err := newTransport(up)
	if err != nil {
		return nil, company.E(company.EConfig, "invalid settings of a package registry").Wrap(err)
	}
	store := &Store{dir: dir, upstreams: up, log: slog.New(slog.DiscardHandler), transport: transport,
		listTTL:  defaultListTTL,
		maxBytes: limit,
		parsed:   semaphore.NewWeighted(maxParsed), missing: map[string]time.Time{}, whole: map[string]bool{},
		slots: map[string]chan struct{}{}}
	store.ctx, store.cancel = context.WithCancel(context.Background())
	store.client = &http.Client{Transport: transport, Timeout: ecosystem.FetchTimeout,
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errors.New("too many redirects")
			}
			return nil
		}}
	store.removeStaleParts()
	store.active.Go(store.pruneCache)
	return store, nil
}

// SetLogger sets the logger for failures. It must be called before the store is used.
func (s *Store) SetLogger(l *slog.Logger) { s.log = l }

// Upstreams returns the registries behind the store.
func (s *Store) Upstreams() Upstreams { return s.upstreams }

// Close cancels all downloads and waits for them.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.active.Wait()
	s.transport.close()
}

// removeStaleParts removes partial files of dead processes.
func (s *Store) removeStaleParts() {
	tmp := filepath.Join(s.dir, "tmp")
	entries, err := os.ReadDir(tmp)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("part files of registries not swept", "err", err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > partFileTTL {
			_ = os.Remove(filepath.Join(tmp, entry.Name()))
		}
	}
}

// beginDownload registers a download. It returns false if the store is closed.
func (s *Store) beginDownload() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.active.Add(1)
	return true
}

func (s *Store) isMissing(k string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.missing[k]
	if ok && time.Since(at) > notFoundTTL {
		delete(s.missing, k)
		return false
	}
	return ok
}

func (s *Store) setMissing(k string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.missing) >= maxMissing {
		clear(s.missing)
	}
	s.missing[k] = time.Now()
}

// pruneCache removes the least recently used files if the cache is too large. A file that another run is about to
// read is downloaded again.
func (s *Store) pruneCache() {
	type one struct {
		path string
		size int64
		used time.Time
	}
	var all []one
	var total int64
	s.grown.Store(0)
	_ = filepath.WalkDir(s.dir, func(path string, entry fs.DirEntry, err error) error {
		if s.ctx.Err() != nil {
			return fs.SkipAll
		}
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return nil
		}
		facts, err := entry.Info()
		body, berr := os.Stat(strings.TrimSuffix(path, ".json"))
		if err == nil && berr == nil {
			all = append(all, one{path, body.Size(), facts.ModTime()})
			total += body.Size()
		}
		return nil
	})
	if total <= s.maxBytes || s.ctx.Err() != nil {
		return
	}
	slices.SortFunc(all, func(a, b one) int { return a.used.Compare(b.used) })
	for _, o := range all {
		if total <= s.maxBytes/10*9 || s.ctx.Err() != nil {
			return
		}
		_ = os.Remove(o.path) // metadata first, because a body without it does not count
		_ = os.Remove(strings.TrimSuffix(o.path, ".json"))
		total -= o.size
	}
}

// noteGrowth prunes the cache after it has grown by a tenth of its limit. Only one call at a time prunes.
func (s *Store) noteGrowth(size int64) {
	if s.grown.Add(size) <= s.maxBytes/10 || !s.pruning.CompareAndSwap(false, true) {
		return
	}
	defer s.pruning.Store(false)
	s.pruneCache()
}

// markUsed records the use of a file.
func (s *Store) markUsed(k string) {
	name := s.entryPath(k) + ".json"
	if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > usedGranularity {
		_ = os.Chtimes(name, time.Now(), time.Now())
	}
}
