package gitops

import (
	"bytes"
	"context"
	"strings"

	"company/internal/company"
)

// News is what a range of commits would publish: blobs that are not reachable
// from its start, and messages.
type News struct {
	Commits []Commit // the newest first
	Files   []NewFile
}

// maxNews bounds the commits whose messages are read.
const maxNews = 10_000

// NewFile is a blob under the path at which it was met.
type NewFile struct {
	Path string
	OID  company.OID
}

// News lists what head has and base has not, through every commit in between:
// what one of them adds and the next takes away is published all the same.
func (m *Mirror) News(ctx context.Context, base, head company.OID) (News, error) {
	var out News
	var err error
	if out.Commits, err = m.Log(ctx, base, head, maxNews); err != nil {
		return out, err
	}
	r, err := m.s.must(ctx, call{dir: m.dir, args: []string{"rev-list", "--objects", string(head), "^" + string(base)}})
	if err != nil {
		return out, err
	}
	var named []NewFile
	var ids []company.OID
	for line := range strings.SplitSeq(string(bytes.TrimSpace(r.out)), "\n") {
		id, path, _ := strings.Cut(line, " ")
		if company.OID(id).Valid() {
			named, ids = append(named, NewFile{path, company.OID(id)}), append(ids, company.OID(id))
		}
	}
	if len(ids) == 0 {
		return out, nil
	}
	b, err := m.s.batch(ctx, m.dir, nil, false)
	if err != nil {
		return out, err
	}
	defer b.close()
	infos, err := b.infos(ids)
	if err != nil {
		return out, err
	}
	for i, o := range infos {
		if o.kind == "blob" {
			out.Files = append(out.Files, named[i])
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
