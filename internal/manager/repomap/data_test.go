package repomap

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/gitops/gitopstest"
)

// Test data is a line of the map and not a list of names, and many files that are alike are one line, too. Sources stay.
func TestDataWeighsLittle(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"main.go": "package main\n", "snapshots/store.go": "package snapshots\n", "docs/a.md": "a\n",
		"tests/fixtures/load.py": "def load(): pass\n", "testdata/case.go": "package x\n",
	}
	for i := range 40 {
		files[fmt.Sprintf("parse/testdata/case%d/in.txt", i)] = "x\n"
		files[fmt.Sprintf("tests/fixtures/%d.json", i)] = "{}\n"
		files[fmt.Sprintf("locales/%d.yaml", i)] = "a: b\n"
		files[fmt.Sprintf("web/__snapshots__/%d.snap", i)] = "x\n"
	}
	p := gitopstest.New(t, files)
	r, err := Read(t.Context(), p.Mirror, p.Base)
	if err != nil {
		t.Fatal(err)
	}
	text := r.String()
	for _, want := range []string{"165 files, ", "\nFiles", "- parse/testdata/** (40 files, 80 B)\n", "- tests/fixtures/load.py (",
		"- tests/fixtures/** (40 files, 120 B)\n", "- locales/*.yaml (40 files, 200 B)\n", "- snapshots/store.go (",
		"- testdata/** (10 B)\n", "- web/__snapshots__/** (40 files, 80 B)\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if len(text) > 700 {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
	const brief = ".: main.go\ndocs: a.md\nlocales: *.yaml\nparse/testdata: **\nsnapshots: store.go\ntestdata: **\n" +
		"tests/fixtures: **, load.py\nweb/__snapshots__: **"
	if got := r.RenderBrief(); got != brief {
		t.Errorf("got\n%s", got)
	}
}

// In a large repository test data has one line among the folders, and a worker has no list.
func TestDataOfLargeRepository(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("p%03d/x.go", i)] = "package x\n"
		files[fmt.Sprintf("p%03d/testdata/limit.txt", i)] = "x\n"
	}
	p := gitopstest.New(t, files)
	r, err := Read(t.Context(), p.Mirror, p.Base)
	if err != nil {
		t.Fatal(err)
	}
	if text := r.String(); strings.Count(text, "testdata") > 0 ||
		!strings.Contains(text, "- test data in other folders (200, 400 B)\n") {
		t.Errorf("%s", text)
	}
	if got := r.RenderBrief(); got != "" {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
}
