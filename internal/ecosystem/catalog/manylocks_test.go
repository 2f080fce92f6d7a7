package catalog

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// lentSources are sources that know how many bytes of their texts are held. One call gives no more than so much, as
// package image has it.
type lentSources struct {
	*ecosystemtest.Sources
	held, most atomic.Int64
}

const (
	mostTexts = 16 << 20 // bytes that one call gives
	mostHeld  = 40 << 20
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
		if out[f] = text; len(text) < 1<<19 {
			continue
		}
		s.held.Add(int64(len(text)))
		runtime.AddCleanup(&text[0], func(n int64) { s.held.Add(-n) }, int64(len(text)))
	}
	if s.held.Load() > mostHeld && s.most.Load() == 0 {
		for range 3 { // what is not used any more does not count
			runtime.GC()
			time.Sleep(5 * time.Millisecond)
		}
		if held := s.held.Load(); held > mostHeld {
			s.most.Store(held)
		}
	}
	return out, nil
}

// A commit of some kilobytes can have one large text in each of a thousand folders. What names packages is not held for all
// of them at once.
func TestManyLargeLocks(t *testing.T) {
	const folders = 100
	large := strings.Repeat(" ", 1<<19)
	for _, files := range []map[string]string{
		{"composer.json": `{"require":{"a/b":"*"}}`, "composer.lock": `{"packages":[{"name":"a/b","version":"1.0","dist":{"type":"zip"}}]` + large + "}"},
		{"Cargo.toml": "[package]\nname = \"a\"\n", "Cargo.lock": "[[package]]\nname = \"b\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n" + large},
		{"package.json": `{"dependencies":{"a":"1"}}`, "package-lock.json": `{"packages":{"node_modules/a":{"version":"1.0.0","resolved":"https://x/a.tgz","integrity":"sha512-a"}}` + large + "}"},
		{"package.json": `{"dependencies":{"a":"1"}}`, "pnpm-lock.yaml": "packages:\n\n  a@1.0.0:\n    resolution: {integrity: sha512-a}\n#" + large},
		{"package.json": `{"dependencies":{"a":"1"}}`, "yarn.lock": "# yarn lockfile v1\n\na@1:\n  version \"1.0.0\"\n#" + large},
		{"package.json": `{"packageManager":"yarn@4.1.0","dependencies":{"a":"1"}}`, "yarn.lock": "__metadata:\n  version: 8\n#" + large},
		{"pyproject.toml": "[project]\nname = \"a\"\ndependencies = [\"b\"]\n", "uv.lock": "[[package]]\nname = \"b\"\nversion = \"1\"\n#" + large},
		{"requirements.txt": "a==1\n#" + large},
		{"requirements.txt": "a==1\n", "more.txt": "b==1\n#" + large},
		{"go.mod": "module a\n\nrequire example.org/b v1.0.0\n//" + large, "go.sum": "example.org/b v1.0.0 h1:a=\n", "a.go": "package a\n"},
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
		if held := s.most.Load(); held > 0 {
			t.Errorf("%q: %d MiB of %d are held at once", names, held>>20, folders)
		}
	}
}
