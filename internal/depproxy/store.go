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
	defaultListTTL  = 5 * time.Minute // a list is asked for anew after it
	notFoundTTL     = time.Minute     // "not found" is believed that long
	maxMissing      = 10_000          // of those remembered
	maxDownloads    = 48              // at a time, over all runs; as many as yarn asks for
	partFileTTL     = time.Hour       // of a part file of a process that died
	maxCache        = 10 << 30        // bytes; beyond it the least recently used files go
	usedGranularity = 24 * time.Hour  // how exactly the last use of a file is known
)

// Store is a cache on disk in front of the operator's registries. It is safe
// for use by many goroutines, and two processes may share its folder.
type Store struct {
	dir           string
	upstreams     Upstreams
	log           *slog.Logger
	transport     *transport
	client        *http.Client
	downloadSlots chan struct{}
	listTTL       time.Duration
	maxBytes      int64 // bytes of the whole cache

	ctx     context.Context // ends downloads
	cancel  context.CancelFunc
	flight  singleflight.Group
	parsed  *semaphore.Weighted // bytes of large descriptions that are being read
	pruning atomic.Bool
	grown   atomic.Int64 // bytes that came into the cache since it was looked through
	active  sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	missing map[string]time.Time // key → when it was not found
}

// Open makes or opens the cache. Nothing is asked of a registry yet.
func Open(dir string, up Upstreams) (*Store, error) { return open(dir, up, maxCache) }

func open(dir string, up Upstreams, most int64) (*Store, error) {
	for _, d := range []string{dir, filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, company.E(company.EImage, "the cache of registries cannot be made").Wrap(err).Fix("make " + dir + " writable")
		}
	}
	t, err := newTransport(up)
	if err != nil {
		return nil, company.E(company.EConfig, "the settings of a package registry cannot be used").Wrap(err)
	}
	s := &Store{dir: dir, upstreams: up, log: slog.New(slog.DiscardHandler), transport: t, downloadSlots: make(chan struct{}, maxDownloads), listTTL: defaultListTTL, maxBytes: most,
		parsed: semaphore.NewWeighted(maxParsed), missing: map[string]time.Time{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.client = &http.Client{Transport: t, Timeout: ecosystem.FetchTimeout, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errors.New("too many redirects")
		}
		return nil
	}}
	s.removeStaleParts()
	s.active.Go(s.pruneCache)
	return s, nil
}

// SetLogger says where the store tells of what it could not do. Call it before
// the store is used.
func (s *Store) SetLogger(l *slog.Logger) { s.log = l }

// Upstreams are the registries behind the store.
func (s *Store) Upstreams() Upstreams { return s.upstreams }

// Close ends all downloads and waits for them.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.active.Wait()
	s.transport.close()
}

// removeStaleParts removes what processes that died left half written.
func (s *Store) removeStaleParts() {
	tmp := filepath.Join(s.dir, "tmp")
	entries, err := os.ReadDir(tmp)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("part files of registries not swept", "err", err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > partFileTTL {
			_ = os.Remove(filepath.Join(tmp, e.Name()))
		}
	}
}

// beginDownload counts a download in; false once the store is closed.
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

// pruneCache removes the least recently used files, where the cache has grown
// too large. A file that another run is about to read is fetched again.
func (s *Store) pruneCache() {
	type one struct {
		path string
		size int64
		used time.Time
	}
	var all []one
	var total int64
	s.grown.Store(0)
	_ = filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if s.ctx.Err() != nil {
			return fs.SkipAll
		}
		if err != nil || e.IsDir() || filepath.Ext(path) != ".json" {
			return nil
		}
		facts, err := e.Info()
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
		_ = os.Remove(o.path) // the facts first: a body without them is not there
		_ = os.Remove(strings.TrimSuffix(o.path, ".json"))
		total -= o.size
	}
}

// noteGrowth prunes the cache once a tenth more has come than it may hold. Only one at a time
// looks through it.
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
