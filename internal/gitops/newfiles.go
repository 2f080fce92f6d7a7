package gitops

import (
	"context"
	pathpkg "path"
	"strings"

	"company/internal/company"
)

// News is what a range of commits would publish: blobs that are not reachable
// from its start, names that its start has not, and commits.
type News struct {
	Commits []Commit // the newest first
	// Files are the new blobs, under each path that a commit gives them.
	Files []NewFile
	// Names are the paths of files and folders that the start has not, with the
	// commit that has them first. A blob of the start may be among them.
	Names []NewName
	// Cut says that there is more than maxNews or maxNewPaths: the rest is not
	// listed.
	Cut bool
}

const (
	// maxNews bounds the commits.
	maxNews = 10_000
	// maxNewPaths bounds files and names together. One tree under a thousand
	// names is a small push and millions of paths.
	maxNewPaths = 200_000
)

// NewFile is a blob under a path.
type NewFile struct {
	Path string
	OID  company.OID
}

// NewName is a path and the first of the commits that have it.
type NewName struct {
	Path string
	By   company.OID
}

// News lists what head has and base has not, through every commit in between:
// what one of them adds and the next takes away is published all the same.
func (m *Mirror) News(ctx context.Context, base, head company.OID) (News, error) {
	commits, err := m.Log(ctx, base, head, maxNews)
	if err != nil {
		return News{}, err
	}
	r, err := m.s.runOK(ctx, call{dir: m.dir, args: []string{"rev-list", "--topo-order", "--reverse", "--format=%T", string(head), "^" + string(base)}})
	if err != nil {
		return News{}, err
	}
	had, err := m.List(ctx, base)
	if err != nil {
		return News{}, err
	}
	b, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return News{}, err
	}
	defer b.close()
	fresh, err := m.newObjects(ctx, b, base, head)
	if err != nil {
		return News{}, err
	}
	w := newsWalk{b: b, fresh: fresh, seen: map[NewFile]bool{}, names: map[string]bool{}, News: News{Commits: commits}}
	for _, e := range had {
		for path := e.Path; path != "." && !w.names[path]; path = pathpkg.Dir(path) {
			w.names[path] = true
		}
	}
	lines := strings.Fields(r.outputText()) // "commit", its id, its tree
	for i := 0; i+2 < len(lines) && !w.Cut; i += 3 {
		if err := w.walkTree(company.OID(lines[i+1]), company.OID(lines[i+2]), ""); err != nil {
			return News{}, err
		}
	}
	w.Cut = w.Cut || len(commits) == maxNews
	return w.News, nil
}

// newsWalk goes through new trees, each once under each of its paths.
type newsWalk struct {
	News
	b     *batch
	fresh map[company.OID]bool
	seen  map[NewFile]bool // trees and blobs under their paths
	names map[string]bool
}

func (w *newsWalk) walkTree(by, id company.OID, prefix string) error {
	if !w.fresh[id] || w.seen[NewFile{prefix, id}] {
		return nil
	}
	w.seen[NewFile{prefix, id}] = true
	entries, err := w.b.readTree(id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := prefix + e.name
		if !w.names[path] {
			w.names[path] = true
			w.Names = append(w.Names, NewName{path, by})
		}
		switch f := (NewFile{path, e.id}); {
		case e.mode == ModeTree:
			if err := w.walkTree(by, e.id, path+"/"); err != nil {
				return err
			}
		case w.fresh[e.id] && !w.seen[f]:
			w.seen[f] = true
			w.Files = append(w.Files, f)
		}
		if w.Cut = w.Cut || len(w.Files)+len(w.Names) > maxNewPaths; w.Cut {
			return nil
		}
	}
	return nil
}

// newObjects are the blobs and trees that head reaches and base does not.
func (m *Mirror) newObjects(ctx context.Context, b *batch, base, head company.OID) (map[company.OID]bool, error) {
	r, err := m.s.runOK(ctx, call{dir: m.dir, args: []string{"rev-list", "--objects", "--no-object-names", string(head), "^" + string(base)}})
	if err != nil {
		return nil, err
	}
	var ids []company.OID
	for id := range strings.FieldsSeq(r.outputText()) {
		ids = append(ids, company.OID(id))
	}
	infos, err := b.readInfos(ids)
	if err != nil {
		return nil, err
	}
	out := map[company.OID]bool{}
	for i, o := range infos {
		if o.kind == "blob" || o.kind == "tree" {
			out[ids[i]] = true
		}
	}
	return out, nil
}

// HasBranches says whether a remote has any branch: a new one has none.
func (m *Mirror) HasBranches(ctx context.Context, remote Remote) (bool, error) {
	_, any, err := m.DefaultBranch(ctx, remote)
	return any, err
}

// DefaultBranch returns the branch that a remote's HEAD names, and whether the remote has any branch. The
// name is empty where HEAD names none that is there.
func (m *Mirror) DefaultBranch(ctx context.Context, remote Remote) (name string, any bool, err error) {
	a, err := m.openRemote(ctx, remote)
	if err != nil {
		return "", false, err
	}
	defer a.done()
	refs, head, err := a.listBranches(ctx, m.dir, "*")
	for ref := range refs {
		any = any || strings.HasPrefix(ref, "refs/heads/")
	}
	if refs["refs/heads/"+head] != "" {
		name = head
	}
	return name, any, err
}

// ReadNews gives the content of files to fn, in order and by one process; text
// is good until fn returns.
func (m *Mirror) ReadNews(ctx context.Context, files []NewFile, fn func(f NewFile, text []byte) error) error {
	entries := make([]Entry, len(files))
	for i, f := range files {
		entries[i] = Entry{Path: f.Path, OID: f.OID}
	}
	return m.ReadFiles(ctx, entries, func(e Entry, text []byte) error { return fn(NewFile{e.Path, e.OID}, text) })
}
