package gitops

import (
	"context"
	pathpkg "path"
	"strings"

	"company/internal/company"
)

// News lists the data that a range of commits would publish: blobs that are not reachable from its start, names that
// its start lacks, and commits.
type News struct {
	Commits []Commit // newest first
	// Files are the new blobs, with each path that a commit gives them.
	Files []NewFile
	// Names are the paths of files and folders that the start lacks, with the first commit that has them. Their blobs
	// may already be in the start.
	Names []NewName
	// Cut means that there is more than maxNews or maxNewPaths, and the rest is not listed.
	Cut bool
}

const (
	// maxNews limits the commits.
	maxNews = 10_000
	// maxNewPaths limits files and names together. One tree under a thousand names is a small push but has millions of
	// paths.
	maxNewPaths = 200_000
)

// NewFile is a blob with a path.
type NewFile struct {
	Path string
	OID  company.OID
}

// NewName is a path and the first commit that has it.
type NewName struct {
	Path string
	By   company.OID
}

// News lists what head has and base lacks, over every commit in between. A file that one commit adds and the next
// removes is published too.
func (m *Mirror) News(ctx context.Context, base, head company.OID) (News, error) {
	commits, err := m.Log(ctx, base, head, maxNews)
	if err != nil {
		return News{}, err
	}
	result, err := m.s.runOK(
		ctx, call{dir: m.dir,
			args: []string{"rev-list", "--topo-order", "--reverse", "--format=%T", string(head), "^" + string(base)}})
	if err != nil {
		return News{}, err
	}
	had, err := m.List(ctx, base)
	if err != nil {
		return News{}, err
	}
	batch, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return News{}, err
	}
	defer batch.close()
	fresh, err := m.newObjects(ctx, batch, base, head)
	if err != nil {
		return News{}, err
	}
	w := newsWalk{b: batch, fresh: fresh, seen: map[NewFile]bool{}, names: map[string]bool{}, News: News{Commits: commits}}
	for _, e := range had {
		for path := e.Path; path != "." && !w.names[path]; path = pathpkg.Dir(path) {
			w.names[path] = true
		}
	}
	lines := strings.Fields(result.outputText()) // triples of "commit", its id, its tree
	for i := 0; i+2 < len(lines) && !w.Cut; i += 3 {
		if err := w.walkTree(company.OID(lines[i+1]), company.OID(lines[i+2]), ""); err != nil {
			return News{}, err
		}
	}
	w.Cut = w.Cut || len(commits) == maxNews
	return w.News, nil
}

// newsWalk walks new trees, each once per path.
type newsWalk struct {
	News
	b     *batch
	fresh map[company.OID]bool
	seen  map[NewFile]bool // trees and blobs with their paths
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
	for _, treeEntry := range entries {
		path := prefix + treeEntry.name
		if !w.names[path] {
			w.names[path] = true
			w.Names = append(w.Names, NewName{path, by})
		}
		switch newFile := (NewFile{path, treeEntry.id}); {
		case treeEntry.mode == ModeTree:
			if err := w.walkTree(by, treeEntry.id, path+"/"); err != nil {
				return err
			}
		case w.fresh[treeEntry.id] && !w.seen[newFile]:
			w.seen[newFile] = true
			w.Files = append(w.Files, newFile)
		}
		if w.Cut = w.Cut || len(w.Files)+len(w.Names) > maxNewPaths; w.Cut {
			return nil
		}
	}
	return nil
}

// newObjects returns the blobs and trees that are reachable from head but not from base.
func (m *Mirror) newObjects(ctx context.Context, b *batch, base, head company.OID) (map[company.OID]bool, error) {
	result, err := m.s.runOK(
		ctx, call{dir: m.dir, args: []string{"rev-list", "--objects", "--no-object-names", string(head), "^" + string(base)}})
	if err != nil {
		return nil, err
	}
	var ids []company.OID
	for id := range strings.FieldsSeq(result.outputText()) {
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

// HasBranches reports whether a remote has any branch. A new remote has none.
func (m *Mirror) HasBranches(ctx context.Context, remote Remote) (bool, error) {
	_, any, err := m.DefaultBranch(ctx, remote)
	return any, err
}

// DefaultBranch returns the branch that a remote's HEAD names, and whether the remote has any branch. The name is
// empty if that branch does not exist.
func (m *Mirror) DefaultBranch(ctx context.Context, remote Remote) (name string, any bool, err error) {
	endpoint, err := m.openRemote(ctx, remote)
	if err != nil {
		return "", false, err
	}
	defer endpoint.done()
	refs, head, err := endpoint.listBranches(ctx, m.dir, "*")
	for ref := range refs {
		any = any || strings.HasPrefix(ref, "refs/heads/")
	}
	if refs["refs/heads/"+head] != "" {
		name = head
	}
	return name, any, err
}

// ReadNews passes the content of files to fn, in order, using one process. text is valid until fn returns.
func (m *Mirror) ReadNews(ctx context.Context, files []NewFile, fn func(f NewFile, text []byte) error) error {
	entries := make([]Entry, len(files))
	for i, f := range files {
		entries[i] = Entry{Path: f.Path, OID: f.OID}
	}
	return m.ReadFiles(ctx, entries, func(e Entry, text []byte) error { return fn(NewFile{e.Path, e.OID}, text) })
}
