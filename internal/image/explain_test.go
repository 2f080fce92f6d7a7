package image

import (
	"strings"
	"testing"
)

// What an image is made from can be told before anything is made, and what
// nobody needs any more is found by what the kept images are stacked on.
func TestExplainAndUnused(t *testing.T) {
	be := newBench(t)
	req := Request{Toolchains: []string{"go"}, Repo: newProject(t).commit(map[string]string{"a": "b"}), Setup: []string{"true"}}
	be.dropAtEnd(t, req, builtBase())
	be.mustEnsure(t, Request{Toolchains: []string{"go"}}) // the shared layers are there
	said := len(be.said)
	x, err := be.Explain(deadline(t), req)
	if err != nil {
		t.Fatal(err)
	}
	if x.Image != "" || len(be.said) != said {
		t.Errorf("something was built: %+v", x)
	}
	cached := map[string]bool{"base": true, "go": true, "gostd": true}
	for _, p := range x.Parts {
		if p.Cached != cached[p.Kind] || p.Why == "" || p.Cached != (p.Size > 0) {
			t.Errorf("%+v", p)
		}
	}
	img := be.mustEnsure(t, req)
	if x, err = be.Explain(deadline(t), req); err != nil || x.Image != img.ID || x.Parts[len(x.Parts)-1].Tag != img.Tag {
		t.Errorf("%+v, error %v", x, err)
	}

	unused, err := be.Unused(deadline(t), []string{img.ID}, true)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := be.List(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	none, err := be.Unused(deadline(t), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	mine := map[string]bool{}
	for _, p := range x.Parts {
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
		if shared := cached[e.Kind] && !e.Top; none(e) == shared {
			t.Errorf("%s: unused %v, shared %v", e.Tag, none(e), shared)
		}
	}
	if seen != len(x.Parts) {
		t.Errorf("%d of %d layers are listed", seen, len(x.Parts))
	}
	if !strings.Contains(x.Parts[0].Why, "Debian") {
		t.Errorf("the base is made from %q", x.Parts[0].Why)
	}
}
