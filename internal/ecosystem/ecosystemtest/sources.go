package ecosystemtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Sources are files of a tree as package image shows them to an installer.
type Sources struct {
	Texts      map[string]string // by path
	Before     *Sources          // of the base commit; nil: the same
	Offline    bool              // container.deps is off
	Toolchains []string          // that the image is asked for
	Allowed    []string          // packages whose install scripts may run
	Gates      []company.GateCommand
	Notes      []string
	claimed    map[string]bool
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

// FileID stands for the text of a file.
func (s *Sources) FileID(file string) string { return fmt.Sprintf("%x", s.Texts[file]) }

// Base are the same files, unless there are others.
func (s *Sources) Base() ecosystem.Sources {
	if s.Before == nil {
		return s
	}
	return s.Before
}

// HasToolchain says whether the image has a toolchain.
func (s *Sources) HasToolchain(name string) bool { return slices.Contains(s.Toolchains, name) }

// IsOffline says whether no registry may be asked.
func (s *Sources) IsOffline() bool { return s.Offline }

// Scripts are the packages whose install scripts may run.
func (s *Sources) Scripts() []string { return s.Allowed }

// Checks are the commands that judge the tree.
func (s *Sources) Checks() []company.GateCommand { return s.Gates }

// HashText is the text.
func (s *Sources) HashText(text string) string { return text }

// Places are those of the tests.
func (s *Sources) Places() ecosystem.Places {
	return ecosystem.Places{Build: "/opt/out", Deps: "/opt/deps", Workspace: "/work/repo", History: "/opt/repo.git", Registry: "http://127.0.0.1:1"}
}

func exerciseInstaller(t *testing.T, i ecosystem.Installer, f Fixture) {
	files := maps.Clone(f.Files)
	if f.Lock != "" {
		files[f.Lock] = f.LockText
	}
	s := &Sources{Texts: files, Toolchains: f.Toolchains}
	all, err := i.Installs(s)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	again, err := i.Installs(&Sources{Texts: files, Toolchains: f.Toolchains})
	if err != nil {
		t.Fatal(err)
	}
	shows := func(in ecosystem.Install) bool {
		if in.Fetch != nil {
			return exerciseFetch(t, in)[f.Lock] == f.LockText
		}
		return string(in.Locks[f.Lock]) == f.LockText && !in.Own
	}
	if f.Lock != "" && !slices.ContainsFunc(all, shows) {
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
	offline, err := i.Installs(&Sources{Texts: files, Offline: true, Toolchains: f.Toolchains})
	if err != nil || slices.ContainsFunc(offline, func(in ecosystem.Install) bool { return in.Fetch != nil }) {
		t.Errorf("offline it fetches all the same: %+v, %v", offline, err)
	}
	if len(f.Blame) == 0 && f.Lock != "" {
		t.Error("the fixture has no message of its client")
	}
	for _, message := range f.Blame {
		says := func(in ecosystem.Install) bool {
			return slices.ContainsFunc(in.Says.Permanent, func(words string) bool { return strings.Contains(message, words) })
		}
		if !slices.ContainsFunc(all, says) {
			t.Errorf("%q would be tried again", message)
		}
	}
	// The text of a repository is untrusted.
	for name, text := range map[string]string{"nothing": "", "garbage": "\x00{[\xff'\"", "depth": strings.Repeat("[", 10_000)} {
		odd := map[string]string{}
		for p := range files {
			odd[p] = text
		}
		if _, err := i.Installs(&Sources{Texts: odd, Toolchains: f.Toolchains}); err != nil {
			t.Errorf("%s for every file: %v", name, err)
		}
	}
	if all, err := i.Installs(&Sources{}); err != nil || slices.ContainsFunc(all, func(in ecosystem.Install) bool { return !in.Own }) {
		t.Errorf("in nothing: %+v, %v", all, err)
	}
}

// exercisePackager holds the packages that a tree asks for to names of Debian's.
func exercisePackager(t *testing.T, p ecosystem.Packager, f Fixture) {
	got, err := p.Packages(&Sources{Texts: f.Files, Toolchains: f.Toolchains})
	if err != nil || strings.Join(got, " ") != f.System {
		t.Errorf("packages of the system %q, want %q, %v", got, f.System, err)
	}
	for name, text := range map[string]string{"nothing": "", "garbage": "\x00{[\xff'\"(", "depth": strings.Repeat("f(", 10_000)} {
		odd := map[string]string{}
		for p := range f.Files {
			odd[p] = text
		}
		if got, err := p.Packages(&Sources{Texts: odd, Toolchains: f.Toolchains}); err != nil || len(got) > 0 {
			t.Errorf("%s for every file: %q, %v", name, got, err)
		}
	}
	for _, name := range got {
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.+-") != "" {
			t.Errorf("%q is no package of Debian's", name)
		}
	}
}

func exerciseInstall(t *testing.T, in ecosystem.Install, places ecosystem.Places) {
	if in.Layer == "" || in.Why == "" || in.What == "" || in.Collector == nil || len(in.Inputs) == 0 || in.Remote && (in.Registry == "" || !in.Runs()) {
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
	c, to := in.Collector(), cmp.Or(in.From, places.Deps)
	if in.Fetch != nil {
		to = "/opt" // nothing is staged where the packages come to lie
	}
	for _, e := range []ecosystem.Entry{{Path: "../../etc/passwd"}, {Path: "node_modules/x/evil", Link: "/etc/passwd"}, {Path: "node_modules/x/evil", Link: "../../../../../etc/passwd"}, {Path: "staged.txt"}} {
		if at, ok := c.Place(e); ok && (e.Link != "" || !ecosystem.IsWithin(at.Path, to)) {
			t.Errorf("%+v gets the place %+v", e, at)
		}
	}
	for _, f := range c.Files() {
		if f.Path == "" || f.Link != "" && !strings.HasPrefix(f.Link, "/") {
			t.Errorf("the file %+v", f)
		}
	}
}

// exerciseFetch has a layer fetched on a host that has no client, and gives the
// lock files that the client was to be shown.
func exerciseFetch(t *testing.T, in ecosystem.Install) map[string]string {
	h := &bareHost{staged: map[string]string{}}
	if err := in.Fetch(t.Context(), h); !errors.Is(err, errNoClient) {
		t.Errorf("on a host without a client: %v", err)
	}
	return h.staged
}

var errNoClient = errors.New("there is no such program")

// bareHost is a host without programs.
type bareHost struct{ staged map[string]string }

func (h *bareHost) Stage(files map[string][]byte) error {
	for name, text := range files {
		h.staged[name] = string(text)
	}
	return nil
}
func (*bareHost) Write(string, []byte) error                               { return nil }
func (*bareHost) Ask(context.Context, []string, ...string) (string, error) { return "", errNoClient }
func (*bareHost) Run(context.Context, string, []string, ...string) (string, error) {
	return "", errNoClient
}
func (*bareHost) Unpack(context.Context, string, string) error { return errNoClient }
func (*bareHost) Getenv(string) (string, bool)                 { return "", false }
func (*bareHost) ReportProgress(string, ...any)                {}
func (*bareHost) Log(context.Context, string, error)           {}
func (*bareHost) Explain(_ context.Context, err error) error   { return err }
func (*bareHost) Places() ecosystem.FetchPlaces {
	return ecosystem.FetchPlaces{Source: "/s", Home: "/h", Out: "/o"}
}

// exerciseProvider holds toolchains to what package image makes of them.
func exerciseProvider(t *testing.T, p ecosystem.Provider) {
	own := false
	for _, tool := range p.Toolchains() {
		own = own || tool.Name == p.Name()
		if tool.Name == "" || tool.Title == "" || tool.Contents == "" || (tool.Wish == nil) != (len(tool.WishFiles) == 0) {
			t.Errorf("it says too little: %+v", tool)
		}
		if tool.Wish != nil {
			for _, text := range []string{"", "\x00", "x", strings.Repeat("1.", 1<<16), strings.Repeat("[", 1<<16)} {
				tool.Wish(text, "1.2.3") // untrusted
			}
		}
		for _, part := range []string{tool.FreshTree.Links, tool.FreshTree.Settings, tool.FreshTree.Hidden} {
			if part != "" && part != strings.TrimSpace(part)+"\n" {
				t.Errorf("a part of the script for fresh trees does not end with one line break: %q", part)
			}
		}
		if tool.Versions != nil {
			exerciseVersions(t, tool)
		}
		if tree := tool.Tree; tree != nil {
			for _, answer := range []string{"", "\n\n\n", "x", strings.Repeat("a\n", 1<<10)} {
				answers := slices.Repeat([]string{answer}, len(tree.Ask))
				if got, err := tree.Read(answers, func(p string) (string, error) { return p, nil }); err == nil {
					t.Errorf("%q is taken for a toolchain: %+v", answer, got)
				}
			}
			if len(tree.Ask) == 0 || len(tree.Copies) == 0 {
				t.Errorf("%s is not looked for, or not copied", tool.Name)
			}
		}
		for _, in := range tool.Above {
			if in.Layer == "" || in.Why == "" || len(in.Steps) == 0 || in.Collector == nil || in.Remote {
				t.Errorf("a layer above %s: %+v", tool.Name, in)
			}
		}
	}
	if _, detects := p.(ecosystem.Detector); detects && !own { // gates name it
		t.Errorf("no toolchain is called %s", p.Name())
	}
}
