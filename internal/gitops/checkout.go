package gitops

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/office/config"
)

// readBase reads the commit that the work starts from, and its relation to the remote.
func (c *checkout) readBase(ctx context.Context, ref string) (BaseInfo, error) {
	var info BaseInfo
	var err error
	remote := c.s.cfg.Remote
	info.RemoteURL = c.fetchURL()
	if info.DefaultBranch, err = c.defaultBranch(ctx); err != nil && company.CodeOf(err) != company.ENotFound {
		return info, err
	}
	info.Shallow = c.shallow
	full := "refs/heads/" + ref
	if ref == "" {
		result, err := c.s.runOK(ctx, call{dir: c.gitDir, args: []string{"rev-parse", "--symbolic-full-name", "HEAD"}})
		if err != nil || !strings.HasPrefix(result.outputText(), "refs/heads/") {
			if info, err = c.explainHead(ctx, info); err != nil {
				return info, err
			}
			full = "HEAD"
		} else {
			full = result.outputText()
		}
	}
	info.Branch = strings.TrimPrefix(full, "refs/heads/")
	if !validRef(full) && !info.Detached {
		return info, company.E(company.EInvalid,
			fmt.Sprintf("the branch name %q has unsupported characters", info.Branch)).
			Fix("make a branch with a plain name: git switch -c <name>")
	}
	if info.OID, err = c.s.resolveRev(ctx, c.gitDir, full, "commit"); err != nil {
		if company.CodeOf(err) == company.ENotFound && ref != "" {
			err = company.E(company.ENotFound, fmt.Sprintf("there is no branch %q in %s", ref, c.workTree)).
				Fix("list them with: git branch")
		} else if company.CodeOf(err) == company.ENotFound { // HEAD names it, so it existed
			err = unusableRepoError("the repository is damaged").Because("the commit of " + info.Branch + " is missing").
				Fix("git fsck lists the missing objects; repair it, or clone again")
		}
		return info, err
	}
	if info.Dirty, err = c.isDirty(ctx); err != nil {
		return info, err
	}
	tracking := "refs/remotes/" + remote + "/" + info.Branch
	upstream := []string{"^" + tracking}
	_, err = c.s.resolveRev(ctx, c.gitDir, tracking, "commit")
	if info.Detached {
		err = company.E(company.ENotFound, "")
	}
	switch company.CodeOf(err) {
	case "":
		info.RemoteHasBranch = true
	case company.ENotFound:
		if info.RemoteURL == "" {
			return info, nil
		}
		upstream = []string{"--not", "--remotes=" + remote}
	default:
		return info, err
	}
	r, err := c.s.runOK(
		ctx, call{dir: c.gitDir, args: append([]string{"rev-list", "--count", string(info.OID)}, upstream...)})
	if err != nil {
		return info, err
	}
	info.AheadOfRemote, err = strconv.Atoi(r.outputText())
	return info, err
}

// explainHead handles a HEAD that names no branch with a commit: it returns a detached base or an error.
func (c *checkout) explainHead(ctx context.Context, info BaseInfo) (BaseInfo, error) {
	id, err := c.s.resolveRev(ctx, c.gitDir, "HEAD", "commit")
	if company.CodeOf(err) == company.ENotFound {
		return info, unusableRepoError(c.workTree + " has no commit yet").Because("the company starts from a commit").
			Fix("commit first: git add -A && git commit --allow-empty -m 'first commit'")
	}
	if err != nil {
		return info, err
	}
	info.Detached, info.OID = true, id
	if info.DefaultBranch == "" {
		// The work could start, but its target branch would be unknown.
		return info, company.E(company.EInvalid, "HEAD is not on a branch").
			Because("it is detached at " + id.Short() + ", and there is no default branch for the pull request").
			Fix("name the branch to start from with --base <branch>, or: git switch <branch>")
	}
	return info, nil
}

// defaultBranch implements GIT-9: the remote's HEAD as the checkout knows it, else main, else master. It fails with
// ENotFound (DEFAULT_BRANCH_NOT_FOUND) if there is none.
func (c *checkout) defaultBranch(ctx context.Context) (string, error) {
	remote := "refs/remotes/" + c.s.cfg.Remote + "/"
	result, err := c.s.run(ctx, call{dir: c.gitDir, args: []string{"rev-parse", "--symbolic-full-name", remote + "HEAD"}})
	if err != nil {
		return "", err
	}
	if b, ok := strings.CutPrefix(result.outputText(), remote); ok && result.exit == 0 && b != "HEAD" && b != "" {
		return b, nil
	}
	for _, b := range []string{"main", "master"} {
		for _, space := range []string{remote, "refs/heads/"} {
			_, err := c.s.resolveRev(ctx, c.gitDir, space+b, "commit")
			if err == nil {
				return b, nil
			}
			if company.CodeOf(err) != company.ENotFound {
				return "", err
			}
		}
	}
	return "", company.E(company.ENotFound, "DEFAULT_BRANCH_NOT_FOUND: there is no origin/HEAD, main or master").
		Fix("name the branch with --base, or set it: git remote set-head origin --auto")
}

// isDirty reports whether the work tree or the index differs from HEAD. It does not run git status, which would run
// the repository's filters. It compares the index with HEAD, and the files with their metadata in the index. A file
// with different metadata is compared by content. In doubt it returns true, because this is only a warning.
func (c *checkout) isDirty(ctx context.Context) (bool, error) {
	at := call{dir: c.gitDir, workTree: c.workTree, args: []string{"ls-files", "-z", "--stage", "--debug"}}
	result, err := c.s.runOK(ctx, at)
	if err != nil {
		return false, err
	}
	index, err := parseIndex(string(result.out))
	if err != nil {
		return false, err
	}
	head, err := c.s.listTree(ctx, c.gitDir, "HEAD")
	if err != nil {
		return false, err
	}
	if len(head) != len(index) {
		return true, nil
	}
	var indexTime time.Time
	if fi, err := os.Stat(filepath.Join(c.gitDir, "index")); err == nil {
		indexTime = fi.ModTime()
	}
	for i, e := range index {
		if e.path != head[i].Path || e.mode != head[i].Mode || e.id != head[i].OID ||
			!e.skipped && c.isChanged(e, head[i].Size, indexTime) {
			return true, nil
		}
	}
	at.args = []string{"ls-files", "-z", "--others", "--exclude-standard", "--directory", "--no-empty-directory"}
	result, err = c.s.runOK(ctx, at)
	if err != nil {
		return false, err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(result.out), "\x00"), "\x00") {
		// The office's own config is read in place, and no work needs it.
		if name != "" && path.Base(name) != config.ConfigName {
			return true, nil
		}
	}
	return false, nil
}

// indexed is one entry of the index with the file's recorded metadata.
type indexed struct {
	path  string
	mode  int
	id    company.OID
	mtime time.Time
	size  int64 // of the file in the work tree
	// skipped means that git does not look at the file: it is outside of a sparse checkout, or assumed to be unchanged.
	skipped bool
}

// Flags of an index entry, as git ls-files --debug prints them.
const (
	flagAssumeValid  = 1 << 15
	flagSkipWorktree = 1 << 30
)

// parseIndex parses ls-files --stage --debug: "mode oid stage TAB path NUL", then six lines of "  key: value", of
// which mtime, size and flags are used.
func parseIndex(out string) ([]indexed, error) {
	bad := company.E(company.EGit, "git ls-files gave unexpected output")
	var list []indexed
	for out != "" {
		var head, debug string
		var ok bool
		if head, out, ok = strings.Cut(out, "\x00"); !ok {
			return nil, bad
		}
		meta, name, ok := strings.Cut(head, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 3 {
			return nil, bad
		}
		mode, err := strconv.ParseInt(f[0], 8, 32)
		if err != nil {
			return nil, bad
		}
		e := indexed{path: name, mode: int(mode), id: company.OID(f[1]), size: -1}
		for strings.HasPrefix(out, "  ") {
			debug, out, _ = strings.Cut(out, "\n")
			key, value, _ := strings.Cut(strings.TrimSpace(debug), ": ")
			switch key {
			case "mtime":
				sec, nano, _ := strings.Cut(value, ":")
				s, err1 := strconv.ParseInt(sec, 10, 64)
				n, err2 := strconv.ParseInt(nano, 10, 64)
				if err1 != nil || err2 != nil {
					return nil, bad
				}
				e.mtime = time.Unix(s, n)
			case "size":
				size, bits, _ := strings.Cut(value, "\tflags: ")
				flags, err1 := strconv.ParseUint(bits, 16, 32)
				if e.size, err = strconv.ParseInt(size, 10, 64); err != nil || err1 != nil {
					return nil, bad
				}
				e.skipped = flags&(flagAssumeValid|flagSkipWorktree) != 0
			}
		}
		list = append(list, e)
	}
	return list, nil
}

// isChanged compares the file on disk with the entry, whose content has blobSize bytes. indexTime is when the index was
// written. A file that is not older may have changed unnoticed, so its content is compared.
func (c *checkout) isChanged(e indexed, blobSize int64, indexTime time.Time) bool {
	name := filepath.Join(c.workTree, e.path)
	fi, err := os.Lstat(name)
	if err != nil {
		return true
	}
	if e.mode == ModeGitlink {
		return !fi.IsDir()
	}
	isLink := fi.Mode()&fs.ModeSymlink != 0
	// Where a file system has no links or modes, git stores a link's target in a file and ignores the modes.
	if isLink != (e.mode == ModeSymlink) && (isLink || c.config["core.symlinks"] != "false") ||
		!isLink && !fi.Mode().IsRegular() ||
		!isLink && fi.Mode()&0o100 != 0 != (e.mode == ModeExec) && c.config["core.filemode"] != "false" {
		return true
	}
	sameStat := fi.Size() == e.size && fi.ModTime().Equal(e.mtime)
	if sameStat && fi.ModTime().Before(indexTime) {
		return false
	}
	// If git recorded another size than the content's, it converted the file: its line ends, or by a filter.
	isConverted := e.size != blobSize
	if sameStat && isConverted {
		return false
	}
	if isLink {
		target, err := os.Readlink(name)
		return err != nil || e.id != hashBlob(strings.NewReader(target), int64(len(target)))
	}
	file, err := os.Open(name)
	if err != nil {
		return true
	}
	defer file.Close()
	if !isConverted {
		return e.id != hashBlob(file, fi.Size())
	}
	if fi.Size() != e.size || fi.Size() > 2*blobSize { // more than each line end is converted
		return true
	}
	text, err := io.ReadAll(file)
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return err != nil || e.id != hashBlob(bytes.NewReader(text), int64(len(text)))
}

// hashBlob returns git's id of a file with this content, or "" if it cannot be read.
func hashBlob(content io.Reader, size int64) company.OID {
	h := sha1.New() // not a security measure
	fmt.Fprintf(h, "blob %d\x00", size)
	if _, err := io.Copy(h, content); err != nil {
		return ""
	}
	return company.OID(hex.EncodeToString(h.Sum(nil)))
}
