// Package repomap describes a repository for an agent that plans: its files or folders
// with their sizes, the symbols that others use most, and what changed lately.
//
// It owns the choice of the lines that are worth a place in a prompt. It reads git objects of one commit and starts
// nothing of the repository. Its text is bounded, whatever the repository holds, and
// has no control characters; it is data of the repository all the same, for a quotation.
package repomap

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
)

// Bounds of the reading for a map.
const (
	mostFileRead = 512 << 10 // bytes; a larger file is data
	mostRead     = 48 << 20  // bytes of all files
	mostCommits  = 300       // of the recent past
	mostTouched  = 60        // files of one commit; one that changes more says nothing of each
)

// Map describes a repository at a commit.
type Map struct {
	Files     int      // all
	Bytes     int64    // all
	Languages []string // most bytes first
	Builds    []string // build files at the root
	Unread    int      // source files that were not looked into, because there are too many
	Advice    []Advice
	Recent    []HotFile // most often changed first

	entries []gitops.Entry
	docs    map[string]string // by path: how a package or module describes itself
	central []centralFile     // the most used first
	index   textIndex
}

// HotFile is a file that changed often lately.
type HotFile struct {
	Path    string
	Times   int       // commits that changed it, of the last ones
	Subject string    // of the newest of them
	When    time.Time // of the newest of them
}

// Read makes the map of a commit. It takes a time that grows with the size of the
// repository, up to some seconds; a Cache asks once for each tree.
func Read(ctx context.Context, m *gitops.Mirror, at company.OID) (*Map, error) {
	return readMap(ctx, m, at, func() (*Map, error) { return readTree(ctx, m, at) })
}

// readMap adds the recent past to what tree makes. Git is asked for both at once.
func readMap(ctx context.Context, m *gitops.Mirror, at company.OID, tree func() (*Map, error)) (*Map, error) {
	var commits []gitops.Touched
	var notAsked error
	var asking sync.WaitGroup
	asking.Go(func() {
		notAsked = company.Guard("reading the recent past", func() (err error) {
			commits, err = m.RecentChanges(ctx, at, mostCommits)
			return err
		})
	})
	known, err := tree()
	asking.Wait()
	if err = errors.Join(err, notAsked); err != nil {
		return nil, err
	}
	own := *known
	own.countRecent(commits)
	return &own, nil
}

// readTree makes the part of a map that follows from the tree alone.
func readTree(ctx context.Context, m *gitops.Mirror, at company.OID) (*Map, error) {
	entries, err := m.List(ctx, at)
	if err != nil {
		return nil, err
	}
	r := &Map{Files: len(entries), entries: entries}
	rank := newRanking()
	var sources []gitops.Entry
	bytesOf, left := map[string]int64{}, int64(mostRead)
	for _, e := range entries {
		r.Bytes += e.Size
		language := LanguageOf(e.Path)
		if language != "" {
			bytesOf[language] += e.Size
		}
		if catalog.IsManifest(e.Path) {
			r.Builds = append(r.Builds, e.Path)
		}
		switch {
		case scanners[language] == nil || isForeign(e.Path) || e.Size > mostFileRead || e.Mode != gitops.ModeFile && e.Mode != gitops.ModeExec:
		case e.Size > left:
			r.Unread++
		default:
			left -= e.Size
			sources = append(sources, e)
		}
	}
	for language := range bytesOf {
		r.Languages = append(r.Languages, language)
	}
	slices.SortFunc(r.Languages, func(a, b string) int {
		if bytesOf[a] != bytesOf[b] {
			return int(min(1, max(-1, bytesOf[b]-bytesOf[a])))
		}
		return strings.Compare(a, b)
	})
	if err := rank.countFiles(ctx, m, sources); err != nil {
		return nil, err
	}
	r.central, r.docs, r.index = rank.listCentral(), rank.listDocs(), rank.index
	r.Advice, err = readAdvice(ctx, m, at)
	return r, err
}

// isForeign reports whether a file is code of others that lies in the repository.
func isForeign(p string) bool {
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		switch dir {
		case "vendor", "node_modules", "third_party", "testdata", "dist":
			return true
		}
	}
	return strings.HasSuffix(p, ".min.js") || strings.HasSuffix(p, ".pb.go")
}

// countRecent adds which files changed lately.
func (r *Map) countRecent(commits []gitops.Touched) {
	there := make(map[string]bool, len(r.entries))
	for _, e := range r.entries {
		there[e.Path] = true
	}
	hot := map[string]*HotFile{}
	for _, c := range commits {
		if len(c.Paths) > mostTouched {
			continue
		}
		for _, p := range c.Paths {
			switch h := hot[p]; {
			case !there[p] || isForeign(p):
			case h == nil:
				hot[p] = &HotFile{p, 1, c.Subject, c.When}
			default:
				h.Times++
			}
		}
	}
	r.Recent = nil
	for _, h := range hot {
		r.Recent = append(r.Recent, *h)
	}
	slices.SortFunc(r.Recent, func(a, b HotFile) int {
		if a.Times != b.Times {
			return b.Times - a.Times
		}
		return strings.Compare(a.Path, b.Path)
	})
}
