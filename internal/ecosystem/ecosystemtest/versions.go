package ecosystemtest

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem"
)

// exerciseVersions holds the versions of a registry to what package image makes of
// them: a wish is a stranger's text, and a version becomes part of a path.
func exerciseVersions(t *testing.T, tool ecosystem.Toolchain) {
	v := tool.Versions
	if v.Package.Ecosystem == "" || v.Package.Name == "" || tool.Tree == nil || tool.Wish == nil {
		t.Errorf("%s: it says too little: %+v", tool.Name, v)
	}
	odd := []string{"", "1", "1.2.3", "../../etc", "x", "\x00", strings.Repeat("9", 1000), strings.Repeat("1.", 1000), "v0.0.1-go../../x.linux-amd64"}
	for _, wants := range odd {
		if got, _ := v.Choose(wants, nil); got != "" {
			t.Errorf("%q is %q of no versions", wants, got)
		}
		if got, shown := v.Choose(wants, odd); got != "" && (shown == "" || !filepath.IsLocal(got) || strings.Contains(got, "/")) {
			t.Errorf("%q is %q (%q)", wants, got, shown)
		}
	}
	if !filepath.IsLocal(v.Dir("1.2.3")) {
		t.Errorf("a tree lies in %s", v.Dir("1.2.3"))
	}
	if err := v.Fetch(t.Context(), &bareHost{staged: map[string]string{}}, "20.1.2"); !errors.Is(err, errNoClient) {
		t.Errorf("%s on a host without a client: %v", tool.Name, err)
	}
}

// exerciseCaller holds the calls of files, which are a stranger's text.
func exerciseCaller(t *testing.T, c ecosystem.Caller, f Fixture) {
	if all := c.Calls(Tree(f.Files)); slices.Contains(all, "") || len(all) == 0 {
		t.Errorf("the fixture calls %q", all)
	}
	for name, text := range map[string]string{"nothing": "", "garbage": "\x00{[\xff'\"", "depth": strings.Repeat("\t$(shell ", 10_000), "size": strings.Repeat("x", ecosystem.MaxManifest+1)} {
		odd := map[string]string{}
		for p := range f.Files {
			odd[p] = text
		}
		tree := Tree(odd)
		if c.Calls(tree); tree.Err() != nil {
			t.Errorf("%s for every file: %v", name, tree.Err())
		}
	}
	away := errors.New("away")
	broken := unreadableTree(f.Files, away)
	if c.Calls(broken); !errors.Is(broken.Err(), away) {
		t.Errorf("a tree that cannot be read: %v", broken.Err())
	}
}
