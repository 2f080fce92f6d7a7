package yarn

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// Whose a package is: a lock file of a later yarn, its settings, or the version that
// a manifest names tell it from one of yarn 1.
func TestOwnership(t *testing.T) {
	const test = `"scripts":{"test":"node --test"}`
	for name, c := range map[string]struct {
		files        map[string]string
		first, later string // folders
	}{
		"by its manifest": {map[string]string{"package.json": `{"packageManager":"yarn@1.22.19",` + test + `}`},
			".", ""},
		"by its manifest, later": {map[string]string{"package.json": `{"packageManager":"yarn@4.1.0",` + test + `}`}, "",
			"."},
		"by its lock file": {map[string]string{"package.json": `{` + test + `}`,
			"yarn.lock": "# yarn lockfile v1\n"}, ".", ""},
		"by its lock file, later": {map[string]string{"package.json": `{` + test + `}`,
			"yarn.lock": "# more\n\n__metadata:\n  version: 8\n"}, "", "."},
		"by its settings": {map[string]string{"package.json": `{` + test + `}`, "yarn.lock": "",
			".yarnrc.yml": ""}, "", "."},
		"a lock file not made yet": {map[string]string{"package.json": `{"packageManager":"yarn@4.1.0",` + test + `}`,
			"yarn.lock": "# yarn lockfile v1\n"}, ".", ""},
		"with npm's beside it": {map[string]string{"package.json": `{` + test + `}`, "yarn.lock": "",
			"package-lock.json": "{}"}, "", ""},
		"npm's, but not for its text": {map[string]string{"package.json": `{"packageManager":"yarn@1.0.0",` + test + `}`,
			"yarn.lock": "", "package-lock.json": "{}"}, ".", ""},
		"by the lock file above": {map[string]string{"package.json": `{}`, "yarn.lock": "",
			"a/package.json": `{` + test + `}`}, "a", ""},
		"by the manifest of the root": {map[string]string{"package.json": `{"packageManager":"yarn@3.2.0"}`,
			"a/package.json": `{` + test + `}`}, "", "a"},
		"npm's": {map[string]string{"package.json": `{` + test + `}`}, "", ""},
	} {
		for _, later := range []bool{false, true} {
			want := c.first
			if later {
				want = c.later
			}
			tree := ecosystemtest.Tree(c.files)
			owns := OwnsFolder(tree, later)
			s := &ecosystemtest.Sources{Texts: c.files}
			ownsManifest := OwnsManifest(s, later)
			var folders, manifests []string
			for _, dir := range []string{".", "a"} {
				text, ok := c.files[strings.TrimPrefix(dir+"/package.json", "./")]
				if !ok || !strings.Contains(text, "test") {
					continue
				}
				manager := between(text, `"packageManager":"`, `"`)
				if owns(tree, dir, manager) {
					folders = append(folders, dir)
				}
				if ownsManifest(dir, manager, between(c.files["package.json"], `"packageManager":"`, `"`)) {
					manifests = append(manifests, dir)
				}
			}
			if got := strings.Join(folders, " "); got != want || strings.Join(manifests, " ") != want {
				t.Errorf("%s, later %v: checks of %q, packages of %q, want %q", name, later, got, manifests, want)
			}
		}
	}
}

func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	found, _, ok := strings.Cut(rest, after)
	if !ok {
		return ""
	}
	return found
}

// yarn is shown what makes an installation what it is, with the tarballs at the
// mirror, and nothing that runs or leads elsewhere.
func TestWhatYarnIsShown(t *testing.T) {
	s := &ecosystemtest.Sources{Texts: map[string]string{
		"package.json": `{"name":"x","scripts":{"postinstall":"evil"},"packageManager":"yarn@1.0.0","resolutions":{"a":"1.0.0"},"workspaces":{"packages":["p"],"nohoist":["**/n"]},"dependencies":{"a":"1"}}`,
		".npmrc":       "registry=http://evil\n", ".yarnrc": "yarn-path evil.js\n", "p/package.json": `{"name":"p"}`,
		"package-lock.json": "{}",
		"yarn.lock": "# yarn lockfile v1\n\n\na@1:\n  version \"1.0.0\"\n  resolved " +
			"\"https://mirror.example/x/a/-/a-1.0.0.tgz#00ff\"\n  integrity sha512-x\n\n" +
			"\"alias@npm:@s/real@^2\":\n  version \"2.0.0\"\n  resolved " +
			"\"https://registry.yarnpkg.com/@s/real/-/real-2.0.0.tgz#11\"\n\n\"@o/p@^1\":\n  version \"1.2.3\"\n  resolved " +
			"\"https://npm.pkg.github.com/download/@o/p/1.2.3/0a1b#22\"\n\n\"g@git+ssh://git@example.com/g.git\":\n  version " +
			"\"1.0.0\"\n  resolved \"git+ssh://git@example.com/g.git#abc\"\n",
	}}
	all, err := Ecosystem{}.Installs(s)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	var shown strings.Builder
	for _, f := range all[1].Stage {
		shown.WriteString("== " + f.Path + "\n" + string(f.Text) + "\n")
	}
	for _, want := range []string{
		`"resolutions":{"a":"1.0.0"}`, `"nohoist":["**/n"]`, "== p/package.json",
		"  resolved \"http://127.0.0.1:1/npm/a/-/a-1.0.0.tgz#00ff\"\n  integrity sha512-x\n",
		"  resolved \"http://127.0.0.1:1/npm/@s/real/-/real-2.0.0.tgz#11\"\n",
		"  resolved \"http://127.0.0.1:1/npm/@o/p/-/p-1.2.3.tgz#22\"\n", "git+ssh://git@example.com/g.git#abc",
	} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, bad := range []string{"evil", "mirror.example", "packageManager"} {
		if strings.Contains(shown.String(), bad) {
			t.Errorf("%q is there", bad)
		}
	}
	if t.Failed() {
		t.Log(shown.String())
	}
	if got := strings.Join(s.Notes, "\n"); !strings.HasPrefix(
		got, "yarn.lock is used, and package-lock.json beside it is ignored: ") {
		t.Errorf("two lock files: %q", got)
	}
}

// An address that Go cannot decode is compared as it stands: yarn decodes it in its own way. (T24)
func TestAddressThatCannotBeDecoded(t *testing.T) {
	const lock = "__metadata:\n  version: 8\n\n\"a@npm:^1\":\n  version: 1.0.0\n  resolution: " +
		"\"a@npm:1.0.0::__archiveUrl=https%3A%2F%2Fevil.example%2Fa%%32%35.tgz\"\n"
	for _, a := range (Ecosystem{}).ParseAddresses([]byte(lock)) {
		if strings.Contains(a.At, "evil.example") {
			return
		}
	}
	t.Error("it is not an address")
}
