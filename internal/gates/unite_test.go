package gates

import (
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitopstest"
)

const goldenSum = " h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"

// Two branches that conflict in go.mod and go.sum alone make one tree with the lines of
// both, the same each time; with a conflict of people's files, or two hashes of a module,
// it stays a conflict (SUB-19).
func TestGeneratedFilesAreUnited(t *testing.T) {
	t.Parallel()
	mod := func(lines ...string) string {
		return "module example.com/app\n\ngo 1.24\n\nrequire (\n\t" + strings.Join(lines, "\n\t") + "\n)\n"
	}
	p := gitopstest.New(t, map[string]string{
		"x/go.mod": mod("example.com/k v1.0.0"), "x/go.sum": "example.com/k v1.0.0" + goldenSum, "x/a.go": "package a\n",
	})
	one := p.Commit(
		"one", map[string]string{"x/go.mod": mod("example.com/k v1.0.0", "example.com/m v1.0.0"),
			"x/go.sum": "example.com/k v1.0.0" + goldenSum + "example.com/m v1.0.0" + goldenSum, "x/one.go": "package a\n"})
	two := p.Commit(
		"two", map[string]string{"x/go.mod": mod("example.com/k v1.0.0", "example.com/n v1.0.0"),
			"x/go.sum": "example.com/k v1.0.0" + goldenSum + "example.com/n v1.0.0" + goldenSum, "x/two.go": "package a\n"})
	if plain, err := p.Mirror.MergeTree(t.Context(), one, two); err != nil || plain.Clean || len(plain.Files) != 2 {
		t.Fatalf("git merges it by itself: %+v, %v", plain, err)
	}
	got, err := (&Runner{}).MergeHeads(t.Context(), nil, &company.Task{}, p.Mirror, one, two)
	if err != nil || !got.Clean || got.Conflicts != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, want := range map[string]string{
		"x/go.mod": mod("example.com/k v1.0.0", "example.com/m v1.0.0", "example.com/n v1.0.0"),
		"x/go.sum": "example.com/k v1.0.0" + goldenSum + "example.com/m v1.0.0" + goldenSum +
			"example.com/n v1.0.0" + goldenSum,
		"x/one.go": "package a\n", "x/two.go": "package a\n",
	} {
		if text, err := p.Mirror.ReadFile(t.Context(), got.Tree, name); err != nil || string(text) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, text, want)
		}
	}
	if again, err := (&Runner{}).MergeHeads(t.Context(), nil, &company.Task{}, p.Mirror, one, two); err != nil ||
		again.Tree != got.Tree {
		t.Errorf("another tree: %+v, %v", again, err)
	}
	// Whose files are in conflict too, a hash that is another one, a side without the file.
	three := p.Commit(
		"three", map[string]string{"x/go.sum": "example.com/k v1.0.0" + goldenSum + "example.com/o v1.0.0" + goldenSum,
			"x/one.go": "package b\n"})
	four := p.Commit(
		"four", map[string]string{"x/go.sum": "example.com/k v1.0.0" + goldenSum + "example.com/m v1.0.0 h1:another=\n"})
	five := p.Commit("five", map[string]string{"x/go.sum": ""})
	for _, other := range []struct {
		name string
		with func() (Merged, error)
	}{
		{"people's files", func() (Merged, error) {
			return (&Runner{}).MergeHeads(t.Context(), nil, &company.Task{}, p.Mirror, one, three)
		}},
		{"two hashes", func() (Merged, error) {
			return (&Runner{}).MergeHeads(t.Context(), nil, &company.Task{}, p.Mirror, one, four)
		}},
		{"removed", func() (Merged, error) {
			return (&Runner{}).MergeHeads(t.Context(), nil, &company.Task{}, p.Mirror, one, five)
		}},
	} {
		if got, err := other.with(); err != nil || got.Clean || len(got.Files) == 0 {
			t.Errorf("%s: %+v, %v", other.name, got, err)
		}
	}
}

// What needs the president's approval is told by the names that a ticket changes. git follows a
// file that the other side has moved, so that an edit of a free file would arrive in a protected
// one, or in a test: that is a conflict, and what its resolution changes has the new name (T14).
func TestMergeFollowsNoFileToAProtectedName(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("a line\n", 20)
	p := gitopstest.New(
		t, map[string]string{"ci/build.yml": lines, "lib/deploy.sh": "#\n" + lines, "lib/case.sh": "##\n" + lines,
			"lib/free.sh": "###\n" + lines})
	move := func(branch, from, to, text string) company.OID {
		return p.Commit(branch, map[string]string{from: "", to: text})
	}
	task := &company.Task{ID: "t1", Settings: company.Settings{Protected: []string{"deploy/**"}, ProtectTests: true}}
	for _, c := range []struct{ name, from, to, head string }{
		{"workflow", "ci/build.yml", ".github/workflows/build.yml", ""},
		{"own", "lib/deploy.sh", "deploy/deploy.sh", "#\n"},
		{"test", "lib/case.sh", "tests/case.sh", "##\n"},
		{"free", "lib/free.sh", "lib/moved/free.sh", "###\n"},
	} {
		ours := move("move-"+c.name, c.from, c.to, c.head+lines)
		theirs := p.Commit("edit-"+c.name, map[string]string{c.from: c.head + lines + "an edit\n"})
		got, err := (&Runner{}).MergeHeads(t.Context(), nil, task, p.Mirror, ours, theirs)
		if err != nil {
			t.Fatal(err)
		}
		if c.name == "free" {
			if !got.Clean {
				t.Errorf("%s: %+v", c.name, got)
			}
			continue
		}
		if got.Clean || !got.Moved || len(got.Files) != 1 || got.Files[0] != c.to {
			t.Errorf("%s: %+v", c.name, got)
			continue
		}
		// The other order: the edit is merged, and the ticket moves the file, with leave for what it
		// holds there. A new test needs none.
		if got, err = (&Runner{}).MergeHeads(t.Context(), nil, task, p.Mirror, theirs, ours); err != nil ||
			got.Moved == (c.name == "test") || got.Moved && !slices.Equal(got.Files, []string{c.to}) {
			t.Errorf("%s, moved behind its edit: %+v, %v", c.name, got, err)
		}
		// The merger's commit has both sides, and changes the file by its new name.
		p.Git("switch", "-q", "edit-"+c.name)
		p.Git("merge", "-q", "--no-edit", "move-"+c.name)
		p.Git("switch", "-q", "main")
		resolved := p.Fetch("edit-" + c.name)
		if again, err := (&Runner{}).MergeHeads(t.Context(), nil, task, p.Mirror, ours, resolved); err != nil ||
			!again.Clean {
			t.Errorf("%s, resolved: %+v, %v", c.name, again, err)
		}
		if diff, err := p.Mirror.Diff(t.Context(), ours, resolved, 0); err != nil ||
			len(task.ListLeaveNeeds(diff.Paths())) != 1 {
			t.Errorf("%s: the resolution tells %+v, %v", c.name, diff.Paths(), err)
		}
	}
	// Where both change it by that name, leave was asked for both.
	two := gitopstest.New(t, map[string]string{"deploy/a.sh": lines})
	first, last := two.Commit("first", map[string]string{"deploy/a.sh": "first\n" + lines}),
		two.Commit("last", map[string]string{"deploy/a.sh": lines + "last\n"})
	if got, err := (&Runner{}).MergeHeads(t.Context(), nil, task, two.Mirror, first, last); err != nil || !got.Clean {
		t.Errorf("changed by both: %+v, %v", got, err)
	}
	// What the ticket itself changes by a protected name is asked about as ever.
	theirs := p.Commit("open", map[string]string{"deploy/new.sh": "x\n"})
	if got, err := (&Runner{}).MergeHeads(t.Context(), nil, task, p.Mirror, p.Base, theirs); err != nil || !got.Clean {
		t.Errorf("%+v, %v", got, err)
	}
}
