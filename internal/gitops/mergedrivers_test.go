package gitops

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// The mirror merges a file by the drivers that git knows, as git does in a work tree: attributes of folders, macros,
// names that patterns and quotes would change.
func TestMergeDriversAreThoseOfAWorkTree(t *testing.T) {
	t.Parallel()
	drivers := map[string]string{ // file and driver, by the attributes below
		"CHANGELOG.md": "union", "sub/deep/a.news": "union", "a.news": "", "sub/not.news": "unset", "lock": "binary",
		"picture": "unset", "text": "text", "plain": "set", "undone.md": "", "odd/a*b [x]?.md": "union",
		"odd/q\"uo\\te.md": "union", "odd/tab\tname.md": "union", "odd/é \xff.md": "union", " odd/# !.md ": "union",
		"mine": DriverOurs, "program": "npm-merge-driver", "odd/axb [x]?.md": "",
	}
	files := map[string]string{
		".gitattributes": "CHANGELOG.md merge=union\nlock merge=binary\npicture binary\ntext merge=text\nplain merge\n" +
			"*.md merge=union\nundone.md !merge\naxb* !merge\nmine merge=ours\nprogram merge=npm-merge-driver\n" +
			"[attr]joined merge=union\n\"* \" joined\n",
		"sub/.gitattributes": "*.news merge=union\n/not.news -merge\n", ".git-like/.gitattributes": "* merge=binary\n",
	}
	for name := range drivers {
		files[name] = "top\n\nend\n"
	}
	b := setup(t, files)
	side := func(branch string) company.OID {
		return b.side(t, branch, func(dir string) {
			changed := map[string]string{".gitattributes": "* merge=binary\n" + branch}
			for name := range drivers {
				changed[name] = "top\n" + branch + "\nend\n"
			}
			writeFiles(t, dir, changed)
		})
	}
	ours, theirs := side("ours"), side("theirs")
	got, err := b.mirror.MergeTreeBy(b.ctx, ours, theirs, b.base.OID)
	if err != nil {
		t.Fatal(err)
	}
	for name, driver := range drivers {
		if got.Drivers[name] != driver {
			t.Errorf("%q has the driver %q, not %q", name, got.Drivers[name], driver)
		}
		text, err := b.mirror.ReadFile(b.ctx, got.Tree, name)
		if err != nil {
			t.Fatal(err)
		}
		united := string(text) == "top\nours\ntheirs\nend\n"
		marked := strings.Contains(string(text), "<<<<<<< ")
		kept := string(text) == "top\nours\nend\n"
		switch {
		case driver == "union" && !united, kept != slices.Contains([]string{"binary", "unset", DriverOurs}, driver),
			driver != "union" && !slices.Contains(got.Files, name), !united && !kept && !marked:
			t.Errorf("%q (%s):\n%s", name, driver, text)
		}
	}
	// The oracle: a work tree whose own .gitattributes are those of the base.
	gitexectest.Git(t, b.checkout, "switch", "-q", "-c", "work", string(ours))
	gitexectest.Git(t, b.checkout, "checkout", string(b.base.OID), "--", ".gitattributes")
	gitexectest.Git(t, b.checkout, "commit", "-q", "-m", "attributes")
	_, err = gitWith(b.checkout, "", "LC_ALL=C", "merge", "-q", "--no-commit", string(theirs))
	if err == nil {
		t.Fatal("git has no conflict")
	}
	unmerged := strings.Split(strings.TrimSuffix(
		gitexectest.Git(t, b.checkout, "diff", "-z", "--name-only", "--diff-filter=U"), "\x00"), "\x00")
	for _, name := range slices.Sorted(maps.Keys(drivers)) {
		if slices.Contains(unmerged, name) != slices.Contains(got.Files, name) {
			t.Errorf("%q: in conflict in a work tree %t, in the mirror %t", name, slices.Contains(unmerged, name),
				slices.Contains(got.Files, name))
		}
	}
	if plain, err := b.mirror.MergeTree(b.ctx, ours, theirs); err != nil || len(plain.Files) != len(drivers)+1 ||
		plain.Drivers != nil {
		t.Errorf("without attributes: %q, %v", plain.Files, err)
	}
	if left, err := b.store.own.List("tmp"); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
