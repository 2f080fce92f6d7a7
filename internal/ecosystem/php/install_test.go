package php

import (
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// Which folders get packages, of a lock file or of a manifest alone, and what is said of
// the others.
func TestProjects(t *testing.T) {
	const asks, lock = `{"require":{"php":">=8","a/b":"^1"}}`,
		`{"packages":[{"name":"a/b","version":"1.0","dist":{"type":"zip"}}]}`
	for name, c := range map[string]struct {
		files              map[string]string
		installs, resolves string
		wants, notes       string
	}{
		"a lock file": {map[string]string{"composer.json": asks, "composer.lock": lock}, "composer.lock", "", "", ""},
		"two": {map[string]string{"composer.json": asks, "composer.lock": lock, "tools/composer.json": asks,
			"tools/composer.lock": lock}, "composer.lock tools/composer.lock", "", "", ""},
		"none": {map[string]string{"composer.json": asks}, "", "composer.lock", "a/b",
			"composer.json has no composer.lock: each task resolves it again"},
		"parts of the tree": {map[string]string{"composer.json": asks,
			"parts/p/composer.json": `{"require-dev":{"c/d":"*"}}`}, "", "composer.lock", "a/b c/d", "composer.json has no"},
		"a part of its own": {map[string]string{"composer.json": "{}", "parts/p/composer.json": asks}, "",
			"parts/p/composer.lock", "a/b", "parts/p/composer.json has no"},
		"nothing to fetch": {map[string]string{"composer.json": `{"require":{"php":">=8","ext-json":"*"}}`}, "",
			"", "", ""},
		"an empty lock file": {map[string]string{"composer.json": asks, "composer.lock": `{"packages":[]}`}, "", "", "", ""},
		"a broken lock file": {map[string]string{"composer.json": asks, "composer.lock": `{`}, "composer.lock", "", "", ""},
		"in the repository": {map[string]string{"composer.json": asks, "composer.lock": lock, "vendor/autoload.php": ""}, "",
			"", "", ""},
		"of git": {map[string]string{"composer.json": asks,
			"composer.lock": `{"packages":[{"name":"a/b"},{"name":"a/m","type":"metapackage"}]}`}, "", "", "",
			"composer.lock names a/b of a git repository"},
		"elsewhere": {map[string]string{"composer.json": `{"require":{"a/b":"1"},"config":{"vendor-dir":"lib"}}`,
			"composer.lock": lock}, "", "", "", "composer.json sets vendor-dir"},
		"where it is anyway": {map[string]string{"composer.json": `{"require":{"a/b":"1"},"config":{"vendor-dir":"vendor/"}}`,
			"composer.lock": lock}, "composer.lock", "", "", ""},
		"of others": {map[string]string{"vendor/x/y/composer.json": asks, "tests/fixtures/x/composer.json": asks,
			"x y/composer.json": asks}, "", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &ecosystemtest.Sources{Texts: c.files}
			installs, err := Ecosystem{}.Installs(s)
			if err != nil {
				t.Fatal(err)
			}
			var locks []string
			for _, in := range installs {
				for _, step := range in.Steps {
					_, dir, _ := strings.Cut(step.Command, "--working-dir=")
					dir, _, _ = strings.Cut(dir, " ")
					locks = append(locks, strings.TrimPrefix(dir+"/composer.lock", "./"))
				}
			}
			all, err := Ecosystem{}.Resolutions(s)
			if err != nil {
				t.Fatal(err)
			}
			var resolves, wants []string
			for _, r := range all {
				resolves = append(resolves, r.Lock)
				for _, d := range r.Wants {
					wants = append(wants, d.Name)
				}
			}
			if strings.Join(locks, " ") != c.installs || strings.Join(resolves, " ") != c.resolves ||
				strings.Join(wants, " ") != c.wants {
				t.Errorf("installs %q, resolves %q, wants %q", locks, resolves, wants)
			}
			if got := strings.Join(s.Notes, "\n"); !strings.HasPrefix(got, c.notes) || c.notes == "" && got != "" {
				t.Errorf("notes %q", got)
			}
		})
	}
}

// Composer is shown no script, no plugin and no address of a project, and what else counts.
func TestReducedManifest(t *testing.T) {
	got := string(
		reduceManifest(
			[]byte(`{"name":"a/b","scripts":{"post-install-cmd":"touch canary"},"config":{"platform":{"php":"8.1"},"allow-plugins":true,"vendor-dir":"x"},
		"repositories":[{"type":"vcs","url":"https://evil.example"},{"type":"path","url":"parts/*","options":{"symlink":true}}],"autoload":{"files":["a.php"]}}`)))
	want := `{"autoload":{"files":["a.php"]},"config":{"allow-plugins":false,"platform":{"php":"8.1"}},"name":"a/b","repositories":[{"type":"path","url":"parts/*","options":{"symlink":true}}]}`
	if got != want {
		t.Errorf("%s", got)
	}
	if got := string(
		reduceManifest(
			[]byte(`{"repositories":{"x":{"type":"vcs","url":"https://evil.example"}}}`))); got != `{"config":{"allow-plugins":false}}` {
		t.Errorf("%s", got)
	}
}

// A layer has the folders vendor and nothing beside them, and the lock files that the
// repository lacks. A link may lead to a package of the tree, and not out of it.
func TestCollector(t *testing.T) {
	files := map[string]string{"composer.json": `{"extra":{"branch-alias":{"dev-main":"3.x-dev"}}}`,
		"sub/composer.json": "{}", "composer.lock": `{"packages":[{"name":"a/b","version":"1.0","dist":{"type":"zip"}}]}`}
	files["sub/composer.lock"] = files["composer.lock"]
	s := &ecosystemtest.Sources{Texts: files,
		Before: &ecosystemtest.Sources{Texts: map[string]string{"sub/composer.lock": ""}}}
	all, err := Ecosystem{}.Installs(s)
	if err != nil || len(all) != 1 || len(all[0].Steps) != 2 ||
		all[0].Steps[0].Env["COMPOSER_ROOT_VERSION"] != "3.x-dev" || all[0].Steps[1].Env["COMPOSER_ROOT_VERSION"] != "" {
		t.Fatalf("%+v %v", all, err)
	}
	c := all[0].Collector()
	for e, want := range map[ecosystem.Entry]string{
		{Path: "vendor/a/b/x.php"}:                        "/opt/deps/composer/vendor/a/b/x.php",
		{Path: "sub/vendor"}:                              "/opt/deps/composer/sub/vendor",
		{Path: "vendor/a/part", Link: "../../parts/part"}: "/opt/deps/composer/vendor/a/part",
		{Path: "vendor/a/part", Link: "../../../etc"}:     "", {Path: "vendor/a/part", Link: "/etc"}: "",
		{Path: "vendored/x"}: "", {Path: composerHome + "/vendor/x"}: "", {Path: "composer.json"}: "",
	} {
		if to, ok := c.Place(e); ok != (want != "") || ok && to.Path != want {
			t.Errorf("%+v lies at %+v, %v", e, to, ok)
		}
	}
	var names []string
	for _, f := range c.Files() {
		names = append(names, strings.TrimPrefix(f.Path, "/opt/deps/")+"="+string(f.Text))
	}
	if want := []string{"composer/composer.lock=" + files["composer.lock"], "composer.locks=composer.lock\n",
		"composer.vendor=\nsub/\n"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}

// The newest version is the highest release; branches are not listed.
func TestNewestVersion(t *testing.T) {
	for want, all := range map[string][][2]string{
		"v2.0.0":     {{"v1.9.0", "1.9.0.0"}, {"v2.0.0", "2.0.0.0"}, {"v2.1.0-RC1", "2.1.0.0-RC1"}, {"v1.10.0", "1.10.0.0"}},
		"1.10":       {{"1.9", ""}, {"1.10", ""}},
		"1.0.0-beta": {{"1.0.0-alpha", "1.0.0.0-alpha"}, {"1.0.0-beta", "1.0.0.0-beta"}},
	} {
		var semver []string
		called := map[string]string{}
		for _, v := range all {
			c := version{Version: v[0], Normalized: v[1]}.toSemver()
			semver, called[c] = append(semver, c), v[0]
		}
		if got := called[ecosystem.NewestSemver(semver)]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
