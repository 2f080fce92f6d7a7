package toolserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"company/internal/toolproto"
)

// A checkpoint is a commit of the work tree whose first parent is HEAD. What
// else a later container needs stands in its message; the commits that are
// named there are further parents, so that they travel along.

// standing is what git knows of a workspace besides HEAD's commit and files.
type standing struct {
	Branch string            `json:"branch,omitempty"` // that HEAD is on, by full name; "": detached
	Refs   map[string]string `json:"refs,omitempty"`   // local branches and tags
	Stash  []stashed         `json:"stash,omitempty"`  // the newest first
	Index  []string          `json:"index,omitempty"`  // where it is not HEAD's, as update-index --index-info takes it
	Merge  *merging          `json:"merge,omitempty"`  // a merge that is not committed
	Empty  []string          `json:"empty,omitempty"`  // folders with nothing in them
}

type stashed struct {
	OID     string `json:"oid"`
	Message string `json:"message"`
}

type merging struct {
	Head    string `json:"head"`
	Message string `json:"message"`
	Mode    string `json:"mode"`
}

// Bounds of what a message tells. Beyond them the checkpoint is not exact.
const (
	maxStanding = 512 << 10
	maxRefs     = 100
	maxWalk     = 5000 // entries below folders that git does not know
)

// unsettled are files that stand for something half done that a checkpoint
// cannot hold.
var unsettled = []string{"CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply", "sequencer"}

// saveCheckpoint saves the workspace, through an index of its own, so that neither
// the agent's index nor its branch moves.
func (s *Server) saveCheckpoint(ctx context.Context, r toolproto.CheckpointRequest) (toolproto.CheckpointResult, error) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	var none toolproto.CheckpointResult
	if err := s.checkPrepared(); err != nil {
		return none, err
	}
	if !runRE.MatchString(r.Run) {
		return none, toolproto.Refuse(toolproto.KindArgument, "%q is not a run id", r.Run)
	}
	head, err := s.commitOf(ctx, "HEAD")
	if err != nil {
		return none, asRefusal(err, "HEAD names no commit")
	}
	tree, err := s.saveFiles(ctx)
	if err != nil {
		return none, asRefusal(err, "the work tree could not be saved")
	}
	text, at, err := s.describeWorkspace(ctx)
	if err != nil {
		return none, asRefusal(err, "the state of git could not be saved")
	}
	last := s.repo.last
	if tree == last.Tree && head == s.repo.lastHead && text == s.repo.lastText && last.Exact {
		return toolproto.CheckpointResult{OID: last.OID, Tree: tree, Exact: true}, nil
	}
	result := toolproto.CheckpointResult{Tree: tree, Changed: tree != last.Tree, Exact: at.why == "", Why: at.why}
	parents := []string{head}
	if len(at.Index) > 0 {
		staged, err := s.saveIndex(ctx, head, at.Index)
		if err != nil {
			return none, asRefusal(err, "the index could not be saved")
		}
		parents = append(parents, staged)
	}
	parents = append(parents, at.commitIDs()...)
	if result.OID, err = s.saveCommit(ctx, r.Run, tree, text, parents); err != nil {
		return none, err
	}
	s.repo.last, s.repo.lastHead, s.repo.lastText = result, head, text
	return result, nil
}

// saveFiles is the tree of all files that are not ignored.
func (s *Server) saveFiles(ctx context.Context) (tree string, err error) {
	own, drop := s.ownIndex("checkpoint-index")
	defer drop()
	// A copy of the index knows which files did not change.
	data, err := os.ReadFile(filepath.Join(s.dir, ".git", "index"))
	if err == nil {
		err = os.WriteFile(strings.TrimPrefix(own.env[0], "GIT_INDEX_FILE="), data, 0o600)
	}
	if err != nil {
		if _, err := s.runGit(ctx, own, "read-tree", "HEAD"); err != nil {
			return "", err
		}
	}
	if _, err := s.runGit(ctx, own, "add", "--sparse", "--all", "--", "."); err != nil {
		return "", err
	}
	out, err := s.runGit(ctx, own, "write-tree")
	return strings.TrimSpace(out), err
}

// ownIndex is an index file beside the agent's.
func (s *Server) ownIndex(name string) (run *gitRun, drop func()) {
	path := filepath.Join(s.temp, name)
	return &gitRun{env: []string{"GIT_INDEX_FILE=" + path}}, func() { _ = os.Remove(path) }
}

// saveIndex makes a commit of the index. The sides of a conflict stand beside
// the file.
func (s *Server) saveIndex(ctx context.Context, head string, entries []string) (string, error) {
	own, drop := s.ownIndex("staged-index")
	defer drop()
	if _, err := s.runGit(ctx, own, "read-tree", head); err != nil {
		return "", err
	}
	var in strings.Builder
	for _, e := range entries {
		info, path, _ := strings.Cut(e, "\t")
		if stage := info[len(info)-1]; stage != '0' {
			info, path = info[:len(info)-1]+"0", path+"~"+string(stage)
		}
		in.WriteString(info + "\t" + path + "\x00")
	}
	own.stdin = in.String()
	if _, err := s.runGit(ctx, own, "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	own.stdin = ""
	tree, err := s.runGit(ctx, own, "write-tree")
	if err != nil {
		return "", err
	}
	out, err := s.runGit(ctx, &gitRun{stdin: s.withSignOff("staged\n")}, "commit-tree", "--no-gpg-sign", "-p", head, "-F", "-", strings.TrimSpace(tree))
	return strings.TrimSpace(out), err
}

func (s *Server) withSignOff(message string) string {
	if s.repo.signoff != "" {
		message += "\n" + s.repo.signoff + "\n"
	}
	return message
}

// saveCommit makes the checkpoint and pushes it.
func (s *Server) saveCommit(ctx context.Context, run, tree, text string, parents []string) (oid string, err error) {
	args := []string{"commit-tree", "--no-gpg-sign", "-F", "-"}
	for i, p := range parents {
		if !slices.Contains(parents[:i], p) {
			args = append(args, "-p", p)
		}
	}
	out, err := s.runGit(ctx, &gitRun{stdin: s.withSignOff(fmt.Sprintf("checkpoint %s\n\n%s\n", run, text))}, append(args, tree)...)
	if err != nil {
		return "", asRefusal(err, "")
	}
	oid = strings.TrimSpace(out)
	_, err = s.runGit(ctx, nil, "push", "--quiet", "--no-verify", "origin", fmt.Sprintf("+%s:refs/company/checkpoint/%s", oid, run))
	return oid, asRefusal(err, "the work tree was not saved")
}

// described is a standing, and why it is not the whole of it.
type described struct {
	standing
	why string
}

// commitIDs are the commits that a standing names.
func (st *standing) commitIDs() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(st.Refs)) {
		out = append(out, st.Refs[name])
	}
	for _, e := range st.Stash {
		out = append(out, e.OID)
	}
	if st.Merge != nil {
		out = append(out, st.Merge.Head)
	}
	return out
}

// describeWorkspace is what a checkpoint's message tells of the workspace as it is.
func (s *Server) describeWorkspace(ctx context.Context) (text string, at described, err error) {
	for _, step := range []func(context.Context, *described) error{s.describeRefs, s.describeIndex, s.describeMerge, s.describeEmpty} {
		if err := step(ctx, &at); err != nil {
			return "", at, err
		}
	}
	data, err := json.Marshal(at.standing)
	if err != nil {
		return "", at, err
	}
	if len(data) > maxStanding {
		// The files are saved all the same.
		at = described{standing: standing{Branch: at.Branch}, why: "too much is staged"}
		data, err = json.Marshal(at.standing)
	}
	return string(data), at, err
}

func (s *Server) describeRefs(ctx context.Context, at *described) error {
	data, err := os.ReadFile(filepath.Join(s.dir, ".git", "HEAD"))
	if err != nil {
		return err
	}
	if ref, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: "); ok {
		at.Branch = ref
	}
	out, err := s.runGit(ctx, nil, "for-each-ref", "--format=%(objectname) %(*objectname) %(refname)", "refs/heads/", "refs/tags/", "refs/stash")
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(f) != 3 || f[2] == at.Branch {
			continue
		}
		if f[2] == "refs/stash" {
			if at.Stash, err = s.listStashes(ctx); err != nil {
				return err
			}
			continue
		}
		if len(at.Refs) == maxRefs {
			at.why = fmt.Sprintf("there are more than %d branches and tags", maxRefs)
			return nil
		}
		if at.Refs == nil {
			at.Refs = map[string]string{}
		}
		at.Refs[f[2]] = f[0]
		if f[1] != "" {
			at.Refs[f[2]] = f[1] // an annotated tag becomes a plain one
		}
	}
	return nil
}

func (s *Server) listStashes(ctx context.Context) (out []stashed, err error) {
	text, err := s.runGit(ctx, nil, "reflog", "show", "--format=%H %gs", "refs/stash")
	for line := range strings.Lines(text) {
		oid, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		out = append(out, stashed{oid, message})
	}
	return out, err
}

// describeIndex tells where the index is not HEAD's.
func (s *Server) describeIndex(ctx context.Context, at *described) error {
	out, err := s.runGit(ctx, nil, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-ext-diff", "--no-abbrev", "HEAD")
	if err != nil {
		return err
	}
	fields := strings.Split(out, "\x00")
	conflict := false
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 {
			return fmt.Errorf("an odd line of git diff-index: %q", fields[i])
		}
		if f[4] == "U" {
			conflict = true
			continue
		}
		mode := f[1]
		if f[4] == "D" {
			mode = "0"
		}
		at.Index = append(at.Index, fmt.Sprintf("%s %s 0\t%s", mode, f[3], fields[i+1]))
	}
	if conflict {
		out, err := s.runGit(ctx, nil, "ls-files", "--unmerged", "-z")
		if err != nil {
			return err
		}
		gone := map[string]bool{}
		for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
			_, path, _ := strings.Cut(line, "\t")
			if !gone[path] {
				gone[path] = true
				at.Index = append(at.Index, fmt.Sprintf("0 %040d 0\t%s", 0, path))
			}
			at.Index = append(at.Index, line)
		}
	}
	for _, e := range at.Index {
		if !utf8.ValidString(e) {
			at.why = "a name is not UTF-8"
		}
	}
	return nil
}

func (s *Server) describeMerge(ctx context.Context, at *described) error {
	git := func(name string) string {
		data, _ := os.ReadFile(filepath.Join(s.dir, ".git", name))
		return string(data)
	}
	for _, name := range unsettled {
		if _, err := os.Lstat(filepath.Join(s.dir, ".git", name)); err == nil {
			at.why = name + " is there: something is half done"
		}
	}
	heads := strings.Fields(git("MERGE_HEAD"))
	switch {
	case len(heads) > 1:
		at.why = "a merge of several branches is half done"
	case len(heads) == 1:
		at.Merge = &merging{Head: heads[0], Message: git("MERGE_MSG"), Mode: git("MERGE_MODE")}
	}
	return nil
}

// describeEmpty lists folders with nothing in them: git does not. They are
// folders that it does not know, or folders of files that were deleted.
func (s *Server) describeEmpty(ctx context.Context, at *described) error {
	out, err := s.runGit(ctx, nil, "ls-files", "--others", "--deleted", "--directory", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	left := maxWalk
	for path := range strings.SplitSeq(out, "\x00") {
		if path == "" || !utf8.ValidString(path) {
			continue
		}
		if dir, ok := strings.CutSuffix(path, "/"); ok {
			at.Empty = append(at.Empty, s.emptyBelow(dir, &left)...)
		} else if dir := filepath.Dir(path); dir != "." && !slices.Contains(at.Empty, dir) {
			if entries, err := fs.ReadDir(s.root.FS(), dir); err == nil && len(entries) == 0 {
				at.Empty = append(at.Empty, dir)
			}
		}
	}
	slices.Sort(at.Empty)
	return nil
}

// emptyBelow are the folders at and below dir that have nothing in them.
func (s *Server) emptyBelow(dir string, left *int) (empty []string) {
	_ = fs.WalkDir(s.root.FS(), dir, func(p string, d fs.DirEntry, err error) error {
		if *left--; err != nil || *left < 0 {
			return fs.SkipAll
		}
		if !d.IsDir() {
			return nil
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		if entries, err := fs.ReadDir(s.root.FS(), p); err == nil && len(entries) == 0 {
			empty = append(empty, p)
		}
		return nil
	})
	return empty
}

// restoreCheckpoint makes the workspace what it was at a checkpoint.
func (s *Server) restoreCheckpoint(ctx context.Context, r toolproto.PrepareRequest) (toolproto.PrepareResult, error) {
	var none toolproto.PrepareResult
	message, err := s.runGit(ctx, nil, "show", "--no-patch", "--format=%B", r.Resume)
	if err != nil {
		return none, notServedError(err, "the checkpoint", r.Resume)
	}
	var at standing
	if parts := strings.SplitN(message, "\n\n", 3); len(parts) < 2 || json.Unmarshal([]byte(parts[1]), &at) != nil {
		return none, toolproto.Refuse(toolproto.KindGit, "%s is not a checkpoint", r.Resume)
	}
	head, err := s.commitOf(ctx, r.Resume+"^1")
	if err != nil {
		return none, notServedError(err, "the checkpoint", r.Resume)
	}
	if _, err := s.runGit(ctx, nil, "checkout", "--quiet", "--force", "--no-track", "-B", r.Branch, head); err != nil {
		return none, err
	}
	if err := s.layOut(ctx, r.Resume); err != nil {
		return none, err
	}
	for _, step := range []func() error{
		func() error { return s.restoreRefs(ctx, &at, "refs/heads/"+r.Branch, head) },
		func() error { return s.restoreIndex(ctx, at.Index) },
		func() error { return s.restoreMerge(at.Merge) },
	} {
		if err := step(); err != nil {
			return none, err
		}
	}
	for _, dir := range at.Empty {
		if err := s.root.MkdirAll(dir, 0o755); err != nil {
			return none, fmt.Errorf("make the empty folder %q: %w", dir, err)
		}
	}
	status, err := s.runGit(ctx, nil, "status", "--porcelain=v1")
	return toolproto.PrepareResult{Branch: r.Branch, Head: head, Dirty: status != "", Exact: true}, err
}

func (s *Server) restoreRefs(ctx context.Context, at *standing, branch, head string) error {
	for name, oid := range at.Refs {
		if name == branch {
			continue
		}
		if _, err := s.runGit(ctx, nil, "update-ref", name, oid); err != nil {
			return err
		}
	}
	for i := len(at.Stash) - 1; i >= 0; i-- {
		if _, err := s.runGit(ctx, nil, "stash", "store", "--quiet", "--message", at.Stash[i].Message, at.Stash[i].OID); err != nil {
			return err
		}
	}
	if at.Branch == branch {
		return nil
	}
	// HEAD leaves the branch, and the branch becomes what it was.
	var err error
	if at.Branch == "" {
		_, err = s.runGit(ctx, nil, "checkout", "--quiet", "--detach", "HEAD")
	} else if _, err = s.runGit(ctx, nil, "update-ref", at.Branch, head); err == nil {
		_, err = s.runGit(ctx, nil, "symbolic-ref", "HEAD", at.Branch)
	}
	if err != nil {
		return err
	}
	if oid, ok := at.Refs[branch]; ok {
		_, err = s.runGit(ctx, nil, "update-ref", branch, oid)
	} else {
		_, err = s.runGit(ctx, nil, "update-ref", "-d", branch)
	}
	return err
}

func (s *Server) restoreIndex(ctx context.Context, entries []string) error {
	if len(entries) == 0 {
		return nil
	}
	_, err := s.runGit(ctx, &gitRun{stdin: strings.Join(entries, "\x00") + "\x00"}, "update-index", "-z", "--index-info")
	return err
}

func (s *Server) restoreMerge(m *merging) error {
	if m == nil {
		return nil
	}
	var errs []error
	for name, text := range map[string]string{"MERGE_HEAD": m.Head + "\n", "MERGE_MSG": m.Message, "MERGE_MODE": m.Mode} {
		errs = append(errs, os.WriteFile(filepath.Join(s.dir, ".git", name), []byte(text), 0o644))
	}
	return errors.Join(errs...)
}
