package gitops

import (
	"slices"
	"sync"
)

// These limit the memory for cached tree lists to about 30 MB.
const (
	maxTreeLists   = 16
	maxListedFiles = 200_000
)

// treeLists caches recently used tree lists. The files of an object id never change, and the checks, the plan and the
// images of one task list the same few trees some forty times.
type treeLists struct {
	mu    sync.Mutex
	lists []treeList // most recently used last
	files int        // of all lists
}

type treeList struct {
	dir, treeish string
	entries      []Entry
}

// findList returns a copy of the cached list of treeish in the repository dir.
func (t *treeLists) findList(dir, treeish string) ([]Entry, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.indexOf(dir, treeish)
	if i < 0 {
		return nil, false
	}
	found := t.lists[i]
	t.lists = append(slices.Delete(t.lists, i, i+1), found)
	return slices.Clone(found.entries), true
}

// keepList caches a copy of a list and evicts the least recently used ones. A list that is too long for the cache is
// not stored.
func (t *treeLists) keepList(dir, treeish string, entries []Entry) {
	if len(entries) > maxListedFiles {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.indexOf(dir, treeish) >= 0 {
		return
	}
	t.lists = append(t.lists, treeList{dir: dir, treeish: treeish, entries: slices.Clone(entries)})
	t.files += len(entries)
	for len(t.lists) > maxTreeLists || t.files > maxListedFiles {
		t.files -= len(t.lists[0].entries)
		t.lists = slices.Delete(t.lists, 0, 1)
	}
}

func (t *treeLists) indexOf(dir, treeish string) int {
	return slices.IndexFunc(t.lists, func(l treeList) bool { return l.dir == dir && l.treeish == treeish })
}
