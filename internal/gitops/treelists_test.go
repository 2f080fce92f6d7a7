package gitops

import (
	"fmt"
	"os"
	"testing"
)

// TestTreesAreListedOnce: git lists a tree once, a caller's changes of its list stay its
// own, and each repository has lists of its own.
func TestTreesAreListedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	first, err := b.mirror.List(b.ctx, b.base.OID)
	if err != nil || len(first) != 2 {
		t.Fatalf("%+v, %v", first, err)
	}
	first[0].Path = "changed"
	if err := os.Rename(b.mirror.Dir(), b.mirror.Dir()+".away"); err != nil {
		t.Fatal(err)
	}
	again, err := b.mirror.List(b.ctx, b.base.OID)
	if err != nil || len(again) != 2 || again[0].Path != "a.txt" {
		t.Errorf("%+v, %v", again, err)
	}
	again[1].Path = "changed"
	if third, err := b.mirror.List(b.ctx, b.base.OID); err != nil || third[1].Path != "b.txt" {
		t.Errorf("%+v, %v", third, err)
	}
	if _, ok := b.mirror.s.lists.findList("elsewhere", string(b.base.OID)); ok {
		t.Error("a list of another repository was found")
	}
}

// TestTreeListsAreBounded: neither many lists nor long ones grow without end, and
// those that are asked for stay.
func TestTreeListsAreBounded(t *testing.T) {
	t.Parallel()
	var lists treeLists
	for i := range 3 * maxTreeLists {
		lists.keepList("dir", fmt.Sprint(i), make([]Entry, 10))
		lists.keepList("dir", fmt.Sprint(i), make([]Entry, 10))
		if _, ok := lists.findList("dir", "0"); !ok {
			t.Fatal("a list in use was dropped")
		}
	}
	if len(lists.lists) != maxTreeLists || lists.files != 10*maxTreeLists {
		t.Errorf("%d lists of %d files", len(lists.lists), lists.files)
	}
	lists.keepList("dir", "too long", make([]Entry, maxListedFiles+1))
	if _, ok := lists.findList("dir", "too long"); ok || len(lists.lists) != maxTreeLists {
		t.Error("a list that is too long was kept")
	}
	lists.keepList("dir", "long", make([]Entry, maxListedFiles-10))
	if _, ok := lists.findList("dir", "long"); !ok || lists.files > maxListedFiles {
		t.Errorf("%d files", lists.files)
	}
}
