package node

import (
	"strings"
	"testing"

	"company/internal/ecosystem"
)

// Packages that two sides have added are in the result, in the order of names; what both
// have changed, or changed elsewhere, is left to an agent (SUB-19).
func TestManifestsAreUnited(t *testing.T) {
	t.Parallel()
	of := func(rest, dev string, packages ...string) string {
		table := ""
		if dev != "" {
			table = "  \"devDependencies\": {\n    \"" + dev + "\": \"1\"\n  },\n"
		}
		return "{\n  \"dependencies\": {\n    " + strings.Join(packages, ",\n    ") + "\n  },\n" + table + "  \"rest\": [\"" +
			rest + "\"]\n}\n"
	}
	b, c, d := `"b": "^1.0.0"`, `"c": "^1.0.0"`, `"d": "^1.0.0"`
	for name, x := range map[string]struct{ base, ours, theirs, want string }{
		"both add":             {of("", "", c), of("", "", c, d), of("", "", b, c), of("", "", b, c, d)},
		"one removes":          {of("", "", b, c), of("", "", c), of("", "", b, c, d), of("", "", c, d)},
		"one changes the rest": {of("", "", b), of("new", "", b, c), of("", "", b, d), of("new", "", b, c, d)},
		"the other does":       {of("", "", b), of("", "", b, c), of("new", "", b, d), of("new", "", b, c, d)},
		"not in order of names": {of("", "", c, b), of("", "", c, `"x": "1"`, b), of("", "", c, b, d),
			of("", "", c, `"x": "1"`, b, d)},
		"both make a table":    {of("", "", b), of("", "c", b), of("", "d", b), of("", "c\": \"1\",\n    \"d", b)},
		"both change the rest": {of("", "", b), of("new", "", b, c), of("other", "", b, d), ""},
		"two versions":         {of("", "", b), of("", "", b, c), of("", "", b, `"c": "^2.0.0"`), ""},
		// Of a table that one side takes out, or writes in another way, the other side's packages would be gone.
		"one takes a table out":          {of("", "c", b), of("", "", b), of("", "c\": \"1\",\n    \"d", b), ""},
		"the other takes a table out":    {of("", "c", b), of("", "c\": \"1\",\n    \"d", b), of("", "", b), ""},
		"a table as it was is taken out": {of("", "c", b), of("", "", b), of("", "c", b, d), of("", "", b, d)},
		"one indents": {of("", "", b), strings.ReplaceAll(of("", "", b), "  ", "    "),
			of("", "", b, c), ""},
		"no plain table": {of("", "", b), of("", "", b, `"c": {"x": 1}`), of("", "", b, c), ""},
	} {
		if got, ok := (Ecosystem{}).Unite(
			"package.json", []byte(x.base), []byte(x.ours), []byte(x.theirs)); ok != (x.want != "") ||
			ok && string(got) != x.want {
			t.Errorf("%s: %t\n%s\nwant\n%s", name, ok, got, x.want)
		}
	}
}

// Addresses of a mirror become those that the sides have, or the public registry's; others
// stay.
func TestAddressesAreRestored(t *testing.T) {
	t.Parallel()
	restore := restoreAddresses(ecosystem.Places{Registry: "http://127.0.0.1:8377"})
	made := `"resolved": "http://127.0.0.1:8377/npm/a/-/a-1.0.0.tgz", "resolved": "http://127.0.0.1:8377/npm/@s/b/-/b-2.0.0.tgz", "resolved": "https://other/c/-/c-1.0.0.tgz"`
	side := `"resolved": "https://npm.example.com/repo/@s/b/-/b-2.0.0.tgz", "resolved": "http://127.0.0.1:8377/npm/a/-/a-1.0.0.tgz"`
	want := `"resolved": "https://registry.npmjs.org/a/-/a-1.0.0.tgz", "resolved": "https://npm.example.com/repo/@s/b/-/b-2.0.0.tgz", "resolved": "https://other/c/-/c-1.0.0.tgz"`
	if got := restore([]byte(made), []byte(side), nil); string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	yarn := restore([]byte("  resolved \"http://127.0.0.1:8377/npm/a/-/a-1.0.0.tgz#abc\"\n"),
		[]byte("  resolved \"https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#abc\"\n"))
	if string(yarn) != "  resolved \"https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#abc\"\n" {
		t.Errorf("yarn: %s", yarn)
	}
}
