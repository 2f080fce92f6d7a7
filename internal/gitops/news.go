package gitops

import (
	"bytes"
	"context"
	"strings"

	"company/internal/company"
)

// News is what a range of commits would publish: blobs that are not reachable
// from its start, names of files, and commits.
type News struct {
	Commits []Commit // the newest first
	// Files are the new blobs, under each path that a commit gives them.
	Files []NewFile
	// Names are the paths that a commit adds, with the commit. A blob of the
	// start may be among them.
	Names []NewName
}

// maxNews bounds the commits whose messages are read.
const maxNews = 10_000

// NewFile is a blob under a path.
type NewFile struct {
	Path string
	OID  company.OID
}

// NewName is a path and the first of the commits that add it.
type NewName struct {
	Path string
	By   company.OID
}

// News lists what head has and base has not, through every commit in between:
// what one of them adds and the next takes away is published all the same.
func (m *Mirror) News(ctx context.Context, base, head company.OID) (News, error) {
	var out News
	var err error
	if out.Commits, err = m.Log(ctx, base, head, maxNews); err != nil {
		return out, err
	}
	fresh, err := m.newBlobs(ctx, base, head)
	if err != nil {
		return out, err
	}
	list, err := m.s.must(ctx, call{dir: m.dir, args: []string{"rev-list", "--topo-order", "--reverse", string(head), "^" + string(base)}})
	if err != nil {
		return out, err
	}
	r, err := m.s.must(ctx, call{dir: m.dir, stdin: bytes.NewReader(list.out), args: []string{"diff-tree", "--stdin", "-r", "-m", "--root", "-z", "--raw",
		"--no-ext-diff", "--no-textconv", "--no-renames", "--no-abbrev"}})
	if err != nil {
		return out, err
	}
	return out, out.read(string(r.out), fresh)
}

// read takes what commits change from git diff-tree's answer: the id of a
// commit, then its changes against a parent, and so for each parent.
func (n *News) read(answer string, fresh map[company.OID]bool) error {
	files, names := map[NewFile]bool{}, map[string]bool{}
	by := company.OID("")
	for answer != "" {
		line, rest, _ := strings.Cut(answer, "\x00")
		if id := company.OID(line); id.Valid() {
			by, answer = id, rest
			continue
		}
		path, rest, _ := strings.Cut(rest, "\x00")
		answer = rest
		changes, err := parseRaw([]byte(line + "\x00" + path + "\x00"))
		if err != nil {
			return err
		}
		for _, c := range changes {
			if f := (NewFile{path, c.NewOID}); fresh[c.NewOID] && !files[f] {
				files[f] = true
				n.Files = append(n.Files, f)
			}
			if c.Action == "created" && !names[path] {
				names[path] = true
				n.Names = append(n.Names, NewName{path, by})
			}
		}
	}
	return nil
}

// newBlobs are the blobs that head reaches and base does not.
func (m *Mirror) newBlobs(ctx context.Context, base, head company.OID) (map[company.OID]bool, error) {
	r, err := m.s.must(ctx, call{dir: m.dir, args: []string{"rev-list", "--objects", "--no-object-names", string(head), "^" + string(base)}})
	if err != nil {
		return nil, err
	}
	var ids []company.OID
	for id := range strings.FieldsSeq(r.text()) {
		ids = append(ids, company.OID(id))
	}
	out := map[company.OID]bool{}
	if len(ids) == 0 {
		return out, nil
	}
	b, err := m.s.batch(ctx, m.dir, nil, false)
	if err != nil {
		return nil, err
	}
	defer b.close()
	infos, err := b.infos(ids)
	if err != nil {
		return nil, err
	}
	for i, o := range infos {
		if o.kind == "blob" {
			out[ids[i]] = true
		}
	}
	return out, nil
}

// HasBranches says whether a remote has any branch: a new one has none.
func (m *Mirror) HasBranches(ctx context.Context, remote Remote) (bool, error) {
	a, err := m.s.remote(ctx, remote)
	if err != nil {
		return false, err
	}
	defer a.done()
	refs, _, err := a.list(ctx, m.dir, "*")
	for ref := range refs {
		if strings.HasPrefix(ref, "refs/heads/") {
			return true, err
		}
	}
	return false, err
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
