package gates

import (
	"strings"
	"testing"

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
	one := p.Commit("one", map[string]string{"x/go.mod": mod("example.com/k v1.0.0", "example.com/m v1.0.0"), "x/go.sum": "example.com/k v1.0.0" + goldenSum + "example.com/m v1.0.0" + goldenSum, "x/one.go": "package a\n"})
	two := p.Commit("two", map[string]string{"x/go.mod": mod("example.com/k v1.0.0", "example.com/n v1.0.0"), "x/go.sum": "example.com/k v1.0.0" + goldenSum + "example.com/n v1.0.0" + goldenSum, "x/two.go": "package a\n"})
	if plain, err := p.Mirror.MergeTree(t.Context(), one, two); err != nil || plain.Clean || len(plain.Files) != 2 {
		t.Fatalf("git merges it by itself: %+v, %v", plain, err)
	}
	got, err := (&Runner{}).MergeHeads(t.Context(), nil, nil, p.Mirror, one, two)
	if err != nil || !got.Clean || got.Conflicts != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, want := range map[string]string{
		"x/go.mod": mod("example.com/k v1.0.0", "example.com/m v1.0.0", "example.com/n v1.0.0"),
		"x/go.sum": "example.com/k v1.0.0" + goldenSum + "example.com/m v1.0.0" + goldenSum + "example.com/n v1.0.0" + goldenSum,
		"x/one.go": "package a\n", "x/two.go": "package a\n",
	} {
		if text, err := p.Mirror.ReadFile(t.Context(), got.Tree, name); err != nil || string(text) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, text, want)
		}
	}
	if again, err := (&Runner{}).MergeHeads(t.Context(), nil, nil, p.Mirror, one, two); err != nil || again.Tree != got.Tree {
		t.Errorf("another tree: %+v, %v", again, err)
	}
	// Whose files are in conflict too, a hash that is another one, a side without the file.
	three := p.Commit("three", map[string]string{"x/go.sum": "example.com/k v1.0.0" + goldenSum + "example.com/o v1.0.0" + goldenSum, "x/one.go": "package b\n"})
	four := p.Commit("four", map[string]string{"x/go.sum": "example.com/k v1.0.0" + goldenSum + "example.com/m v1.0.0 h1:another=\n"})
	five := p.Commit("five", map[string]string{"x/go.sum": ""})
	for _, other := range []struct {
		name string
		with func() (Merged, error)
	}{
		{"people's files", func() (Merged, error) { return (&Runner{}).MergeHeads(t.Context(), nil, nil, p.Mirror, one, three) }},
		{"two hashes", func() (Merged, error) { return (&Runner{}).MergeHeads(t.Context(), nil, nil, p.Mirror, one, four) }},
		{"removed", func() (Merged, error) { return (&Runner{}).MergeHeads(t.Context(), nil, nil, p.Mirror, one, five) }},
	} {
		if got, err := other.with(); err != nil || got.Clean || len(got.Files) == 0 {
			t.Errorf("%s: %+v, %v", other.name, got, err)
		}
	}
}
