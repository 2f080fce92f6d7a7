package image

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// lockFile is a file of a tree that may name dependencies.
type lockFile struct {
	path string // in the repository
	blob string // object id
}

// treeFiles lists the regular files of one tree with their object ids, without content.
type treeFiles struct {
	repo    Repo
	files   []string          // files whose paths are text, sorted
	entries []lockFile        // sorted by path
	blobs   map[string]string // object ids by path
}

// locksCommit returns the commit or tree whose lock files are used.
func (r Repo) locksCommit() company.OID {
	if r.Locks != "" {
		return r.Locks
	}
	return r.Commit
}

// listTree reads the names of a tree's files from git.
func listTree(ctx context.Context, repo Repo, at company.OID) (treeFiles, error) {
	out, err := runGit(ctx, repo.MirrorDir, "", "ls-tree", "-r", "-z", "--full-tree", string(at))
	if err != nil {
		return treeFiles{}, err
	}
	f := treeFiles{repo: repo, blobs: map[string]string{}}
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		meta, name, ok := strings.Cut(string(entry), "\t")
		part := strings.Fields(meta)
		if !ok || len(part) != 3 || part[1] != "blob" || part[0] != "100644" && part[0] != "100755" {
			continue // links, submodules
		}
		f.entries = append(f.entries, lockFile{name, part[2]})
		f.blobs[name] = part[2]
		if ecosystem.IsTextPath(name) {
			f.files = append(f.files, name)
		}
	}
	return f, nil
}

// hasFile reports whether the file exists.
func (f treeFiles) hasFile(name string) bool { return f.blobs[name] != "" }

// readText reads one file that names dependencies or versions.
func (f treeFiles) readText(ctx context.Context, name string) ([]byte, error) {
	id, ok := f.blobs[name]
	if !ok {
		return nil, company.E(company.ENotFound, name+" is not in the tree")
	}
	return readBlob(ctx, f.repo, name, id)
}

// textsOf reads the files of a tree. It implements ecosystem.Texts.
type textsOf struct {
	ctx  context.Context
	tree treeFiles
}

func (t textsOf) Files() []string { return t.tree.files }
func (t textsOf) ReadTexts(files []string) (map[string][]byte, error) {
	return t.tree.readTexts(t.ctx, files)
}

// Size limits in bytes: of one file that lists dependencies, and of all files
// that are read together.
const (
	maxLockFile = 32 << 20
	maxTexts    = 128 << 20
)

// readTexts reads any number of files with two calls of git.
func (f treeFiles) readTexts(ctx context.Context, names []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	if len(names) == 0 {
		return out, nil
	}
	var ids strings.Builder
	for _, n := range names {
		ids.WriteString(f.blobs[n] + "\n")
	}
	sizes, err := runGit(ctx, f.repo.MirrorDir, ids.String(), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return nil, err
	}
	lines := strings.Fields(string(sizes))
	if len(lines) != len(names) {
		return nil, company.E(company.EGit, "git cannot find a file of the tree")
	}
	var total int64
	for i, l := range lines {
		var n int64
		if _, err := fmt.Sscan(l, &n); err != nil || n > maxLockFile {
			return nil, tooLargeError(names[i])
		}
		if total += n; total > maxTexts {
			return nil, tooLargeError(names[i])
		}
	}
	all, err := runGit(ctx, f.repo.MirrorDir, ids.String(), "cat-file", "--batch=%(objectsize)")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		head, rest, _ := bytes.Cut(all, []byte{'\n'})
		var n int
		if _, err := fmt.Sscan(string(head), &n); err != nil || n < 0 || n >= len(rest) {
			return nil, company.E(company.EGit, "git's output for "+name+" is incomplete")
		}
		out[name], all = rest[:n:n], rest[n+1:]
	}
	return out, nil
}

// filesNamed returns the project's own files with one of these names. Files nearest to the root come
// first, so that they are kept if there are too many.
func (f treeFiles) filesNamed(names ...string) []string {
	var out []string
	for _, name := range f.files {
		if slices.Contains(names, path.Base(name)) && ecosystem.HasOwnLocks(path.Dir(name)) {
			out = append(out, name)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return out
}

// readBlob reads one object. It returns an error if the object exceeds maxLockFile.
func readBlob(ctx context.Context, repo Repo, name, id string) ([]byte, error) {
	size, err := runGit(ctx, repo.MirrorDir, "", "cat-file", "-s", id)
	if err != nil {
		return nil, err
	}
	var n int64
	if _, err := fmt.Sscan(string(size), &n); err != nil || n > maxLockFile {
		return nil, tooLargeError(name)
	}
	return runGit(ctx, repo.MirrorDir, "", "cat-file", "blob", id)
}

func tooLargeError(name string) error {
	return company.E(company.EImage,
		fmt.Sprintf("%s is over %d MiB, or the files of its kind are over %d MiB", name, maxLockFile>>20, maxTexts>>20)).
		Fix("check them: manifests and lock files are usually much smaller")
}
