package depaccess

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops"
)

// A tree of large lock files, which cost a repository nothing, does not fill
// the host's memory; what is left out allows nothing.
func TestLockFilesAreBoundedTogether(t *testing.T) {
	b := newBench(t, company.Auto)
	repo := filepath.Join(b.dir, "repo")
	text := append(bytes.Repeat([]byte("# \n"), 5<<20), "last==1.0\n"...)
	for i := range 8 {
		dir := filepath.Join(repo, fmt.Sprintf("z%d", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "requirements.txt"), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "large")
	info, err := b.mirror.FetchBase(t.Context(), nil, gitops.Source{}, "")
	if err != nil {
		t.Fatal(err)
	}
	files, err := Locks(t.Context(), b.mirror, info.OID, info.OID)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, f := range files {
		total += len(f)
	}
	if left, err := FindUnread(t.Context(), b.mirror, info.OID, info.OID); err != nil || len(left) > 0 {
		t.Errorf("what the base has so: %q, %v", left, err)
	}
	if total > maxLockBytes || total < maxLockBytes/2 || files["package-lock.json"] == nil {
		t.Errorf("%d files of %d bytes are held", len(files), total)
	}
}

// A lock file that is a link, or that small ones have crowded out, is named, where the base has it otherwise.
func TestLockFilesThatAreNotRead(t *testing.T) {
	b := newBench(t, company.Auto)
	fetch := func() company.OID {
		info, err := b.mirror.FetchBase(t.Context(), nil, gitops.Source{}, "")
		if err != nil {
			t.Fatal(err)
		}
		return info.OID
	}
	base, repo := fetch(), filepath.Join(b.dir, "repo")
	if err := os.Remove(filepath.Join(repo, "package-lock.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("data.json", filepath.Join(repo, "package-lock.json")); err != nil {
		t.Fatal(err)
	}
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "a link")
	if left, err := FindUnread(t.Context(), b.mirror, base, fetch()); err != nil || len(left) != 1 ||
		left[0] != "package-lock.json" {
		t.Errorf("a link: %q, %v", left, err)
	}
	b.git("revert", "--no-edit", "HEAD")
	for i := range maxLocks {
		dir := filepath.Join(repo, ".a", fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "go.sum"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "many")
	if left, err := FindUnread(t.Context(), b.mirror, base, fetch()); err != nil || len(left) == 0 {
		t.Errorf("crowded out: %q, %v", left, err)
	}
}

// A lock file of npm may list only those programs of a folder that the folder's manifest or the base's lock file
// lists, since npm trusts the lock file where it cannot read a manifest. (T24)
func TestProgramsOfFolders(t *testing.T) {
	b := newBench(t, company.Auto)
	repo := filepath.Join(b.dir, "repo")
	for file, text := range map[string]string{
		"named/package.json":  `{"name":"@s/named","bin":"./cli.js"}`,
		"others/package.json": `{"name":"others","bin":{"tsc":"other.js"}}`,
		"broken/package.json": `{"bin":{"tsc":"t.js"}`, "docs/README": "",
		"web/package.json": `{"overrides":{"x":"npm:y@1.0.0"}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(repo, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(repo, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "folders")
	info, err := b.mirror.FetchBase(t.Context(), nil, gitops.Source{}, "")
	if err != nil {
		t.Fatal(err)
	}
	lock := func(folder, bin string) map[string][]byte {
		return map[string][]byte{"package-lock.json": fmt.Appendf(
			nil, `{"packages":{"":{},%q:{"version":"1.0.0","bin":%s}}}`, folder, bin)}
	}
	for name, c := range map[string]struct {
		base, tree map[string][]byte
		isForged   bool
	}{
		"its manifest's":         {nil, lock("named", `{"named":"cli.js"}`), false},
		"without programs":       {nil, lock("docs", `{}`), false},
		"no manifest":            {nil, lock("docs", `{"tsc":"t.js"}`), true},
		"one of another file":    {nil, lock("others", `{"tsc":"t.js"}`), true},
		"one more":               {nil, lock("named", `{"named":"cli.js","tsc":"t.js"}`), true},
		"a manifest that is odd": {nil, lock("broken", `{"tsc":"t.js"}`), true},
		"outside of the tree":    {nil, lock("../named", `{"named":"cli.js"}`), true},
		"the base's":             {lock("docs", `{"tsc":"t.js"}`), lock("docs", `{ "tsc":"t.js"}`), false},
	} {
		forged, err := FindForged(t.Context(), b.mirror, info.OID, c.base, c.tree)
		if err != nil || (len(forged) > 0) != c.isForged {
			t.Errorf("%s: %v, %v", name, forged, err)
		}
	}
	// What an override puts in place of a request is read from the manifest beside the lock file.
	old := []byte(
		`{"lockfileVersion":1,"dependencies":{"x":{"version":"npm:y@1.0.0"},"a":{"version":"1.0.0","requires":{"x":"npm:y@1.0.0"}}}}`)
	for file, want := range map[string]int{"web/package-lock.json": 1, "docs/package-lock.json": 0, "web/yarn.lock": 0} {
		all, err := FindOverridden(t.Context(), b.mirror, info.OID, map[string][]byte{file: old})
		if err != nil || len(all) != want {
			t.Errorf("%s: %v, %v", file, all, err)
		}
	}
}

// An archive in yarn's cache stays the base's for each version, wherever the cache is. Other versions may come and go.
func TestArchivesOfYarnStay(t *testing.T) {
	const odd, number = ".yarn/cache/is-odd-npm-2.0.0-a87759905e-", ".yarn/cache/is-number-npm-4.0.0-27432edbd5-"
	const inFolder = "c/is-odd-npm-2.0.0-a87759905e-8beef1ffe9.zip"
	const inCapitals = "c/Is-odd-npm-2.0.0-a87759905e-8beef1ffe9.ZIP"
	const mac = "web/.yarn/cache/@x-mac-npm-2.4.1-7294eb72cd-10c0.zip"
	type files map[string]string
	base := files{odd + "757fdf9e2f.zip": "odd", mac: "mac", "dist/app-2.0.0.zip": "app"}
	b := newBench(t, company.Auto)
	for name, c := range map[string]struct {
		gone, tree files
		want       string
	}{
		"the base's":               {nil, nil, ""},
		"in another folder":        {base, files{"cache/is-odd-npm-2.0.0-a87759905e-757fdf9e2f.zip": "odd"}, ""},
		"another version":          {base, files{".yarn/cache/is-odd-npm-3.0.0-b87759905e-8beef1ffe9.zip": "odd 3"}, ""},
		"a further package":        {nil, files{number + "bb17a331f3.zip": "number"}, ""},
		"another archive":          {base, files{odd + "8beef1ffe9.zip": "evil"}, odd + "8beef1ffe9.zip"},
		"beside the base's":        {nil, files{odd + "8beef1ffe9.zip": "evil"}, odd + "8beef1ffe9.zip"},
		"by the same name":         {nil, files{odd + "757fdf9e2f.zip": "evil"}, odd + "757fdf9e2f.zip"},
		"that is a link":           {base, files{odd + "8beef1ffe9.zip": "-> ../x"}, odd + "8beef1ffe9.zip"},
		"with another key":         {base, files{odd + "10.zip": "evil"}, odd + "10.zip"},
		"without a digest":         {nil, files{mac: "evil"}, mac},
		"in other letters":         {base, files{inCapitals: "evil"}, inCapitals},
		"in another folder, other": {nil, files{inFolder: "evil"}, inFolder},
		"an archive of the tree":   {nil, files{"dist/app-2.0.0.zip": "other"}, ""},
	} {
		tree := maps.Clone(base)
		maps.DeleteFunc(tree, func(file, _ string) bool { return c.gone[file] != "" })
		maps.Copy(tree, c.tree)
		tree["README"] = name
		found, err := FindExchanged(t.Context(), b.mirror, b.commitFiles(t, base), b.commitFiles(t, tree))
		if err != nil || strings.Join(found, " ") != c.want {
			t.Errorf("%s: %q, %v", name, found, err)
		}
	}
}
