// Package repomap describes a repository for an agent that plans: its files or folders with their sizes, the
// most used symbols, and recent changes.
//
// It owns the selection of the lines for a prompt. It reads git objects of one commit and runs no code of the
// repository. Its text is bounded and has no control characters. It is still data of the repository, and must be
// quoted.
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

// Limits of reading for a map.
const (
	mostFileRead = 512 << 10 // bytes; larger files count as data
	mostRead     = 48 << 20  // bytes of all files
	mostCommits  = 300       // recent commits
	mostTouched  = 60        // files of one commit; commits that change more are ignored
)

// Map describes a repository at a commit.
type Map struct {
	Files     int      // all files
	Bytes     int64    // of all files
	Languages []string // most bytes first
	Builds    []string // build files at the root
	Unread    int      // source files that were not read because there are too many
	Advice    []Advice
	Recent    []HotFile // most often changed first

	entries []gitops.Entry
	docs    map[string]string // doc of a package or module, by path
	central []centralFile     // most used first
	index   textIndex
}

// HotFile is a file that changed often lately.
type HotFile struct {
	Path    string
	Times   int       // number of recent commits that changed it
	Subject string    // of its newest change
	When    time.Time // of its newest change
}

// Read returns the map of a commit. The time grows with the size of the repository, up to some seconds. A Cache
// reads each tree only once.
func Read(ctx context.Context, m *gitops.Mirror, at company.OID) (*Map, error) {
	return readMap(ctx, m, at, func() (*Map, error) { return readTree(ctx, m, at) })
}

// readMap adds the recent changes to the map from tree. Both are read in parallel.
func readMap(ctx context.Context, mirror *gitops.Mirror, at company.OID, tree func() (*Map, error)) (*Map, error) {
	var commits []gitops.Touched
	var notAsked error
	var asking sync.WaitGroup
	asking.Go(func() {
		notAsked = company.Guard("reading the recent past", func() (err error) {
			commits, err = mirror.RecentChanges(ctx, at, mostCommits)
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

// readTree builds the part of a map that depends only on the tree.
func readTree(ctx context.Context, mirror *gitops.Mirror, at company.OID) (*Map, error) {
	entries, err := mirror.List(ctx, at)
	if err != nil {
		return nil, err
	}
	r := &Map{Files: len(entries), entries: entries}
	rank := newRanking()
	var sources []gitops.Entry
	bytesOf, left := map[string]int64{}, int64(mostRead)
	for _, entry := range entries {
		r.Bytes += entry.Size
		language := LanguageOf(entry.Path)
		if language != "" {
			bytesOf[language] += entry.Size
		}
		if catalog.IsManifest(entry.Path) {
			r.Builds = append(r.Builds, entry.Path)
		}
		switch {
		case scanners[language] == nil || isForeign(entry.Path) || entry.Size > mostFileRead ||
			entry.Mode != gitops.ModeFile && entry.Mode != gitops.ModeExec:
		case entry.Size > left:
			r.Unread++
		default:
			left -= entry.Size
			sources = append(sources, entry)
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
	if err := rank.countFiles(ctx, mirror, sources); err != nil {
		return nil, err
	}
	r.central, r.docs, r.index = rank.listCentral(), rank.listDocs(), rank.index
	r.Advice, err = readAdvice(ctx, mirror, at)
	return r, err
}

// isForeign reports whether a file is third-party, generated or test data in the repository.
func isForeign(p string) bool {
	if dataFolderOf(p) != "" {
		return true
	}
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		switch dir {
		case "vendor", "node_modules", "third_party", "dist":
			return true
		}
	}
	return strings.HasSuffix(p, ".min.js") || strings.HasSuffix(p, ".pb.go")
}

// countRecent sets the recently changed files.
func (r *Map) countRecent(commits []gitops.Touched) {
	there := make(map[string]bool, len(r.entries))
	for _, e := range r.entries {
		there[e.Path] = true
	}
	hot := map[string]*HotFile{}
	for _, touched := range commits {
		if len(touched.Paths) > mostTouched {
			continue
		}
		for _, p := range touched.Paths {
			switch hotFile := hot[p]; {
			case !there[p] || isForeign(p):
			case hotFile == nil:
				hot[p] = &HotFile{p, 1, touched.Subject, touched.When}
			default:
				hotFile.Times++
			}
		}
	}
	r.Recent = nil
	for _, h := range hot {
		r.Recent = append(r.Recent, *h)
	}
	slices.SortFunc(r.Recent, func(hotFile, b HotFile) int {
		if hotFile.Times != b.Times {
			return b.Times - hotFile.Times
		}
		return strings.Compare(hotFile.Path, b.Path)
	})
}
