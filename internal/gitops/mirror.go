package gitops

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
)

// Mirror is the host-side bare repository of one project. Its refs/heads/* and
// refs/company/* are the company's; refs/remotes/origin/* say what the base
// was. All methods may be called by many goroutines.
type Mirror struct {
	s      *Store
	dir    string
	source string
}

// Dir is the absolute path of the repository.
func (m *Mirror) Dir() string { return m.dir }

// Resolve turns a full reference name or an object id into the commit it
// names. ENotFound when there is none.
func (m *Mirror) Resolve(ctx context.Context, rev string) (company.OID, error) {
	return m.s.resolveRev(ctx, m.dir, rev, "commit")
}

// Tree is the tree of a commit (or of a tree).
func (m *Mirror) Tree(ctx context.Context, treeish company.OID) (company.OID, error) {
	return m.s.resolveRev(ctx, m.dir, string(treeish), "tree")
}

// Ref is the commit a reference points at; ENotFound when there is no such
// reference.
func (m *Mirror) Ref(ctx context.Context, name string) (company.OID, error) {
	if !strings.HasPrefix(name, "refs/") {
		return "", company.E(company.EInvalid, fmt.Sprintf("%q is not the full name of a reference", name))
	}
	return m.s.resolveRev(ctx, m.dir, name, "commit")
}

func (s *Store) resolveRev(ctx context.Context, dir, rev, kind string) (company.OID, error) {
	if !company.OID(rev).Valid() && !strings.HasPrefix(rev, "refs/") && rev != "HEAD" || strings.ContainsAny(rev, "\x00\n^~:@{") {
		return "", company.E(company.EInvalid, fmt.Sprintf("%q is neither an object id nor the full name of a reference", rev))
	}
	r, err := s.run(ctx, call{dir: dir, args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{" + kind + "}"}})
	if err != nil {
		return "", err
	}
	id := company.OID(r.outputText())
	if r.exit != 0 || !id.Valid() {
		return "", company.E(company.ENotFound, fmt.Sprintf("there is no %s %s", kind, rev))
	}
	return id, nil
}

// UpdateRef moves ref from old to new, atomically; old "" means that the
// reference must not exist. E_PROTECTED for references that are not the
// company's (main and master first of all), E_CONFLICT when another process
// moved it.
func (m *Mirror) UpdateRef(ctx context.Context, ref string, new, old company.OID) error {
	if err := m.s.allowRef(ref); err != nil {
		return err
	}
	if !new.Valid() || old != "" && !old.Valid() {
		return company.E(company.EInvalid, "a reference moves between full object ids only")
	}
	if _, err := m.Resolve(ctx, string(new)); err != nil {
		return err
	}
	expect := old
	if old == "" {
		expect = company.OID(strings.Repeat("0", len(new))) // git: create only
	}
	r, err := m.s.run(ctx, call{dir: m.dir, args: []string{"update-ref", "--no-deref", ref, string(new), string(expect)}})
	if err != nil || r.exit == 0 {
		return err
	}
	now, err := m.Ref(ctx, ref)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return err
	}
	if now != old {
		return company.E(company.EConflict, ref+" has moved on").Because(fmt.Sprintf("it is at %q, expected %q", now.Short(), old.Short()))
	}
	if strings.Contains(r.stderr, "cannot lock ref") { // another writer was at it just now
		return company.E(company.EConflict, ref+" is being moved by another process").Because(r.failureReason())
	}
	return company.E(company.EGit, "git update-ref failed").Because(r.failureReason())
}

// IsAncestor reports whether a is b or an ancestor of b.
func (m *Mirror) IsAncestor(ctx context.Context, a, b company.OID) (bool, error) {
	if !a.Valid() || !b.Valid() {
		return false, company.E(company.EInvalid, "full object ids are needed")
	}
	r, err := m.s.run(ctx, call{dir: m.dir, args: []string{"merge-base", "--is-ancestor", string(a), string(b)}})
	switch {
	case err != nil:
		return false, err
	case r.exit > 1:
		return false, company.E(company.EGit, "git merge-base failed").Because(r.failureReason())
	}
	return r.exit == 0, nil
}

// MergeBase is the best common ancestor of a and b; ENotFound when they share
// no history. Several (criss-cross) are E_OBJECTS: git merges with all of them,
// so a diff against one of them is not the effect of the merge. A branch that
// holds all of its base has one; a second has to be made on purpose, by merging
// a commit that the base itself has merged.
func (m *Mirror) MergeBase(ctx context.Context, a, b company.OID) (company.OID, error) {
	if !a.Valid() || !b.Valid() {
		return "", company.E(company.EInvalid, "full object ids are needed")
	}
	r, err := m.s.run(ctx, call{dir: m.dir, args: []string{"merge-base", "--all", string(a), string(b)}})
	if err != nil {
		return "", err
	}
	if id := company.OID(r.outputText()); r.exit == 0 && id.Valid() {
		return id, nil
	}
	if r.exit == 0 && len(strings.Fields(r.outputText())) > 1 {
		return "", company.E(company.EObjects, fmt.Sprintf("the history of %s goes around the base %s: there are several merge bases", b.Short(), a.Short())).
			Fix("commit on top of the base")
	}
	if r.exit == 1 && r.stderr == "" {
		return "", company.E(company.ENotFound, fmt.Sprintf("%s and %s share no history", a.Short(), b.Short()))
	}
	return "", company.E(company.EGit, "git merge-base failed").Because(r.failureReason())
}

// Log lists the commits that are in to and not in from (from "": all of
// them), newest first, at most limit.
func (m *Mirror) Log(ctx context.Context, from, to company.OID, limit int) ([]Commit, error) {
	if from == "" {
		return m.LogWithout(ctx, to, nil, limit)
	}
	return m.LogWithout(ctx, to, []company.OID{from}, limit)
}

// CountUpTo counts the commits of a history, up to most: what lies before them is not read.
func (m *Mirror) CountUpTo(ctx context.Context, to company.OID, most int) (int, error) {
	if !to.Valid() || most < 1 {
		return 0, company.E(company.EInvalid, "a full object id and a limit are needed")
	}
	r, err := m.s.runOK(ctx, call{dir: m.dir, args: []string{"rev-list", "--count", "--max-count=" + strconv.Itoa(most), string(to)}})
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(r.outputText()))
	if err != nil {
		return 0, company.E(company.EGit, "git rev-list counts no commits").Wrap(err)
	}
	return n, nil
}

// LogWithout lists the commits that are in to and in none of without, newest
// first, at most limit.
func (m *Mirror) LogWithout(ctx context.Context, to company.OID, without []company.OID, limit int) ([]Commit, error) {
	if !to.Valid() || limit < 1 || slices.ContainsFunc(without, func(id company.OID) bool { return !id.Valid() }) {
		return nil, company.E(company.EInvalid, "full object ids and a limit are needed")
	}
	args := []string{"rev-list", "--topo-order", "--max-count=" + strconv.Itoa(limit), string(to)}
	for _, id := range without {
		args = append(args, "^"+string(id))
	}
	r, err := m.s.runOK(ctx, call{dir: m.dir, args: args})
	if err != nil {
		return nil, err
	}
	b, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return nil, err
	}
	defer b.close()
	var out []Commit
	for id := range strings.FieldsSeq(r.outputText()) {
		c, err := b.readCommit(company.OID(id))
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// Entry is one file of a tree: a regular file, a symlink or a gitlink.
type Entry struct {
	Path string // as bytes in git; not always UTF-8
	Mode int    // ModeFile, ModeExec, ModeSymlink, ModeGitlink
	OID  company.OID
	Size int64 // bytes; 0 for a gitlink
}

// List is every file of a commit or tree, with full paths, in git's order.
func (m *Mirror) List(ctx context.Context, treeish company.OID) ([]Entry, error) {
	if !treeish.Valid() {
		return nil, company.E(company.EInvalid, "a full object id is needed")
	}
	if known, ok := m.s.lists.findList(m.dir, string(treeish)); ok {
		return known, nil
	}
	entries, err := m.s.listTree(ctx, m.dir, string(treeish))
	if err == nil {
		m.s.lists.keepList(m.dir, string(treeish), entries)
	}
	return entries, err
}

// HasFolders refuses, as E_NOT_FOUND, paths that are no folders of a commit.
func (m *Mirror) HasFolders(ctx context.Context, at company.OID, paths []string) error {
	for _, p := range paths {
		r, err := m.s.run(ctx, call{dir: m.dir, args: []string{"ls-tree", "-d", "-z", "--full-tree", string(at), "--", p}})
		if err != nil {
			return err
		}
		if r.exit != 0 || !strings.HasSuffix(string(r.out), "\t"+p+"\x00") {
			return company.E(company.ENotFound, fmt.Sprintf("git.paths names %q, and %s has no such folder", p, at.Short())).Fix("correct git.paths, or commit the folder first")
		}
	}
	return nil
}

func (s *Store) listTree(ctx context.Context, dir, treeish string) ([]Entry, error) {
	r, err := s.runOK(ctx, call{dir: dir, args: []string{"ls-tree", "-r", "-z", "-l", "--full-tree", treeish}})
	if err != nil {
		return nil, err
	}
	var out []Entry
	for line := range bytes.SplitSeq(r.out, []byte{0}) {
		if len(line) == 0 {
			continue
		}
		meta, name, ok := bytes.Cut(line, []byte{'\t'})
		f := strings.Fields(string(meta))
		if !ok || len(f) != 4 {
			return nil, company.E(company.EGit, "git ls-tree answered something unexpected")
		}
		mode, err := strconv.ParseInt(f[0], 8, 32)
		if err != nil {
			return nil, company.E(company.EGit, "git ls-tree answered something unexpected").Wrap(err)
		}
		e := Entry{Path: string(name), Mode: int(mode), OID: company.OID(f[2])}
		if f[3] != "-" {
			if e.Size, err = strconv.ParseInt(f[3], 10, 64); err != nil {
				return nil, company.E(company.EGit, "git ls-tree answered something unexpected").Wrap(err)
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// ReadFile is the content of the file at path in a commit or tree. For a
// symlink that is its target. ENotFound when there is no such file.
func (m *Mirror) ReadFile(ctx context.Context, treeish company.OID, name string) ([]byte, error) {
	b, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if !treeish.Valid() {
		return nil, company.E(company.EInvalid, "a full object id is needed")
	}
	tree := treeish
	o, err := b.readInfo(treeish)
	if err != nil {
		return nil, err
	}
	if o.kind == "commit" {
		c, err := b.readCommit(treeish)
		if err != nil {
			return nil, err
		}
		tree = c.Tree
	}
	missing := company.E(company.ENotFound, fmt.Sprintf("there is no file %q in %s", name, treeish.Short()))
	if name == "" || path.Clean(name) != name || name[0] == '/' {
		return nil, missing
	}
	// Walked by hand, object by object: a path never becomes part of a
	// line that git parses.
	parts := strings.Split(name, "/")
	for i, part := range parts {
		entries, err := b.readTree(tree)
		if err != nil {
			return nil, err
		}
		var found *treeEntry
		for j := range entries {
			if entries[j].name == part {
				found = &entries[j]
			}
		}
		last := i == len(parts)-1
		if found == nil || found.mode == ModeGitlink || last == (found.mode == ModeTree) {
			return nil, missing
		}
		tree = found.id
	}
	return b.read(tree, "blob", maxReadBytes)
}

// ReadFiles gives the content of each entry, of a List, to fn, in order and by
// one process. text belongs to fn; an error of fn ends it and is returned.
func (m *Mirror) ReadFiles(ctx context.Context, entries []Entry, fn func(e Entry, text []byte) error) error {
	if len(entries) == 0 {
		return nil
	}
	b, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return err
	}
	defer b.close()
	asked := 0
	for i, e := range entries {
		for ; asked < min(i+maxAhead, len(entries)); asked++ {
			if err := b.ask(entries[asked].OID); err != nil {
				return err
			}
		}
		text, err := b.readAsked(e.OID, "blob", maxReadBytes)
		if err != nil {
			return err
		}
		if err := fn(e, text); err != nil {
			return err
		}
	}
	return nil
}

// Tar writes the files of a commit or tree as a tar stream: regular files
// with their executable bit, symlinks, and an empty directory for each
// gitlink. No attribute of the repository has a say, unlike in git archive.
// All times are 0 Unix, so the same tree gives the same bytes.
func (m *Mirror) Tar(ctx context.Context, treeish company.OID, w io.Writer) error {
	entries, err := m.List(ctx, treeish)
	if err != nil {
		return err
	}
	return m.TarEntries(ctx, entries, w)
}

// Text is a file that no tree has.
type Text struct {
	Path string
	Text []byte
}

// TarEntries is Tar of files that need not be of one tree, and behind them of
// some that are of none.
func (m *Mirror) TarEntries(ctx context.Context, entries []Entry, w io.Writer, more ...Text) error {
	b, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return err
	}
	defer b.close()
	tw := tar.NewWriter(w)
	for _, e := range entries {
		if err := b.tarEntry(tw, e); err != nil {
			return fmt.Errorf("tar %q: %w", e.Path, err)
		}
	}
	for _, f := range more {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: 0o644, Size: int64(len(f.Text)), ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
		if err := tw.WriteHeader(h); err != nil {
			return fmt.Errorf("tar %q: %w", f.Path, err)
		}
		if _, err := tw.Write(f.Text); err != nil {
			return fmt.Errorf("tar %q: %w", f.Path, err)
		}
	}
	return tw.Close()
}

func (b *batch) tarEntry(tw *tar.Writer, e Entry) error {
	h := &tar.Header{Name: e.Path, Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	switch e.Mode {
	case ModeGitlink:
		h.Typeflag, h.Mode, h.Name = tar.TypeDir, 0o755, e.Path+"/"
		return tw.WriteHeader(h)
	case ModeSymlink:
		target, err := b.read(e.OID, "blob", 1<<16)
		if err != nil {
			return err
		}
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, string(target), 0o777
		return tw.WriteHeader(h)
	case ModeExec:
		h.Mode = 0o755
	}
	h.Typeflag, h.Size = tar.TypeReg, e.Size
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	return b.copyTo(tw, e.OID, "blob", e.Size)
}
