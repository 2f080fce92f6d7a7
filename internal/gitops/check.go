package gitops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/shellquote"
)

// Limits for the changes that a run may add to its base. Trees are counted as a checkout would expand them, so that a
// small pack with one tree under many names counts in full. Entries that the base has at the same path do not count.
const (
	MaxPushBytes  = 64 << 20  // one pack as sent
	MaxRunBytes   = 512 << 20 // all packs of a run in its quarantine
	maxNewCommits = 1000
	// bytes of all new commits: searching messages for commands takes a second per some hundred thousand bytes
	maxCommitsSize = 8 << 20
	maxNewFiles    = 50_000
	maxDepth       = 64
	maxPathBytes   = 1024
	maxBlobBytes   = 10 << 20
	maxTotalBytes  = 256 << 20
	maxLinkTarget  = 4095 // PATH_MAX of Linux, without the NUL
	objectsTimeout = 60 * time.Second
)

// checker holds the state of one check. It is not safe for concurrent use.
type checker struct {
	b     *batch
	fold  *sameName
	memo  map[pair]weight
	sizes map[company.OID]int64
	only  []string    // folders that may change; empty allows all
	now   company.OID // the commit whose tree is checked
}

// isAllowedPath reports whether a path may change: it must be in one of the folders or, if it is a tree, above one of
// them.
func (c *checker) isAllowedPath(path string, tree bool) bool {
	return len(c.only) == 0 || slices.ContainsFunc(c.only, func(f string) bool {
		return path == f && tree || strings.HasPrefix(path, f+"/") || tree && strings.HasPrefix(f, path+"/")
	})
}

// outsideError returns the error for a path that may not change.
func (c *checker) outsideError(path string) error {
	return company.E(company.EObjects, fmt.Sprintf("%q is outside of the folders of this task", path)).
		Because("it may only change " + strings.Join(c.only, ", ")).
		Fix("undo the commit (git reset --soft HEAD~1), restore that path from origin/" +
			strings.TrimPrefix(BaseBranch, "refs/heads/") + " has it, and commit again; escalate when the task needs it")
}

// pair identifies a tree and the base's tree at the same place. The depth matters because a symlink that is harmless
// deep in the tree points outside when it is further up.
type pair struct {
	tree, base company.OID
	depth      int
}

// weight is the size of a tree's additions to its base.
type weight struct {
	files int // files and folders
	bytes int64
	path  int // bytes of the longest path below
	depth int // levels below
}

// checkObjects checks every commit reachable from tips that is not in the run's base or its known commits, against
// the base's tree. env names the object directories of a push that is not accepted yet. E_OBJECTS names the refused
// object.
func (q *Quarantine) checkObjects(ctx context.Context, env []string, tips []company.OID) error {
	ctx, cancel := context.WithTimeout(ctx, objectsTimeout)
	defer cancel()
	batch, err := q.s.startBatch(ctx, q.dir, env, true)
	if err != nil {
		return err
	}
	defer batch.close()
	return q.judgeObjects(ctx, batch, env, tips)
}

// judgeObjects is checkObjects with an existing process that reads objects.
func (q *Quarantine) judgeObjects(ctx context.Context, b *batch, env []string, tips []company.OID) error {
	kinds, err := b.readInfos(tips)
	if err != nil {
		return err
	}
	for i, tip := range tips {
		if kinds[i].kind != "commit" {
			return company.E(company.EObjects, fmt.Sprintf("%s is not a commit", tip.Short()))
		}
	}
	commits, err := q.listNewCommits(ctx, b, env, tips)
	if err != nil {
		return err
	}
	root, err := b.readCommit(q.base)
	if err != nil {
		return err
	}
	c := &checker{b: b, fold: newSameName(), memo: map[pair]weight{}, sizes: map[company.OID]int64{}, only: q.only}
	if err := checkCommitsSize(commits); err != nil {
		return err
	}
	// The oldest commit with a fault is the one to undo.
	for _, commit := range slices.Backward(commits) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := q.judgeCommit(commit); err != nil {
			return err
		}
		c.now = commit.OID
		if _, err := c.weighTree("", 0, 0, commit.Tree, root.Tree); err != nil {
			return err
		}
	}
	return nil
}

// checkCommitsSize returns an error if the messages of the commits are too long in total.
func checkCommitsSize(commits []Commit) error {
	size := 0
	for _, c := range commits {
		size += len(c.Raw)
	}
	if size > maxCommitsSize {
		return company.E(company.EObjects,
			fmt.Sprintf("the messages of the new commits have more than %d MiB", maxCommitsSize>>20)).
			Fix("shorten the messages")
	}
	return nil
}

// judgeCommit checks the parts of a new commit other than its tree: its headers, identity and message.
func (q *Quarantine) judgeCommit(commit Commit) error {
	if err := judgeHeaders(commit); err != nil {
		return err
	}
	if q.by != nil {
		if err := q.by.checkCommit(commit); err != nil {
			return err
		}
	}
	return judgeMessage(commit, commit.Author, commit.Committer)
}

func pathError(path, reason string) error {
	if len(path) > 300 {
		path = path[:300] + "…"
	}
	return company.E(company.EObjects, fmt.Sprintf("%q %s", path, reason)).Fix("remove it from the commits and push again")
}

// gitlinkError returns the error for a new or moved submodule. Usually a program that made the folder also ran git init
// in it.
func (c *checker) gitlinkError(path string) error {
	folder := shellquote.QuoteArgument(path)
	return company.E(company.EObjects,
		fmt.Sprintf("folder %q has a git repository and is not a submodule of the base", path)).
		Because("its files are not in the commit").
		Fix(fmt.Sprintf("undo the commit and remove that repository: git reset --soft %s~1 && git reset -q -- %s && "+
			"rm -r %s/.git; then commit again", c.now.Short(), folder, folder))
}

// weighTree compares one tree with the base's tree at the same path; baseID is "" if there is none. open is the
// number of new entries in the trees above, so that the walk itself never exceeds the limit.
func (c *checker) weighTree(path string, depth, open int, id, baseID company.OID) (weight, error) {
	if id == baseID {
		return weight{}, nil
	}
	key := pair{id, baseID, depth}
	// Above the folders that may change, the verdict depends on the path.
	w, known := c.memo[key]
	if known && (len(c.only) == 0 ||
		slices.ContainsFunc(c.only, func(f string) bool { return strings.HasPrefix(path, f+"/") })) {
		return w, nil
	}
	if depth > maxDepth {
		return weight{}, pathError(path, fmt.Sprintf("is more than %d folders deep", maxDepth))
	}
	entries, err := c.b.readTree(id)
	if err != nil {
		return weight{}, err
	}
	old := map[string]treeEntry{}
	if baseID != "" {
		list, err := c.b.readTree(baseID)
		if err != nil {
			return weight{}, err
		}
		for _, e := range list {
			old[e.name] = e
		}
	}
	fresh := entries[:0:0]
	stays := map[string]bool{}
	for _, e := range entries {
		stays[e.name] = true
		if was, ok := old[e.name]; ok && was.mode == e.mode && was.id == e.id {
			continue
		}
		fresh = append(fresh, e)
		if !c.isAllowedPath(path+e.name, e.mode == ModeTree) {
			return weight{}, c.outsideError(path + e.name)
		}
	}
	for name := range old {
		// A folder of the task may be removed completely.
		if !stays[name] && !c.isAllowedPath(path+name, false) && !slices.Contains(c.only, path+name) {
			return weight{}, c.outsideError(path + name)
		}
	}
	if open += len(fresh); open > maxNewFiles {
		return weight{}, pathError(path, fmt.Sprintf("adds more than %d files", maxNewFiles))
	}
	if err := c.checkNames(path, depth, entries, fresh, old); err != nil {
		return weight{}, err
	}
	if w, err = c.weighBlobs(path, fresh); err != nil {
		return weight{}, err
	}
	for _, e := range fresh {
		if e.mode != ModeTree {
			continue
		}
		below := company.OID("")
		if was, ok := old[e.name]; ok && was.mode == ModeTree {
			below = was.id
		}
		sub, err := c.weighTree(path+e.name+"/", depth+1, open, e.id, below)
		if err != nil {
			return weight{}, err
		}
		w.files += sub.files
		w.bytes += sub.bytes
		w.path = max(w.path, len(e.name)+1+sub.path)
		w.depth = max(w.depth, 1+sub.depth)
		if err := w.checkLimits(path+e.name+"/", path, depth); err != nil {
			return weight{}, err
		}
	}
	if err := w.checkLimits(path, path, depth); err != nil {
		return weight{}, err
	}
	c.memo[key] = w
	return w, nil
}

// checkLimits compares a weight with the limits. at is shown in errors, and path is the prefix.
func (w weight) checkLimits(at, path string, depth int) error {
	switch {
	case w.files > maxNewFiles:
		return pathError(at, fmt.Sprintf("adds more than %d files", maxNewFiles))
	case w.bytes > maxTotalBytes:
		return pathError(at, fmt.Sprintf("adds more than %d MiB", maxTotalBytes>>20))
	case len(path)+w.path > maxPathBytes:
		return pathError(at, fmt.Sprintf("has a path longer than %d bytes", maxPathBytes))
	case depth+w.depth > maxDepth:
		return pathError(at, fmt.Sprintf("is more than %d folders deep", maxDepth))
	}
	return nil
}

// checkNames returns an error for new names that some file systems treat as other names.
func (c *checker) checkNames(path string, depth int, entries, fresh []treeEntry, old map[string]treeEntry) error {
	for _, e := range fresh {
		was, known := old[e.name]
		switch e.mode {
		case ModeFile, ModeExec, ModeTree, ModeSymlink:
		case ModeGitlink:
			return c.gitlinkError(path + e.name)
		default:
			if !known || was.mode != e.mode { // old tools wrote 100664
				return pathError(path+e.name, fmt.Sprintf("has the mode %o", e.mode))
			}
		}
		if !known || e.mode == ModeSymlink && was.mode != ModeSymlink {
			if reason := badName(e.name, e.mode == ModeSymlink); reason != "" {
				return pathError(path+e.name, reason)
			}
		}
		if e.mode == ModeSymlink {
			target, err := c.b.read(e.id, "blob", maxLinkTarget)
			if err != nil {
				return pathError(path+e.name, "is a symbolic link that cannot be read")
			}
			if reason := badLink(string(target), depth); reason != "" {
				return pathError(path+e.name, reason)
			}
		}
	}
	seen := make(map[string]string, len(entries))
	for _, e := range entries {
		k := c.fold.foldedKey(e.name)
		other, clash := seen[k]
		seen[k] = e.name
		if !clash {
			continue
		}
		_, had1 := old[e.name]
		_, had2 := old[other]
		if !had1 || !had2 {
			return pathError(path+e.name, fmt.Sprintf("is the same name as %q to some file systems", other))
		}
	}
	return nil
}

// weighBlobs counts the files directly in a tree.
func (c *checker) weighBlobs(path string, fresh []treeEntry) (weight, error) {
	var w weight
	var ask []company.OID
	for _, e := range fresh {
		if _, ok := c.sizes[e.id]; !ok && e.mode != ModeTree {
			ask = append(ask, e.id)
			c.sizes[e.id] = -1 // asked once
		}
	}
	found, err := c.b.readInfos(ask)
	if err != nil {
		return w, err
	}
	for i, object := range found {
		if object.kind == "blob" {
			c.sizes[ask[i]] = object.size
		}
	}
	for _, e := range fresh {
		// A folder counts too, because trees of empty trees also expand.
		w.files++
		w.path = max(w.path, len(e.name))
		if e.mode == ModeTree {
			continue
		}
		size := c.sizes[e.id]
		switch {
		case size < 0:
			return w, pathError(path+e.name, "is not a file")
		case size > maxBlobBytes:
			return w, pathError(path+e.name, fmt.Sprintf("has %d bytes, more than %d MiB", size, maxBlobBytes>>20))
		}
		w.bytes += size
	}
	return w, nil
}
