package golang

import (
	"strings"
	"testing"
)

const sumLine = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

// Two sides of a go.sum are united line by line, in the go command's order, whichever is
// which; two hashes of one module are not (SUB-19).
func TestSumsAreUnited(t *testing.T) {
	t.Parallel()
	line := func(names ...string) string {
		out := ""
		for _, n := range names {
			out += n + " " + sumLine + "\n"
		}
		return out
	}
	ours := line("example.com/a v1.0.0", "example.com/a v1.0.0/go.mod", "example.com/c v1.9.0/go.mod")
	theirs := line("example.com/b v0.1.0", "example.com/a v1.0.0/go.mod", "example.com/c v1.10.0/go.mod")
	want := line("example.com/a v1.0.0", "example.com/a v1.0.0/go.mod", "example.com/b v0.1.0",
		"example.com/c v1.9.0/go.mod", "example.com/c v1.10.0/go.mod")
	for _, c := range [][2]string{{ours, theirs}, {theirs, ours}} {
		if got, ok := (Ecosystem{}).Unite("go.sum", nil, []byte(c[0]), []byte(c[1])); !ok || string(got) != want {
			t.Errorf("%v\n%s\nwant\n%s", ok, got, want)
		}
	}
	for name, bad := range map[string]string{
		"another hash": "example.com/a v1.0.0 h1:AAAApj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n", "markers": "<<<<<<< ours\n",
		"no sum": "example.com/a v1.0.0 md5:1\n", "odd": "a b\n",
	} {
		if _, ok := (Ecosystem{}).Unite("go.sum", nil, []byte(ours), []byte(bad)); ok {
			t.Errorf("%s is united", name)
		}
	}
}

// Two sides of a go.mod are united where only requirements differ, each at its higher
// version; what excludes each other, or would be lost, is left to an agent (SUB-19).
func TestModulesAreUnited(t *testing.T) {
	t.Parallel()
	const head = "module example.com/app\n\ngo 1.24\n"
	base := head + "\nrequire example.com/old v1.0.0\n\nrequire example.com/deep v0.1.0 // indirect\n"
	ours := head + "\nrequire (\n\texample.com/a v1.2.0\n\texample.com/old v1.1.0\n)\n\nrequire example.com/deep v0.1.0 " +
		"// indirect\n"
	for name, c := range map[string]struct{ theirs, want string }{ // want: "" is not united
		"both add": {head + "\nrequire (\n\texample.com/b v0.3.0\n\texample.com/old v1.0.0\n)\n\nrequire " +
			"(\n\texample.com/deep v0.1.0 // indirect\n\texample.com/deeper v1.3.0 // indirect\n)\n",
			head + "\nrequire (\n\texample.com/a v1.2.0\n\texample.com/b v0.3.0\n\texample.com/old v1.1.0\n)\n\nrequire " +
				"(\n\texample.com/deep v0.1.0 // indirect\n\texample.com/deeper v1.3.0 // indirect\n)\n"},
		"both raise, one makes it direct": {strings.Replace(head, "1.24", "1.25", 1) +
			"\nrequire example.com/old v1.10.0\n\nrequire example.com/deep v0.1.0\n",
			strings.Replace(head, "1.24", "1.25", 1) +
				"\nrequire (\n\texample.com/a v1.2.0\n\texample.com/old v1.10.0\n)\n\nrequire example.com/deep v0.1.0\n"},
		"removed what the other raised": {head + "\nrequire example.com/deep v0.1.0 // indirect\n", ""},
		"a replacement":                 {base + "\nreplace example.com/old => ../old\n", ""},
		"another module":                {strings.Replace(base, "app", "other", 1), ""},
		"a remark": {head +
			"\nrequire example.com/old v1.0.0 // later ones leak\n\nrequire example.com/deep v0.1.0 // indirect\n", ""},
		"deprecated": {"// Deprecated: use v2.\n" + base, ""},
		"broken":     {base + "<<<<<<<\n", ""},
	} {
		got, ok := (Ecosystem{}).Unite("go.mod", []byte(base), []byte(ours), []byte(c.theirs))
		if ok != (c.want != "") || ok && string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, ok, got, c.want)
		}
	}
	// What ours says of its version may not hold of the version that theirs has.
	noted, raised := strings.Replace(ours, "old v1.1.0", "old v1.1.0 // 1.10 breaks logins", 1),
		strings.Replace(base, "old v1.0.0", "old v1.10.0", 1)
	if got, ok := (Ecosystem{}).Unite("go.mod", []byte(base), []byte(noted), []byte(raised)); ok {
		t.Errorf("a remark is at another version:\n%s", got)
	}
	if got, ok := (Ecosystem{}).Unite("go.mod", []byte(base), []byte(noted), []byte(base)); !ok || string(got) != noted {
		t.Errorf("a remark at its own version: %v\n%s", ok, got)
	}
	if _, ok := (Ecosystem{}).Unite("go.mod", nil, []byte(ours), []byte(ours)); ok {
		t.Error("two files that are new are united")
	}
}
