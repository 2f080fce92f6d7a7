package gitops

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"company/internal/company"
)

// Mirror is the host-side bare repository of one project. Its refs/heads/* and refs/company/* belong to the company.
// Its refs/remotes/origin/* record the base. All methods are safe for concurrent use.
type Mirror struct {
	s      *Store
	dir    string
	source string
}

// Dir returns the absolute path of the repository.
func (m *Mirror) Dir() string { return m.dir }

// Resolve returns the commit that a full reference name or an object id names. It fails with ENotFound if there is
// none.
func (m *Mirror) Resolve(ctx context.Context, rev string) (company.OID, error) {
	return m.s.resolveRev(ctx, m.dir, rev, "commit")
}

// Tree returns the tree of a commit or tree.
func (m *Mirror) Tree(ctx context.Context, treeish company.OID) (company.OID, error) {
	return m.s.resolveRev(ctx, m.dir, string(treeish), "tree")
}

// Ref returns the commit that a reference points at. It fails with ENotFound if the reference does not exist.
func (m *Mirror) Ref(ctx context.Context, name string) (company.OID, error) {
	if !strings.HasPrefix(name, "refs/") {
		return "", company.E(company.EInvalid, fmt.Sprintf("%q is not the full name of a reference", name))
	}
	return m.s.resolveRev(ctx, m.dir, name, "commit")
}

func (s *Store) resolveRev(ctx context.Context, dir, rev, kind string) (company.OID, error) {
	if !company.OID(rev).Valid() && !strings.HasPrefix(rev, "refs/") && rev != "HEAD" ||
		strings.ContainsAny(rev, "\x00\n ^~:@{") {
		return "", company.E(company.EInvalid,
			fmt.Sprintf("%q is neither an object id nor the full name of a reference", rev))
	}
	batch, err := s.startBatch(ctx, dir, nil, false)
	if err != nil {
		return "", err
	}
	defer batch.close()
	object, err := batch.readInfo(company.OID(rev + "^{" + kind + "}"))
	if err == nil && !object.id.Valid() {
		err = company.E(company.ENotFound, fmt.Sprintf("there is no %s %s", kind, rev))
	}
	return object.id, err
}

// UpdateRef moves ref from old to new atomically. An empty old means that the reference must not exist. It fails with
// E_PROTECTED for references that are not the company's, such as main and master, and with E_CONFLICT if another
// process moved the reference.
func (m *Mirror) UpdateRef(ctx context.Context, ref string, new, old company.OID) error {
	if err := m.s.allowRef(ref); err != nil {
		return err
	}
	if !new.Valid() || old != "" && !old.Valid() {
		return company.E(company.EInvalid, "a reference needs full object ids to move")
	}
	if _, err := m.Resolve(ctx, string(new)); err != nil {
		return err
	}
	expect := old
	if old == "" {
		expect = company.OID(strings.Repeat("0", len(new))) // git: create only
	}
	result, err := m.s.run(
		ctx, call{dir: m.dir, args: []string{"update-ref", "--no-deref", ref, string(new), string(expect)}})
	if err != nil || result.exit == 0 {
		return err
	}
	now, err := m.Ref(ctx, ref)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return err
	}
	if now != old {
		return company.E(company.EConflict, ref+" has moved on").
			Because(fmt.Sprintf("it is at %q, expected %q", now.Short(), old.Short()))
	}
	failed := m.s.explainFailure("update-ref", result)
	if !errors.Is(failed, syscall.ENOSPC) && strings.Contains(result.stderr, "cannot lock ref") {
		// another writer was updating it at that moment
		return company.E(company.EConflict, ref+" is being changed by another process").Because(result.failureReason())
	}
	return failed
}

// IsAncestor reports whether oid is b or an ancestor of b.
func (m *Mirror) IsAncestor(ctx context.Context, oid, b company.OID) (bool, error) {
	if !oid.Valid() || !b.Valid() {
		return false, company.E(company.EInvalid, "full object ids are needed")
	}
	result, err := m.s.run(ctx, call{dir: m.dir, args: []string{"merge-base", "--is-ancestor", string(oid), string(b)}})
	switch {
	case err != nil:
		return false, err
	case result.exit > 1:
		return false, company.E(company.EGit, "git merge-base failed").Because(result.failureReason())
	}
	return result.exit == 0, nil
}

// MergeBase returns the best common ancestor of oid and b. It fails with ENotFound if they share no history. Several
// merge bases (criss-cross) are E_OBJECTS: git merges with all of them, so a diff against one of them is not the
// effect of the merge. A branch that contains its whole base has one. A second one must be made on purpose, by
// merging a commit that the base itself has merged.
func (m *Mirror) MergeBase(ctx context.Context, oid, b company.OID) (company.OID, error) {
	if !oid.Valid() || !b.Valid() {
		return "", company.E(company.EInvalid, "full object ids are needed")
	}
	result, err := m.s.run(ctx, call{dir: m.dir, args: []string{"merge-base", "--all", string(oid), string(b)}})
	if err != nil {
		return "", err
	}
	if id := company.OID(result.outputText()); result.exit == 0 && id.Valid() {
		return id, nil
	}
	if result.exit == 0 && len(strings.Fields(result.outputText())) > 1 {
		return "", company.E(company.EObjects,
			fmt.Sprintf("the history of %s bypasses the base %s: there are several merge bases", b.Short(), oid.Short())).
			Fix("commit on top of the base")
	}
	if result.exit == 1 && result.stderr == "" {
		return "", company.E(company.ENotFound, fmt.Sprintf("%s and %s share no history", oid.Short(), b.Short()))
	}
	return "", company.E(company.EGit, "git merge-base failed").Because(result.failureReason())
}

// Log lists the commits in to that are not in from, newest first, at most limit. An empty from lists all of them.
func (m *Mirror) Log(ctx context.Context, from, to company.OID, limit int) ([]Commit, error) {
	if from == "" {
		return m.LogWithout(ctx, to, nil, limit)
	}
	return m.LogWithout(ctx, to, []company.OID{from}, limit)
}

// CountUpTo counts the commits of a history up to limit and reads no further.
func (m *Mirror) CountUpTo(ctx context.Context, to company.OID, limit int) (int, error) {
	if !to.Valid() || limit < 1 {
		return 0, company.E(company.EInvalid, "a full object id and a limit are needed")
	}
	result, err := m.s.runOK(
		ctx, call{dir: m.dir, args: []string{"rev-list", "--count", "--max-count=" + strconv.Itoa(limit), string(to)}})
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(result.outputText()))
	if err != nil {
		return 0, company.E(company.EGit, "git rev-list gave no count").Wrap(err)
	}
	return n, nil
}

// LogWithout lists the commits in to that are in no history of without, newest first, at most limit.
func (m *Mirror) LogWithout(ctx context.Context, to company.OID, without []company.OID, limit int) ([]Commit, error) {
	if !to.Valid() || limit < 1 || slices.ContainsFunc(without, func(id company.OID) bool { return !id.Valid() }) {
		return nil, company.E(company.EInvalid, "full object ids and a limit are needed")
	}
	args := []string{"rev-list", "--topo-order", "--max-count=" + strconv.Itoa(limit), string(to)}
	for _, id := range without {
		args = append(args, "^"+string(id))
	}
	result, err := m.s.runOK(ctx, call{dir: m.dir, args: args})
	if err != nil {
		return nil, err
	}
	batch, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return nil, err
	}
	defer batch.close()
	var out []Commit
	for id := range strings.FieldsSeq(result.outputText()) {
		commit, err := batch.readCommit(company.OID(id))
		if err != nil {
			return nil, err
		}
		out = append(out, commit)
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

// List returns every file of a commit or tree, with full paths, in git's order.
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

// HasFolders returns E_NOT_FOUND if one of the paths is not a folder of the commit.
func (m *Mirror) HasFolders(ctx context.Context, at company.OID, paths []string) error {
	for _, p := range paths {
		result, err := m.s.run(
			ctx, call{dir: m.dir, args: []string{"ls-tree", "-d", "-z", "--full-tree", string(at), "--", p}})
		if err != nil {
			return err
		}
		if result.exit != 0 || !strings.HasSuffix(string(result.out), "\t"+p+"\x00") {
			return company.E(company.ENotFound, fmt.Sprintf("git.paths names %q, but %s has no such folder", p, at.Short())).
				Fix("correct git.paths, or commit the folder first")
		}
	}
	return nil
}

func (s *Store) listTree(ctx context.Context, dir, treeish string) ([]Entry, error) {
	result, err := s.runOK(ctx, call{dir: dir, args: []string{"ls-tree", "-r", "-z", "-l", "--full-tree", treeish}})
	if err != nil {
		return nil, err
	}
	var out []Entry
	for line := range bytes.SplitSeq(result.out, []byte{0}) {
		if len(line) == 0 {
			continue
		}
		meta, name, ok := bytes.Cut(line, []byte{'\t'})
		f := strings.Fields(string(meta))
		if !ok || len(f) != 4 {
			return nil, company.E(company.EGit, "git ls-tree gave unexpected output")
		}
		mode, err := strconv.ParseInt(f[0], 8, 32)
		if err != nil {
			return nil, company.E(company.EGit, "git ls-tree gave unexpected output").Wrap(err)
		}
		entry := Entry{Path: string(name), Mode: int(mode), OID: company.OID(f[2])}
		if f[3] != "-" {
			if entry.Size, err = strconv.ParseInt(f[3], 10, 64); err != nil {
				return nil, company.E(company.EGit, "git ls-tree gave unexpected output").Wrap(err)
			}
		}
		out = append(out, entry)
	}
	return out, nil
}

// ReadFile returns the content of a file in a commit or tree. For a symlink it returns the target. It fails with
// ENotFound if there is no such file.
func (m *Mirror) ReadFile(ctx context.Context, treeish company.OID, name string) ([]byte, error) {
	batch, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return nil, err
	}
	defer batch.close()
	if !treeish.Valid() {
		return nil, company.E(company.EInvalid, "a full object id is needed")
	}
	tree := treeish
	object, err := batch.readInfo(treeish)
	if err != nil {
		return nil, err
	}
	if object.kind == "commit" {
		commit, err := batch.readCommit(treeish)
		if err != nil {
			return nil, err
		}
		tree = commit.Tree
	}
	missing := company.E(company.ENotFound, fmt.Sprintf("there is no file %q in %s", name, treeish.Short()))
	if name == "" || path.Clean(name) != name || name[0] == '/' {
		return nil, missing
	}
	// The path is resolved here, object by object, so that it never becomes part of a line that git parses.
	parts := strings.Split(name, "/")
	for i, part := range parts {
		entries, err := batch.readTree(tree)
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
	return batch.read(tree, "blob", maxReadBytes)
}

// ReadFiles passes the content of each entry of a List to fn, in order, using one process. fn may keep text. An error
// of fn stops the loop and is returned.
func (m *Mirror) ReadFiles(ctx context.Context, entries []Entry, fn func(e Entry, text []byte) error) error {
	if len(entries) == 0 {
		return nil
	}
	batch, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return err
	}
	defer batch.close()
	asked := 0
	for i, entry := range entries {
		for ; asked < min(i+maxAhead, len(entries)); asked++ {
			if err := batch.ask(entries[asked].OID); err != nil {
				return err
			}
		}
		text, err := batch.readAsked(entry.OID, "blob", maxReadBytes)
		if err != nil {
			return err
		}
		if err := fn(entry, text); err != nil {
			return err
		}
	}
	return nil
}

// Tar writes the files of a commit or tree as a tar stream: regular files with their executable bit, symlinks, and an
// empty directory for each gitlink. Unlike git archive, it ignores the repository's attributes. All times are Unix
// time 0, so the same tree gives the same bytes.
func (m *Mirror) Tar(ctx context.Context, treeish company.OID, w io.Writer) error {
	entries, err := m.List(ctx, treeish)
	if err != nil {
		return err
	}
	return m.TarEntries(ctx, entries, w)
}

// Text is a file that is in no tree.
type Text struct {
	Path string
	Text []byte
}

// TarEntries is like Tar, for files that may come from different trees. It appends the files in more.
func (m *Mirror) TarEntries(ctx context.Context, entries []Entry, w io.Writer, more ...Text) error {
	batch, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return err
	}
	defer batch.close()
	tw := tar.NewWriter(w)
	for _, entry := range entries {
		if err := batch.tarEntry(tw, entry); err != nil {
			return fmt.Errorf("tar %q: %w", entry.Path, err)
		}
	}
	for _, text := range more {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: text.Path, Mode: 0o644, Size: int64(len(text.Text)),
			ModTime: time.Unix(0, 0),
			Format:  tar.FormatPAX}
		if err := tw.WriteHeader(header); err != nil {
			return fmt.Errorf("tar %q: %w", text.Path, err)
		}
		if _, err := tw.Write(text.Text); err != nil {
			return fmt.Errorf("tar %q: %w", text.Path, err)
		}
	}
	return tw.Close()
}

func (b *batch) tarEntry(tw *tar.Writer, entry Entry) error {
	header := &tar.Header{Name: entry.Path, Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	switch entry.Mode {
	case ModeGitlink:
		header.Typeflag = tar.TypeDir
		header.Mode = 0o755
		header.Name = entry.Path + "/"
		return tw.WriteHeader(header)
	case ModeSymlink:
		target, err := b.read(entry.OID, "blob", 1<<16)
		if err != nil {
			return err
		}
		header.Typeflag = tar.TypeSymlink
		header.Linkname = string(target)
		header.Mode = 0o777
		return tw.WriteHeader(header)
	case ModeExec:
		header.Mode = 0o755
	}
	header.Typeflag, header.Size = tar.TypeReg, entry.Size
	if err := tw.WriteHeader(header); err != nil {
		return err
	}
	return b.copyTo(tw, entry.OID, "blob", entry.Size)
}
