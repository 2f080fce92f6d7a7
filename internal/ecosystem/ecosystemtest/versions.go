package ecosystemtest

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem"
)

// exerciseVersions tests the versions of a registry against the contract that package image relies on. A wish is
// untrusted text, and a version becomes part of a path.
func exerciseVersions(t *testing.T, tool ecosystem.Toolchain) {
	versions := tool.Versions
	if versions.Package.Ecosystem == "" || versions.Package.Name == "" || tool.Tree == nil || tool.Wish == nil {
		t.Errorf("%s: it says too little: %+v", tool.Name, versions)
	}
	odd := []string{"", "1", "1.2.3", "../../etc", "x", "\x00", strings.Repeat("9", 1000), strings.Repeat("1.", 1000),
		"v0.0.1-go../../x.linux-amd64"}
	for _, wants := range odd {
		if got, _ := versions.Choose(wants, nil); got != "" {
			t.Errorf("%q is %q of no versions", wants, got)
		}
		if got, shown := versions.Choose(wants, odd); got != "" &&
			(shown == "" || !filepath.IsLocal(got) || strings.Contains(got, "/")) {
			t.Errorf("%q is %q (%q)", wants, got, shown)
		}
	}
	if !filepath.IsLocal(versions.Dir("1.2.3")) {
		t.Errorf("a tree lies in %s", versions.Dir("1.2.3"))
	}
	if err := versions.Fetch(t.Context(), &bareHost{staged: map[string]string{}}, "20.1.2"); !errors.Is(err, errNoClient) {
		t.Errorf("%s on a host without a client: %v", tool.Name, err)
	}
}

// exerciseCaller tests the calls in files, whose text is untrusted.
func exerciseCaller(t *testing.T, caller ecosystem.Caller, fixture Fixture) {
	if all := caller.Calls(Tree(fixture.Files)); slices.Contains(all, "") || len(all) == 0 {
		t.Errorf("the fixture calls %q", all)
	}
	for name, text := range map[string]string{"nothing": "", "garbage": "\x00{[\xff'\"",
		"depth": strings.Repeat("\t$(shell ", 10_000), "size": strings.Repeat("x", ecosystem.MaxManifest+1)} {
		odd := map[string]string{}
		for p := range fixture.Files {
			odd[p] = text
		}
		tree := Tree(odd)
		if caller.Calls(tree); tree.Err() != nil {
			t.Errorf("%s for every file: %v", name, tree.Err())
		}
	}
	away := errors.New("away")
	broken := unreadableTree(fixture.Files, away)
	if caller.Calls(broken); !errors.Is(broken.Err(), away) {
		t.Errorf("a tree that cannot be read: %v", broken.Err())
	}
}
