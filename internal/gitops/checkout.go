package gitops

import (
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
			fmt.Sprintf("the branch name %q has characters that the company does not handle", info.Branch)).
			Fix("make a branch with a plain name: git switch -c <name>")
	}
	if info.OID, err = c.s.resolveRev(ctx, c.gitDir, full, "commit"); err != nil {
		if company.CodeOf(err) == company.ENotFound && ref != "" {
			err = company.E(company.ENotFound, fmt.Sprintf("there is no branch %q in %s", ref, c.workTree)).
				Fix("list them with: git branch")
		} else if company.CodeOf(err) == company.ENotFound { // HEAD names it, so it existed
			err = unusableRepoError("the repository is damaged").Because("the commit of " + info.Branch + " is missing").
				Fix("git fsck lists the missing objects; mend it, or clone it anew")
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
		return info, unusableRepoError(c.workTree + " has no commit yet").Because("the company works from a commit").
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
		if e.path != head[i].Path || e.mode != head[i].Mode || e.id != head[i].OID || e.isChanged(c.workTree, indexTime) {
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
	size  int64
}

// parseIndex parses ls-files --stage --debug: "mode oid stage TAB path NUL", then six lines of "  key: value", of
// which mtime and size are used.
func parseIndex(out string) ([]indexed, error) {
	bad := company.E(company.EGit, "git ls-files answered something unexpected")
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
				size, _, _ := strings.Cut(value, "\t")
				if e.size, err = strconv.ParseInt(size, 10, 64); err != nil {
					return nil, bad
				}
			}
		}
		list = append(list, e)
	}
	return list, nil
}

// isChanged compares the file on disk with the entry. indexTime is when the index was written. A file that is not
// older may have changed unnoticed, so its content is compared.
func (e indexed) isChanged(workTree string, indexTime time.Time) bool {
	name := filepath.Join(workTree, e.path)
	fi, err := os.Lstat(name)
	if err != nil {
		return true
	}
	if e.mode == ModeGitlink {
		return !fi.IsDir()
	}
	isLink := fi.Mode()&fs.ModeSymlink != 0
	if isLink != (e.mode == ModeSymlink) ||
		!isLink && (!fi.Mode().IsRegular() || fi.Mode()&0o100 != 0 != (e.mode == ModeExec)) {
		return true
	}
	if fi.Size() == e.size && fi.ModTime().Equal(e.mtime) && fi.ModTime().Before(indexTime) {
		return false
	}
	h := sha1.New() // git's id of a blob, not a security measure
	fmt.Fprintf(h, "blob %d\x00", fi.Size())
	if isLink {
		target, err := os.Readlink(name)
		if err != nil {
			return true
		}
		_, _ = io.WriteString(h, target)
	} else {
		file, err := os.Open(name)
		if err != nil {
			return true
		}
		_, err = io.Copy(h, file)
		_ = file.Close()
		if err != nil {
			return true
		}
	}
	return company.OID(hex.EncodeToString(h.Sum(nil))) != e.id
}
