package image

import (
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// What an image is made from can be told before anything is made, and what
// nobody needs any more is found by what the kept images are stacked on.
func TestExplainAndUnused(t *testing.T) {
	hosttest.Long(t, "one of many kinds of images")
	be := newTestBuilder(t)
	req := Request{Toolchains: []string{"go"}, Repo: newProject(t).commit(map[string]string{"a": "b"}),
		Setup: []string{"true"}}
	be.dropAtEnd(t, req, newBuiltBase())
	be.mustEnsure(t, Request{Toolchains: []string{"go"}}) // the shared layers are there
	said := len(be.progressLines)
	x, err := be.Explain(newContext(t), req)
	if err != nil {
		t.Fatal(err)
	}
	if x.Image != "" || len(be.progressLines) != said {
		t.Errorf("something was built: %+v", x)
	}
	cached := map[string]bool{"base": true, "go": true, "gostd": true}
	for _, p := range x.Layers {
		if p.Cached != cached[p.Kind] || p.Why == "" || p.Cached != (p.Size > 0) {
			t.Errorf("%+v", p)
		}
	}
	img := be.mustEnsure(t, req)
	if x, err = be.Explain(newContext(t), req); err != nil || x.Image != img.ID ||
		x.Layers[len(x.Layers)-1].Tag != img.Tag {
		t.Errorf("%+v, error %v", x, err)
	}

	unused, err := be.Unused(newContext(t), []string{img.ID}, true)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := be.List(newContext(t))
	if err != nil {
		t.Fatal(err)
	}
	none, err := be.Unused(newContext(t), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	mine := map[string]bool{}
	for _, p := range x.Layers {
		mine[p.Tag] = true
	}
	seen := 0
	for _, e := range entries {
		if !mine[e.Tag] {
			continue
		}
		seen++
		if unused(e) {
			t.Errorf("%s is part of a kept image", e.Tag)
		}
		if shared := cached[e.Kind] && !e.IsWorkerImage; none(e) == shared {
			t.Errorf("%s: unused %v, shared %v", e.Tag, none(e), shared)
		}
	}
	if seen != len(x.Layers) {
		t.Errorf("%d of %d layers are listed", seen, len(x.Layers))
	}
	if !strings.Contains(x.Layers[0].Why, "Debian") {
		t.Errorf("the base is made from %q", x.Layers[0].Why)
	}
}
