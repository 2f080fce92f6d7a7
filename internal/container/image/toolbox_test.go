package image

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestOlderToolboxIsRenewed finds an image that another version of the program made: with
// all that it was, and this program's toolbox.
func TestOlderToolboxIsRenewed(t *testing.T) {
	older, now := newTestBuilder(t), newTestBuilder(t)
	ours := "#!/bin/sh\n# the toolbox of today, " + t.Name() + "\nexec \"$@\"\n"
	now.toolboxFor = func(string) ([]byte, error) { return []byte(ours), nil }
	made := older.mustEnsure(t, Request{Repo: newProject(t).commit(map[string]string{"README": "hello\n"})})

	var ids [4]string
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			var err error
			if ids[i], err = now.FindLocal(newContext(t), string(made.Key)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	entries, err := now.List(newContext(t))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(entries, func(e ImageEntry) bool { return e.ID == ids[0] })
	if at < 0 || ids[0] == made.ID || len(slices.Compact(ids[:])) != 1 || now.countProgress("is ready") != 1 {
		t.Fatalf("%q of %s, made by:\n%s", ids, made.ID, strings.Join(now.progressLines, "\n"))
	}
	renewed := entries[at]
	remove := func() {
		if err := now.removeTag(newContext(t), renewed.Tag); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() {
		remove()
		name := layerStep{kind: toolboxLayer, key: renewed.Layers[len(renewed.Layers)-1].Key}.uniqueName()
		_ = os.Remove(filepath.Join(now.dir, "locks", name))
	})
	if n := len(renewed.Layers); !renewed.IsWorkerImage || n != len(made.Layers)+1 ||
		!slices.Equal(renewed.Layers[:n-1], made.Layers) {
		t.Errorf("%+v on %+v", renewed, made)
	}
	out := now.mustRun(t, Image{ID: ids[0]},
		"cat "+ToolboxPath+"; cd "+RepoPath+" && git show $(git for-each-ref --format='%(objectname)'):README; env")
	if !strings.HasPrefix(out, ours+"hello\n") || !strings.Contains(out, "HOME=/home/agent") {
		t.Errorf("it holds\n%s", out)
	}

	// Each version finds its own, and one that was removed is made again.
	if id, err := older.FindLocal(newContext(t), string(made.Key)); id != made.ID || err != nil {
		t.Errorf("%s, %v", id, err)
	}
	if id, err := now.FindLocal(newContext(t), made.ID); id != ids[0] || err != nil {
		t.Errorf("by its id: %s, %v", id, err)
	}
	unused, err := now.Unused(newContext(t), []string{string(made.Key)}, true)
	if err != nil || !unused(renewed) ||
		slices.ContainsFunc(entries, func(e ImageEntry) bool { return e.ID == made.ID && unused(e) }) {
		t.Errorf("unused: %v, %v", unused(renewed), err)
	}
	remove()
	if id, err := now.FindLocal(newContext(t), string(made.Key)); id == "" || id == made.ID || err != nil {
		t.Errorf("after its removal: %s, %v", id, err)
	}
}
