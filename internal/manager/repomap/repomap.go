// Package repomap describes a repository for an agent that plans: its files or folders with their sizes, and recent
// changes.
//
// It owns the selection of the lines for a prompt. It reads git objects of one commit and runs no code of the
// repository. Its text is bounded and has no control characters. It is still data of the repository, and must be
// quoted.
package repomap

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
)

// Limits of reading for a map.
const (
	mostCommits = 300 // recent commits
	mostTouched = 60  // files of one commit; commits that change more are ignored
)

// Map describes a repository at a commit.
type Map struct {
	Files     int      // all files
	Bytes     int64    // of all files
	Languages []string // most bytes first
	Builds    []string // build files at the root
	Advice    []Advice
	Recent    []HotFile // most often changed first

	entries []gitops.Entry
}

// HotFile is a file that changed often lately.
type HotFile struct {
	Path    string
	Times   int       // number of recent commits that changed it
	Subject string    // of its newest change
	When    time.Time // of its newest change
}

// Read returns the map of a commit.
func Read(ctx context.Context, mirror *gitops.Mirror, at company.OID) (*Map, error) {
	entries, err := mirror.List(ctx, at)
	if err != nil {
		return nil, err
	}
	r := &Map{Files: len(entries), entries: entries}
	bytesOf := map[string]int64{}
	for _, entry := range entries {
		r.Bytes += entry.Size
		if language := languageOf(entry.Path); language != "" {
			bytesOf[language] += entry.Size
		}
		if catalog.IsManifest(entry.Path) {
			r.Builds = append(r.Builds, entry.Path)
		}
	}
	for language := range bytesOf {
		r.Languages = append(r.Languages, language)
	}
	slices.SortFunc(r.Languages, func(a, b string) int {
		return cmp.Or(cmp.Compare(bytesOf[b], bytesOf[a]), strings.Compare(a, b))
	})
	if r.Advice, err = readAdvice(ctx, mirror, at, entries); err != nil {
		return nil, err
	}
	commits, err := mirror.RecentChanges(ctx, at, mostCommits)
	if err != nil {
		return nil, err
	}
	r.countRecent(commits)
	return r, nil
}

// languages maps file extensions to languages.
var languages = map[string]string{
	".go": "Go", ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript",
	".jsx": "JavaScript",
	".ts":  "TypeScript", ".mts": "TypeScript", ".cts": "TypeScript", ".tsx": "TypeScript", ".rs": "Rust",
	".java": "Java", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hpp": "C++", ".hh": "C++",
	".rb": "Ruby", ".php": "PHP",
	".sh": "shell", ".md": "Markdown", ".yaml": "YAML", ".yml": "YAML",
}

// languageOf returns the language of a file by its extension, or "" if it is unknown.
func languageOf(name string) string { return languages[strings.ToLower(path.Ext(name))] }

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
	for _, h := range hot {
		r.Recent = append(r.Recent, *h)
	}
	slices.SortFunc(r.Recent, func(a, b HotFile) int {
		return cmp.Or(b.Times-a.Times, strings.Compare(a.Path, b.Path))
	})
}
