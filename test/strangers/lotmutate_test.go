package strangers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTextIsMutated(t *testing.T) {
	for _, c := range []struct{ about, text, want string }{
		{"a condition", "if a == b {", "if a != b {"},
		{"within a string", `x := "1 == b"`, ""},
		{"a comment", "// a == b", ""},
		{"a bound and a part", "for i <= n && ok {", "for i < n && ok {|for i <= n || ok {"},
		{"a constant", "\treturn 0", "\treturn 1"},
		{"a line that stands twice", "\treturn 0\n\treturn 0", ""},
		{"python", "    if not x and y:", "    if not x or y:|    if x and y:"},
		{"a page", "  <p class={c}>{{ msg }}</p>", "  <p class={c}>{{ !msg }}</p>"},
		{"a type", "createRoot(find(id)!).render(app)", "createRoot(find(id)).render(app)"},
		{"words", "x = 'Hello'", "x = 'xHello'"},
		{"javascript", "  return call(x);", "  return null;"},
	} {
		var got []string
		for _, m := range mutateText("f", c.text) {
			got = append(got, m.New)
			if m.Old == m.New || strings.Count(c.text, m.Old) != 1 {
				t.Errorf("%s: %q to %q is no edit", c.about, m.Old, m.New)
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.about, got, c.want)
		}
	}
}

// Tests, what is vendored and what is made are not mutated; the seed alone orders.
func TestMutationsAreOfSources(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.js", "lib/b.js", "test/a.js", "lib/b.test.js", "node_modules/x/a.js", "dist/a.js",
		"a.min.js", "vite.config.js", "a.py", "test-a.js"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("const z = 5;\nif (a === b) {}\nx = true;\ny = c && d;\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	first, err := listMutations(dir, Npm, newRandom("seed", "1"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := listMutations(dir, Npm, newRandom("seed", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 8 || len(again) != 8 || first[5].constant || !first[6].constant {
		t.Fatalf("%d mutations: %v", len(first), first)
	}
	for i, m := range first {
		if m.File != "a.js" && m.File != "lib/b.js" {
			t.Errorf("%s is mutated", m.File)
		}
		if m != again[i] {
			t.Error("the same seed ordered them in another way")
		}
	}
}
