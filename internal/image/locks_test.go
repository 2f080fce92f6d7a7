package image

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/registry"
)

// The image of a branch that changed lock files: its own dependencies, on the
// layers and with the history of the base (DESIGN §5: prepared anew from it).
func TestLocksOfABranch(t *testing.T) {
	be := newBench(t)
	up := upstreams()
	up.NPM = registry.Endpoint{URL: "http://127.0.0.1:1"}
	useRegistries(t, be, up, t.TempDir())
	p := newProject(t)
	base := p.commit(map[string]string{"go.mod": pflagMod, "go.sum": pflagSum, "package.json": `{"dependencies":{"tiny":"1.0.0"}}`, "package-lock.json": tinyLock})
	branch := p.commit(map[string]string{"package-lock.json": strings.ReplaceAll(tinyLock, "1.0.0", "1.0.1")})
	goToo := p.commit(map[string]string{"go.sum": pflagSum + "\n"})
	code := p.commit(map[string]string{"main.js": "1"})

	keys := func(locks company.OID) map[string]company.Hash {
		t.Helper()
		repo := *base
		repo.Locks = locks
		steps, notes, err := be.plan(deadline(t), Request{Toolchains: []string{"go", "node"}, Repo: &repo}, builtBase())
		if err != nil || len(notes) > 0 {
			t.Fatalf("notes %q, error %v", notes, err)
		}
		out := map[string]company.Hash{}
		for _, s := range steps {
			name := s.kind
			for out[name] != "" {
				name += "+"
			}
			out[name] = s.key
			if s.kind == "repo" && !strings.Contains(s.why, string(base.Commit[:12])) {
				t.Errorf("the history is of another commit: %s", s.why)
			}
		}
		return out
	}
	same := func(a, b map[string]company.Hash) string {
		var out []string
		for _, k := range sortedKeys(a) {
			if a[k] == b[k] {
				out = append(out, k)
			}
		}
		return strings.Join(out, " ")
	}
	own := keys("")
	if got := same(own, keys(base.Commit)); got != strings.Join(sortedKeys(own), " ") {
		t.Errorf("the base's own lock files make another image; alike are %s", got)
	}
	changed := keys(branch.Commit)
	if got := same(own, changed); got != "base go godeps gomod gostd node" {
		t.Errorf("a changed package-lock.json: alike are %q", got)
	}
	tree := keys(company.OID(p.git("rev-parse", string(branch.Commit)+"^{tree}")))
	if got := same(changed, tree); !strings.Contains(got, "npm") {
		t.Errorf("a tree and its commit make other packages; alike are %q", got)
	}
	both := keys(goToo.Commit)
	if both["gomod+"] == "" || slices.Contains(sortedKeys(changed), "gomod+") {
		t.Errorf("modules of the branch: %v", both)
	}
	if fmt.Sprint(keys(code.Commit)) != fmt.Sprint(both) {
		t.Error("a change of code alone makes another image for the lock files")
	}
}

// Many files are read at once, empty and odd ones too.
func TestTexts(t *testing.T) {
	p := newProject(t)
	want := map[string]string{"a/package.json": "{}\n", "b/package.json": "", "c/package.json": "\n\n5\nblob\n", "d/package.json": "{}\n", "e.txt": "x"}
	repo := p.commit(want)
	tree, err := list(deadline(t), *repo, repo.Commit)
	if err != nil {
		t.Fatal(err)
	}
	names := tree.named("package.json")
	got, err := tree.texts(deadline(t), names)
	if err != nil || len(names) != 4 || len(got) != 4 {
		t.Fatalf("%q, %v", got, err)
	}
	for _, n := range names {
		if string(got[n]) != want[n] {
			t.Errorf("%s: %q", n, got[n])
		}
	}
}
