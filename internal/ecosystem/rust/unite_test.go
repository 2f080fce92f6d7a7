package rust

import "testing"

// Crates that two sides have added are in the result; what both have changed is left to
// an agent (SUB-19).
func TestManifestsAreUnited(t *testing.T) {
	t.Parallel()
	const head, rest = "[package]\nname = \"x\"\nversion = \"0.1.0\"\n\n[dependencies]\n",
		"\n[dev-dependencies]\nz = \"1\"\n"
	for name, x := range map[string]struct{ base, ours, theirs, want string }{
		"both add": {head + "c = \"1\"\n" + rest,
			head + "c = \"1\"\nd = { version = \"1\", features = [\"x\"] }\n" + rest,
			head + "b.workspace = true\nc = \"1\"\n" + rest,
			head + "b.workspace = true\nc = \"1\"\nd = { version = \"1\", features = [\"x\"] }\n" + rest},
		"an empty table": {head + rest, head + "a = \"1\"\n" + rest, head + "b = \"1\"\n" + rest,
			head + "a = \"1\"\nb = \"1\"\n" + rest},
		"two versions":  {head + rest, head + "a = \"1\"\n" + rest, head + "a = \"2\"\n" + rest, ""},
		"a table moves": {head + "a = \"1\"\n", "[workspace.dependencies]\na = \"1\"\n", head + "a = \"1\"\nb = \"1\"\n", ""},
		"a remark": {head + "a = \"1\"\n",
			"[package]\nname = \"x\"\nversion = \"0.1.0\"\n\n[dependencies] # sorted\na = \"1\"\n",
			head + "a = \"1\"\nb = \"1\"\n", ""},
		"several lines": {head + rest, head + "a = { version = \"1\", features = [\n\"x\"] }\n" + rest,
			head + "b = \"1\"\n" + rest, ""},
	} {
		if got, ok := (Ecosystem{}).Unite(
			"Cargo.toml", []byte(x.base), []byte(x.ours), []byte(x.theirs)); ok != (x.want != "") ||
			ok && string(got) != x.want {
			t.Errorf("%s: %t\n%s\nwant\n%s", name, ok, got, x.want)
		}
	}
}
