package catalog

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/lib/hosttest"
)

// lentSources are sources that know which of their texts are held. One call gives no more than so much, as package
// image has it.
type lentSources struct {
	*ecosystemtest.Sources
	lent []weak.Pointer[byte] // large texts
	most int                  // of them that were held at once, where that is too many
}

const (
	largeText = 1 << 19  // bytes of each
	mostTexts = 16 << 20 // bytes that one call gives
	mostHeld  = 80       // large texts
)

func (s *lentSources) Base() ecosystem.Sources { return s }

func (s *lentSources) ReadTexts(files []string) (map[string][]byte, error) {
	total := 0
	for _, f := range files {
		if total += len(s.Texts[f]); total > mostTexts {
			return nil, errors.New("too large")
		}
	}
	out := map[string][]byte{}
	for _, f := range files {
		text := []byte(s.Texts[f])
		if out[f] = text; len(text) >= largeText {
			s.lent = append(s.lent, weak.Make(&text[0]))
		}
	}
	if len(s.lent) > mostHeld && s.most == 0 {
		runtime.GC() // what is not used any more does not count
		if s.lent = slices.DeleteFunc(s.lent, func(p weak.Pointer[byte]) bool { return p.Value() == nil }); len(
			s.lent) > mostHeld {
			s.most = len(s.lent)
		}
	}
	return out, nil
}

// A commit of some kilobytes can have one large text in each of a thousand folders. What names packages is not held for
// all of them at once.
func TestManyLargeLocks(t *testing.T) {
	hosttest.Long(t, "it reads the largest texts of each kind a hundred times")
	const folders = 100
	large := strings.Repeat(" ", largeText)
	for _, files := range []map[string]string{
		{"composer.json": `{"require":{"a/b":"*"}}`,
			"composer.lock": `{"packages":[{"name":"a/b","version":"1.0","dist":{"type":"zip"}}]` + large + "}"},
		{"Cargo.toml": "[package]\nname = \"a\"\n",
			"Cargo.lock": "[[package]]\nname = \"b\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n" + large},
		{"package.json": `{"dependencies":{"a":"1"}}`,
			"package-lock.json": `{"packages":{"node_modules/a":{"version":"1.0.0","resolved":"https://x/a.tgz","integrity":"sha512-a"}}` + large + "}"},
		{"package.json": `{"dependencies":{"a":"1"}}`,
			"pnpm-lock.yaml": "packages:\n\n  a@1.0.0:\n    resolution: {integrity: sha512-a}\n#" + large},
		{"package.json": `{"dependencies":{"a":"1"}}`,
			"yarn.lock": "# yarn lockfile v1\n\na@1:\n  version \"1.0.0\"\n#" + large},
		{"package.json": `{"packageManager":"yarn@4.1.0","dependencies":{"a":"1"}}`,
			"yarn.lock": "__metadata:\n  version: 8\n#" + large},
		{"pyproject.toml": "[project]\nname = \"a\"\ndependencies = [\"b\"]\n",
			"uv.lock": "[[package]]\nname = \"b\"\nversion = \"1\"\n#" + large},
		{"requirements.txt": "a==1\n#" + large},
		{"requirements.txt": "a==1\n", "more.txt": "b==1\n#" + large},
		{"go.mod": "module a\n\nrequire example.org/b v1.0.0\n//" + large, "go.sum": "example.org/b v1.0.0 h1:a=\n",
			"a.go": "package a\n"},
	} {
		s := &lentSources{Sources: &ecosystemtest.Sources{Texts: map[string]string{}}}
		var names, includes []string
		for name, text := range files {
			names = append(names, name)
			for i := range folders {
				s.Texts[path.Join(fmt.Sprint("d", i), name)] = text
			}
			s.Texts[name] = text
		}
		for i := range folders {
			includes = append(includes, fmt.Sprintf("-r d%d/more.txt\n", i))
		}
		if files["more.txt"] != "" {
			s.Texts["requirements.txt"] = strings.Join(includes, "")
		}
		for _, e := range Of[ecosystem.Ecosystem]() {
			if i, ok := e.(ecosystem.Installer); ok {
				_, _ = i.Installs(s) // too large is an answer
			}
			if r, ok := e.(ecosystem.Resolver); ok {
				_, _ = r.Resolutions(s)
			}
			if p, ok := e.(ecosystem.Packager); ok {
				_, _ = p.Packages(s)
			}
		}
		if s.most > 0 {
			t.Errorf("%q: %d large texts of %d are held at once", names, s.most, folders)
		}
	}
}
