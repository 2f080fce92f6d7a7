package image

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// newNoise makes text that git cannot make smaller.
func newNoise(t *testing.T, n int) string {
	t.Helper()
	noise := make([]byte, n)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	return string(noise)
}

// A base that moves leaves an image with the whole history each time. The older ones are
// found by their last use, free what they are said to, and are made again under the same
// key when a task wants one.
func TestOlderImagesGo(t *testing.T) {
	be := newTestBuilder(t)
	project := newProject(t)
	var requests []Request
	var made []Image
	for i := range 4 {
		repo := project.commit(map[string]string{"big": newNoise(t, 1<<20), "n": fmt.Sprint(i)})
		requests = append(requests, Request{Repo: repo})
		be.dropAtEnd(t, requests[i], newBuiltBase())
		made = append(made, be.mustEnsure(t, requests[i]))
		time.Sleep(2 * time.Millisecond) // the order of use is that of times of files
	}
	if id, err := be.FindLocal(newContext(t), string(made[0].Key)); id != made[0].ID || err != nil {
		t.Fatalf("%s, %v", id, err)
	}
	list := func() []ImageEntry {
		t.Helper()
		entries, err := be.List(newContext(t))
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	entries, of := list(), Project{Mirror: requests[0].Repo.MirrorDir}
	gone := FindSurplus(entries, of, nil, 2) // the first was used last
	if len(gone) != 2 || gone[0].ID != made[2].ID || gone[1].ID != made[1].ID {
		t.Fatalf("beyond the newest: %+v", gone)
	}
	for i, n := range FreedBytes(entries, gone) {
		if whole := int64(1<<20) * int64(3-i); n < whole || n > whole+1<<20 { // the history up to it
			t.Errorf("%d bytes for a history with %d", n, whole)
		}
	}
	for _, e := range gone {
		if removed, err := be.RemoveUnused(newContext(t), e); !removed || err != nil {
			t.Errorf("%v, %v", removed, err)
		}
	}
	if left := FindSurplus(list(), of, nil, 0); len(left) != 2 {
		t.Errorf("%d images are left", len(left))
	}
	if id, err := be.FindLocal(newContext(t), string(made[1].Key)); id != "" || err != nil {
		t.Errorf("%s, %v", id, err)
	}
	if again := be.mustEnsure(t, requests[1]); again.Key != made[1].Key || again.ID != made[1].ID {
		t.Errorf("%+v was made again as %+v", made[1], again)
	}
}

// A layer goes with the last image that is stacked on it, and not while an image is being
// made. The toolbox of another version goes an hour after its last use.
func TestOrphanedLayersGo(t *testing.T) {
	be := newTestBuilder(t)
	req := Request{Repo: newProject(t).commit(map[string]string{"a": "b"}), Setup: []string{"echo " + t.Name()}}
	be.dropAtEnd(t, req, newBuiltBase())
	img := be.mustEnsure(t, req)
	entries, err := be.List(newContext(t))
	if err != nil {
		t.Fatal(err)
	}
	gone := slices.DeleteFunc(slices.Clone(entries), func(e ImageEntry) bool { return e.ID != img.ID })
	kinds := func(all []ImageEntry) (out []string) {
		for _, e := range all {
			if len(e.Layers) > 1 && slices.Contains(img.Layers, e.topLayer()) {
				out = append(out, e.Kind)
			}
		}
		return out
	}
	if got := kinds(be.FindOrphanedLayers(entries, nil, true)); len(got) != 0 {
		t.Errorf("an image is stacked on %v", got)
	}
	layers := be.FindOrphanedLayers(entries, gone, false)
	if got := kinds(layers); !slices.Equal(got, []string{"toolbox", "setup"}) {
		t.Fatalf("%v go with the image", got)
	}
	if removed, err := be.RemoveUnused(newContext(t), gone[0]); !removed || err != nil {
		t.Fatalf("%v, %v", removed, err)
	}

	// Another version of the program finds the toolbox once it is old.
	other := newTestBuilder(t)
	other.toolboxFor = func(string) ([]byte, error) { return []byte("#!/bin/sh\n# another\n"), nil }
	if entries, err = other.List(newContext(t)); err != nil {
		t.Fatal(err)
	}
	if got := kinds(other.FindOrphanedLayers(entries, nil, true)); len(got) != 0 {
		t.Errorf("%v was used just now", got)
	}
	hour := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(filepath.Join(be.dir, usedFolder, string(keyOf(layers[0].Tag))), hour, hour); err != nil {
		t.Fatal(err)
	}
	if entries, err = other.List(newContext(t)); err != nil {
		t.Fatal(err)
	}
	if got := kinds(other.FindOrphanedLayers(entries, nil, true)); !slices.Equal(got, []string{"toolbox"}) {
		t.Errorf("%v", got)
	}
	if got := kinds(be.FindOrphanedLayers(entries, nil, true)); len(got) != 0 {
		t.Errorf("%v is this version's", got)
	}

	unlock, err := be.lockFile(context.Background(), buildsLock, syscall.LOCK_SH, "waiting")
	if err != nil {
		t.Fatal(err)
	}
	removed, err := be.RemoveUnused(newContext(t), layers[0])
	unlock()
	if removed || err != nil {
		t.Errorf("removed under a builder: %v, %v", removed, err)
	}
}
