package locktree

import (
	"strings"
	"testing"
)

// TestTree: what a file says is in its tree, by its keys.
func TestTree(t *testing.T) {
	yaml, err := ReadYAML([]byte("---\nlockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      it''s: x\n" +
		"packages:\n\n  '@s/it''s@1.0.0':\n    resolution: {integrity: sha512-a==, tarball: 'https://x/y, z.tgz'}\n    " +
		"deprecated: >-\n      evil@1.0.0:\n\n      more\n    cpu: [x64, '!arm']\n    peers:\n      - one\n      - 'two'\n" +
		"? \"a@npm:^1, a@npm:^2\"\n:\n  version: 1.0.0\n  empty: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := yaml.Find("packages").Find("@s/it's@1.0.0")
	for got, want := range map[string]string{
		yaml.TextOf("lockfileVersion"): "9.0", yaml.Find("importers").Find(".").Find("dependencies").TextOf("it''s"): "x",
		p.Find("resolution").TextOf("integrity"): "sha512-a==", p.Find("resolution").TextOf("tarball"): "https://x/y, z.tgz",
		p.Find("cpu").String() + p.Find("peers").String():       "{x64, !arm}{one, two}",
		yaml.Find("a@npm:^1, a@npm:^2").String():                "{version: 1.0.0, empty: {}}",
		p.Find("nothing").TextOf("x") + p.Find("nothing").Key(): "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	old, err := ReadOld([]byte("# yarn lockfile v1\r\n\r\n\r\na@^1, \"@s/b@^2\":\r\n  version \"1.0.0\"\r\n  " +
		"dependencies:\r\n    \"@s/c\" \"^1 || 2\"\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := old.String(); got != "{a@^1, @s/b@^2: {version: 1.0.0, dependencies: {@s/c: ^1 || 2}}}" ||
		old.Find("@s/b@^2") != old.Find("a@^1") {
		t.Error(got)
	}
}

// TestFaults: a line that a client writes in another way is a fault, and what stands around it is read.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		text, left string // what is left in its tree
		old        bool
	}{
		"a blank at the end":           {"a: \nb: x\n", "{b: x}", false},
		"a blank behind a value":       {"a: y \nb: x\n", "{b: x}", false},
		"two blanks before a value":    {"a:  y\nb: x\n", "{b: x}", false},
		"an odd indent":                {"b:\n   c: y\n  d: x\n", "{b: {d: x}}", false},
		"too far in":                   {"b:\n    c: y\n  d: x\n", "{b: {d: x}}", false},
		"further in than a value":      {"b: x\n  c: y\n", "{b: x}", false},
		"below what is left out":       {"a: *x\n  c: y\nb: x\n", "{b: x}", false},
		"twice":                        {"b: x\nb: y\n", "{b: x}", false},
		"twice, in quotes":             {"b: x\n'b': y\n", "{b: x}", false},
		"twice in brackets":            {"a: {c: 1, c: 2}\nb: x\n", "{b: x}", false},
		"an open text":                 {"a: \"y\nb: x\n", "{b: x}", false},
		"an escape":                    {"a: \"\\u0041\"\nb: x\n", "{b: x}", false},
		"an open list":                 {"a: {c: y\nb: x\n", "{b: x}", false},
		"a comma at the end of a list": {"a: {c: y, }\nb: x\n", "{b: x}", false},
		"a list in a list":             {"a: {c: {d: y}}\nb: x\n", "{b: x}", false},
		"a remark behind a value":      {"a: y # z\nb: x\n", "{b: x}", false},
		"a remark below a key":         {"b: x\n# z\n", "{b: x}", false},
		"an anchor":                    {"a: &y z\nb: x\n", "{b: x}", false},
		"a tag":                        {"a: !!str z\nb: x\n", "{b: x}", false},
		"a merge":                      {"<<: z\nb: x\n", "{b: x}", false},
		"a prototype":                  {"__proto__: z\nb: x\n", "{b: x}", false},
		"a key without quotes":         {"? a\n:\nb: x\n", "{b: x}", false},
		"a second document":            {"b: x\n---\nc: y\n", "{b: x, c: y}", false},
		"an end of a document":         {"b: x\n...\nc: y\n", "{b: x, c: y}", false},
		"a text of lines":              {"a: |\n  y\nb: x\n", "{b: x}", false},
		"a text of lines, by columns":  {"b: x\nc:\n  deprecated: |9\n", "{b: x, c: {}}", false},
		"an item beside a key":         {"b:\n  c: x\n  - d\n", "{b: {c: x}}", false},
		"a map in an item":             {"b:\n  - c: x\n", "{b: {}}", false},
		"a lone carriage return":       {"a: y\rc: z\nb: x\n", "{b: x}", false},
		"mixed ends of lines":          {"a: y\r\nb: x\n", "{b: x}", false},
		"a line separator":             {"a: y\u2028c: z\nb: x\n", "{b: x}", false},
		"a mark of the order of bytes": {"\ufeffa: y\nb: x\n", "{b: x}", false},
		"no text":                      {"a: \xff\nb: x\n", "{b: x}", false},
		"yarn 1: a colon":              {"b:\n  c: x\n  d x\n", "{b: {d: x}}", true},
		"yarn 1: two fields":           {"b:\n  c x e y\n  d x\n", "{b: {d: x}}", true},
		"yarn 1: a number":             {"b:\n  c 1\n  d x\n", "{b: {d: x}}", true},
		"yarn 1: a truth":              {"b:\n  c true\n  d x\n", "{b: {d: x}}", true},
		"yarn 1: quotes of YAML":       {"'a':\n  c x\nb:\n  d x\n", "{b: {d: x}}", true},
		"yarn 1: heads without blanks": {"a,c:\n  c x\nb:\n  d x\n", "{b: {d: x}}", true},
		"yarn 1: a head twice":         {"b:\n  d x\nb:\n  d y\n", "{b: {d: x}}", true},
		"yarn 1: a field as a head":    {"d x\nb:\n  d x\n", "{b: {d: x}}", true},
	} {
		read := ReadYAML
		if c.old {
			read = ReadOld
		}
		tree, err := read([]byte(c.text))
		if got := tree.String(); err == nil || got != c.left {
			t.Errorf("%s: %s, %v, want %s", name, got, err, c.left)
		}
	}
}

// FuzzNothingIsSkipped, T24: of a file without a fault all that is not a quote and no bracket is in the tree.
func FuzzNothingIsSkipped(f *testing.F) {
	for _, text := range []string{
		"lockfileVersion: '9.0'\n\npackages:\n\n  '@s/a@1.0.0':\n    resolution: {integrity: sha512-a==}\n    cpu: [x64]\n " +
			"   list:\n      - 'it''s'\n",
		"__metadata:\n  version: 8\n\n\"a@npm:^1, a@npm:^2\":\n  version: 1.0.0\n  resolution: \"a@npm:1.0.0\"\n",
		"a@^1, \"@s/b@^2\":\n  version \"1.0.0\"\n  dependencies:\n    c \"^1 || 2\"\n",
		"a:\n  ",
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, old bool) {
		read := ReadYAML
		if old {
			read = ReadOld
		}
		tree, err := read(text)
		if err != nil || strings.Contains(string(text), "deprecated") || strings.Contains(string(text), "#") ||
			strings.Contains(string(text), "---") {
			return
		}
		plain := strings.NewReplacer("'", "", "\"", "", "{", "", "}", "", "[", "", "]", "", ",", "", ":", "", "-", "", "?",
			"", " ", "", "\n", "", "\r", "").Replace
		if got, want := plain(tree.String()), plain(string(text)); got != want {
			t.Errorf("%q is read as %q", want, got)
		}
	})
}
