package ecosystem

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// treeWith is a tree of files that have the same text.
func treeWith(text string, paths ...string) (t *Tree, reads *int) {
	reads = new(int)
	var files []File
	for _, p := range paths {
		files = append(files, File{Path: p, Size: int64(len(text))})
	}
	return NewTree(files, func(wanted []File, each func(File, []byte) error) error {
		for _, f := range wanted {
			*reads++
			if err := each(f, []byte(text)); err != nil {
				return err
			}
		}
		return nil
	}), reads
}

// FilesBelow finds what a look at every path finds, with names that sort around the slash.
func TestFilesBelow(t *testing.T) {
	paths := []string{"a", "a.b/c", "a/b", "a/b.c", "a/b/c", "a/b/c/d", "a/b0", "a/b-c/d", "a0/b", "a b/c", "b/a/b/c", "z"}
	tree, _ := treeWith("", paths...)
	for _, dir := range []string{"", "a", "a/b", "a/b/c", "b", "a0", "none", "z", "a/b/c/d"} {
		var want []string
		for _, p := range paths {
			if d, _ := SplitPath(p); IsUnder(d, dir) {
				want = append(want, p)
			}
		}
		slices.Sort(want)
		if got := tree.FilesBelow(dir); !slices.Equal(got, want) {
			t.Errorf("below %q: %q, want %q", dir, got, want)
		}
	}
}

// A commit of a few kilobytes can have the same manifest in any number of folders, and folders at
// any depth.
func TestTreeIsBounded(t *testing.T) {
	var paths []string
	for i := range 1500 {
		paths = append(paths, fmt.Sprintf("d%d/go.mod", i))
	}
	deep := strings.Repeat("a/", 65) + "go.mod"
	tree, reads := treeWith(strings.Repeat("x", 100<<10), append(paths, deep, strings.Repeat("b/", 64)+"go.mod")...)
	if dirs := tree.FoldersWith("go.mod"); len(dirs) != 1000 || len(tree.Notes()) != 1 ||
		!strings.HasPrefix(tree.Notes()[0], "1501 folders have a go.mod: the first 1000") {
		t.Errorf("%d folders, %q", len(dirs), tree.Notes())
	}
	for i := range 1500 {
		tree.ReadManifest(fmt.Sprintf("d%d", i), "go.mod")
	}
	if *reads > 660 || !slices.Contains(tree.Notes(), "manifests behind the first 64 MiB are not read") {
		t.Errorf("%d manifests of 100 KiB were read, %q", *reads, tree.Notes())
	}
	if deep, _ := SplitPath(deep); !IsForeignDir(deep) || HasOwnLocks(deep) {
		t.Error("a folder below 64 others is looked at")
	}
	for i := range 300 {
		tree.AddNote("note %d", i)
		tree.AddNote("note %d", i)
	}
	if notes := tree.Notes(); len(notes) != 201 || !strings.HasSuffix(notes[200], " more notes are left out") {
		t.Errorf("%d notes, the last %q", len(notes), notes[len(notes)-1])
	}
}
