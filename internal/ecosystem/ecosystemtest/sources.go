package ecosystemtest

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem"
)

// Sources are files of a tree as package image shows them to an installer.
type Sources struct {
	Texts   map[string]string // by path
	Notes   []string
	claimed map[string]bool
}

var _ ecosystem.Sources = (*Sources)(nil)

// HasFile reports whether there is a file of that path.
func (s *Sources) HasFile(file string) bool { _, ok := s.Texts[file]; return ok }

// Files are all files, sorted.
func (s *Sources) Files() []string { return slices.Sorted(maps.Keys(s.Texts)) }

// FilesNamed are the files with one of these names, the upper ones first.
func (s *Sources) FilesNamed(names ...string) []string {
	out := slices.DeleteFunc(s.Files(), func(p string) bool {
		return !slices.Contains(names, path.Base(p)) || !ecosystem.HasOwnLocks(path.Dir(p))
	})
	slices.SortStableFunc(out, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return out
}

// ReadTexts gives files, path to content.
func (s *Sources) ReadTexts(files []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, p := range files {
		text, ok := s.Texts[p]
		if !ok {
			return nil, fmt.Errorf("%s is not in the tree", p)
		}
		out[p] = []byte(text)
	}
	return out, nil
}

// AddNote keeps a note.
func (s *Sources) AddNote(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// Claim says that a manifest is an ecosystem's own.
func (s *Sources) Claim(file string) {
	if s.claimed == nil {
		s.claimed = map[string]bool{}
	}
	s.claimed[file] = true
}

// IsClaimed says whether one before has claimed it.
func (s *Sources) IsClaimed(file string) bool { return s.claimed[file] }

// HashText is the text.
func (s *Sources) HashText(text string) string { return text }

// Places are those of the tests.
func (s *Sources) Places() ecosystem.Places {
	return ecosystem.Places{Build: "/opt/out", Deps: "/opt/deps", Workspace: "/work/repo", Registry: "http://127.0.0.1:1"}
}

func exerciseInstaller(t *testing.T, i ecosystem.Installer, f Fixture) {
	files := maps.Clone(f.Files)
	files[f.Lock] = f.LockText
	s := &Sources{Texts: files}
	all, err := i.Installs(s)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	again, err := i.Installs(&Sources{Texts: files})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(all, func(in ecosystem.Install) bool { return string(in.Locks[f.Lock]) == f.LockText && !in.Own }) {
		t.Errorf("no layer may fetch what %s names", f.Lock)
	}
	for n, in := range all {
		t.Run(in.Layer, func(t *testing.T) {
			exerciseInstall(t, in, s.Places())
			if !reflect.DeepEqual(in.Inputs, again[n].Inputs) {
				t.Error("the same files key another layer")
			}
		})
	}
	says := func(in ecosystem.Install) bool {
		return slices.ContainsFunc(in.Says.Permanent, func(words string) bool { return strings.Contains(f.Blame, words) })
	}
	if !slices.ContainsFunc(all, says) {
		t.Errorf("%q would be tried again", f.Blame)
	}
	// What a repository says is anybody's text.
	for name, text := range map[string]string{"nothing": "", "garbage": "\x00{[\xff'\"", "depth": strings.Repeat("[", 10_000)} {
		odd := map[string]string{}
		for p := range files {
			odd[p] = text
		}
		if _, err := i.Installs(&Sources{Texts: odd}); err != nil {
			t.Errorf("%s for every file: %v", name, err)
		}
	}
	if all, err := i.Installs(&Sources{}); err != nil || slices.ContainsFunc(all, func(in ecosystem.Install) bool { return !in.Own }) {
		t.Errorf("in nothing: %+v, %v", all, err)
	}
}

func exerciseInstall(t *testing.T, in ecosystem.Install, places ecosystem.Places) {
	if in.Layer == "" || in.Why == "" || in.What == "" || in.Collector == nil || len(in.Inputs) == 0 || in.Remote && (in.Registry == "" || len(in.Steps) == 0) {
		t.Errorf("it says too little: %+v", in)
	}
	for _, f := range in.Stage {
		if !filepath.IsLocal(f.Path) {
			t.Errorf("%q is staged", f.Path)
		}
	}
	for _, step := range in.Steps {
		if step.Command == "" || step.Progress == "" || step.Failure == "" || step.Fix == "" || step.Dir != "." && !filepath.IsLocal(step.Dir) {
			t.Errorf("a step says too little: %+v", step)
		}
	}
	c := in.Collector()
	for _, e := range []ecosystem.Entry{{Path: "../../etc/passwd"}, {Path: "node_modules/x/evil", Link: "/etc/passwd"}, {Path: "node_modules/x/evil", Link: "../../../../../etc/passwd"}, {Path: "staged.txt"}} {
		if to, ok := c.Place(e); ok && (e.Link != "" || !ecosystem.IsWithin(to.Path, cmp.Or(in.From, places.Deps))) {
			t.Errorf("%+v gets the place %+v", e, to)
		}
	}
	for _, f := range c.Files() {
		if f.Path == "" || f.Link != "" && !strings.HasPrefix(f.Link, "/") {
			t.Errorf("the file %+v", f)
		}
	}
}
