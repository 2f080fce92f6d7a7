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

// Sources is a tree of files in the form in which package image passes it to an installer.
type Sources struct {
	Texts      map[string]string // by path
	Before     *Sources          // files of the base commit; nil means the same files
	Offline    bool              // container.deps is off
	Toolchains []string          // toolchains requested for the image
	Allowed    []string          // packages whose install scripts may run
	Gates      []company.GateCommand
	Notes      []string
	claimed    map[string]bool
}

var _ ecosystem.Sources = (*Sources)(nil)

// HasFile reports whether there is a file of that path.
func (s *Sources) HasFile(file string) bool { _, ok := s.Texts[file]; return ok }

// Files returns all paths, sorted.
func (s *Sources) Files() []string { return slices.Sorted(maps.Keys(s.Texts)) }

// FilesNamed returns the files with one of these names, sorted by depth.
func (s *Sources) FilesNamed(names ...string) []string {
	out := slices.DeleteFunc(s.Files(), func(p string) bool {
		return !slices.Contains(names, path.Base(p)) || !ecosystem.HasOwnLocks(path.Dir(p))
	})
	slices.SortStableFunc(out, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return out
}

// ReadTexts returns the contents of files by path.
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

// Claim marks a manifest as an ecosystem's own.
func (s *Sources) Claim(file string) {
	if s.claimed == nil {
		s.claimed = map[string]bool{}
	}
	s.claimed[file] = true
}

// IsClaimed reports whether an ecosystem has claimed a manifest.
func (s *Sources) IsClaimed(file string) bool { return s.claimed[file] }

// FileID returns an id that represents the text of a file.
func (s *Sources) FileID(file string) string { return fmt.Sprintf("%x", s.Texts[file]) }

// Base returns Before, or the same files if Before is nil.
func (s *Sources) Base() ecosystem.Sources {
	if s.Before == nil {
		return s
	}
	return s.Before
}

// HasToolchain reports whether the image has a toolchain.
func (s *Sources) HasToolchain(name string) bool { return slices.Contains(s.Toolchains, name) }

// IsOffline reports whether fetching is disabled.
func (s *Sources) IsOffline() bool { return s.Offline }

// Scripts returns the packages whose install scripts may run.
func (s *Sources) Scripts() []string { return s.Allowed }

// Checks returns the commands that check the tree.
func (s *Sources) Checks() []company.GateCommand { return s.Gates }

// HashText returns the text itself.
func (s *Sources) HashText(text string) string { return text }

// Places returns the folders for tests.
func (s *Sources) Places() ecosystem.Places {
	return ecosystem.Places{Build: "/opt/out", Deps: "/opt/deps", Workspace: "/work/repo", History: "/opt/repo.git",
		Registry: "http://127.0.0.1:1"}
}

func exerciseInstaller(t *testing.T, installer ecosystem.Installer, fixture Fixture) {
	files := maps.Clone(fixture.Files)
	if fixture.Lock != "" {
		files[fixture.Lock] = fixture.LockText
	}
	sources := &Sources{Texts: files, Toolchains: fixture.Toolchains}
	installs, err := installer.Installs(sources)
	if err != nil || len(installs) == 0 {
		t.Fatalf("%d layers, %v", len(installs), err)
	}
	again, err := installer.Installs(&Sources{Texts: files, Toolchains: fixture.Toolchains})
	if err != nil {
		t.Fatal(err)
	}
	shows := func(install ecosystem.Install) bool {
		if install.Fetch != nil {
			return exerciseFetch(t, install)[fixture.Lock] == fixture.LockText
		}
		return string(install.Locks[fixture.Lock]) == fixture.LockText && !install.Own
	}
	if fixture.Lock != "" && !slices.ContainsFunc(installs, shows) {
		t.Errorf("no layer may fetch what %s names", fixture.Lock)
	}
	for n, install := range installs {
		t.Run(install.Layer, func(t *testing.T) {
			exerciseInstall(t, install, sources.Places())
			if !reflect.DeepEqual(install.Inputs, again[n].Inputs) {
				t.Error("the same files key another layer")
			}
		})
	}
	offline, err := installer.Installs(&Sources{Texts: files, Offline: true, Toolchains: fixture.Toolchains})
	if err != nil || slices.ContainsFunc(offline, func(install ecosystem.Install) bool { return install.Fetch != nil }) {
		t.Errorf("offline it fetches all the same: %+v, %v", offline, err)
	}
	if len(fixture.Blame) == 0 && fixture.Lock != "" {
		t.Error("the fixture has no message of its client")
	}
	for _, message := range fixture.Blame {
		says := func(install ecosystem.Install) bool {
			return slices.ContainsFunc(install.Says.Permanent,
				func(words string) bool { return strings.Contains(message, words) })
		}
		if !slices.ContainsFunc(installs, says) {
			t.Errorf("%q would be tried again", message)
		}
	}
	// The text of a repository is untrusted.
	for name, text := range map[string]string{"nothing": "", "garbage": "\x00{[\xff'\"",
		"depth": strings.Repeat("[", 10_000)} {
		odd := map[string]string{}
		for p := range files {
			odd[p] = text
		}
		if _, err := installer.Installs(&Sources{Texts: odd, Toolchains: fixture.Toolchains}); err != nil {
			t.Errorf("%s for every file: %v", name, err)
		}
	}
	if all, err := installer.Installs(&Sources{}); err != nil ||
		slices.ContainsFunc(all, func(install ecosystem.Install) bool { return !install.Own }) {
		t.Errorf("in nothing: %+v, %v", all, err)
	}
}

// exercisePackager checks that the packages that a tree needs have valid Debian names.
func exercisePackager(t *testing.T, packager ecosystem.Packager, fixture Fixture) {
	got, err := packager.Packages(&Sources{Texts: fixture.Files, Toolchains: fixture.Toolchains})
	if err != nil || strings.Join(got, " ") != fixture.System {
		t.Errorf("packages of the system %q, want %q, %v", got, fixture.System, err)
	}
	for name, text := range map[string]string{"nothing": "", "garbage": "\x00{[\xff'\"(",
		"depth": strings.Repeat("f(", 10_000)} {
		odd := map[string]string{}
		for p := range fixture.Files {
			odd[p] = text
		}
		if got, err := packager.Packages(&Sources{Texts: odd, Toolchains: fixture.Toolchains}); err != nil || len(got) > 0 {
			t.Errorf("%s for every file: %q, %v", name, got, err)
		}
	}
	for _, name := range got {
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.+-") != "" {
			t.Errorf("%q is not a package of Debian's", name)
		}
	}
}

func exerciseInstall(t *testing.T, install ecosystem.Install, places ecosystem.Places) {
	if install.Layer == "" || install.Why == "" || install.What == "" || install.Collector == nil ||
		len(install.Inputs) == 0 ||
		install.Remote && (install.Registry == "" || !install.Runs()) {
		t.Errorf("it says too little: %+v", install)
	}
	for _, stagedFile := range install.Stage {
		if !filepath.IsLocal(stagedFile.Path) {
			t.Errorf("%q is staged", stagedFile.Path)
		}
	}
	for _, step := range install.Steps {
		if step.Command == "" || step.Progress == "" || step.Failure == "" || step.Fix == "" ||
			step.Dir != "." && !filepath.IsLocal(step.Dir) {
			t.Errorf("a step says too little: %+v", step)
		}
	}
	collector, to := install.Collector(), cmp.Or(install.From, places.Deps)
	if install.Fetch != nil {
		to = "/opt" // nothing is staged in the folder of the packages
	}
	for _, entry := range []ecosystem.Entry{{Path: "../../etc/passwd"}, {Path: "node_modules/x/evil", Link: "/etc/passwd"},
		{Path: "node_modules/x/evil", Link: "../../../../../etc/passwd"}, {Path: "staged.txt"}} {
		if item, ok := collector.Place(entry); ok && (entry.Link != "" || !ecosystem.IsWithin(item.Path, to)) {
			t.Errorf("%+v gets the place %+v", entry, item)
		}
	}
	for _, imageFile := range collector.Files() {
		if imageFile.Path == "" || imageFile.Link != "" && !strings.HasPrefix(imageFile.Link, "/") {
			t.Errorf("the file %+v", imageFile)
		}
	}
}

// exerciseFetch fetches a layer on a host without a client. It returns the lock files that were staged for the
// client.
func exerciseFetch(t *testing.T, install ecosystem.Install) map[string]string {
	h := &bareHost{staged: map[string]string{}}
	if err := install.Fetch(t.Context(), h); !errors.Is(err, errNoClient) {
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

// exerciseProvider tests toolchains against the contract that package image relies on.
func exerciseProvider(t *testing.T, provider ecosystem.Provider) {
	own := false
	for _, tool := range provider.Toolchains() {
		own = own || tool.Name == provider.Name()
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
		for _, install := range tool.Above {
			if install.Layer == "" || install.Why == "" || len(install.Steps) == 0 || install.Collector == nil ||
				install.Remote {
				t.Errorf("a layer above %s: %+v", tool.Name, install)
			}
		}
	}
	if _, detects := provider.(ecosystem.Detector); detects && !own { // gates refer to it by this name
		t.Errorf("no toolchain is called %s", provider.Name())
	}
}
