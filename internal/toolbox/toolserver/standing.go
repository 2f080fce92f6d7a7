package toolserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// standing is the git state of a workspace, apart from HEAD's commit and the files.
type standing struct {
	Branch string            `json:"branch,omitempty"` // full name of HEAD's branch; "" if detached
	Refs   map[string]string `json:"refs,omitempty"`   // local branches and tags
	Stash  []stashed         `json:"stash,omitempty"`  // newest first
	Index  []string          `json:"index,omitempty"`  // differences from HEAD, as for update-index --index-info
	Merge  *merging          `json:"merge,omitempty"`  // an uncommitted merge
	Empty  []string          `json:"empty,omitempty"`  // empty folders
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

// Limits of a checkpoint's message. Beyond them the checkpoint is not exact.
const (
	maxStanding = 512 << 10
	maxRefs     = 100
	maxWalk     = 5000 // entries below untracked folders
)

// unsettled are files that show an unfinished operation, which a checkpoint cannot save.
var unsettled = []string{"CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply", "sequencer"}

// described is a standing, with the reason if it is incomplete.
type described struct {
	standing
	why string
}

// commitIDs returns the commits that a standing refers to.
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

// describeWorkspace returns the state of the workspace for a checkpoint's message. Its git commands are independent
// and run concurrently.
func (s *Server) describeWorkspace(ctx context.Context) (text string, at described, err error) {
	steps := []func(context.Context, *described) error{s.describeRefs, s.describeIndex, s.describeMerge, s.describeEmpty}
	parts, errs := make([]described, len(steps)), make([]error, len(steps))
	var asking sync.WaitGroup
	for i, step := range steps {
		asking.Go(func() { errs[i] = step(ctx, &parts[i]) })
	}
	asking.Wait()
	for _, p := range parts {
		at.why = cmp.Or(p.why, at.why)
	}
	if err := cmp.Or(errs...); err != nil {
		return "", at, err
	}
	refs := parts[0]
	index := parts[1]
	merge := parts[2]
	empty := parts[3]
	at.standing = standing{Branch: refs.Branch, Refs: refs.Refs, Stash: refs.Stash, Index: index.Index, Merge: merge.Merge,
		Empty: empty.Empty}
	if text, err = at.encodeText(); err == nil && len(text) > maxStanding {
		// The files are saved nevertheless.
		at = described{standing: standing{Branch: at.Branch}, why: "too much is staged"}
		text, err = at.encodeText()
	}
	return text, at, err
}

// encodeText encodes the standing for a checkpoint's message.
func (st *standing) encodeText() (string, error) {
	data, err := json.Marshal(st)
	return string(data), err
}

func (s *Server) describeRefs(ctx context.Context, at *described) error {
	var err error
	if at.Branch, err = s.headRef(ctx); err != nil {
		return err
	}
	out, err := s.runGit(ctx, nil, "for-each-ref", "--format=%(objectname) %(*objectname) %(refname)", "refs/heads/",
		"refs/tags/", "refs/stash")
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
			at.Refs[f[2]] = f[1] // an annotated tag becomes a lightweight one
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

// describeIndex lists the entries of the index that differ from HEAD.
func (s *Server) describeIndex(ctx context.Context, at *described) error {
	out, err := s.runGit(ctx, nil, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-ext-diff",
		"--no-abbrev", "HEAD")
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

// describeEmpty lists empty folders, which git does not track. They are untracked folders, or folders whose files were
// deleted.
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

// emptyBelow returns the empty folders at and below dir.
func (s *Server) emptyBelow(dir string, left *int) (empty []string) {
	_ = fs.WalkDir(s.root.FS(), dir, func(p string, entry fs.DirEntry, err error) error {
		if *left--; err != nil || *left < 0 {
			return fs.SkipAll
		}
		if !entry.IsDir() {
			return nil
		}
		if entry.Name() == ".git" {
			return fs.SkipDir
		}
		if entries, err := fs.ReadDir(s.root.FS(), p); err == nil && len(entries) == 0 {
			empty = append(empty, p)
		}
		return nil
	})
	return empty
}
