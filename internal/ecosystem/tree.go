package ecosystem

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/lazyregexp"
)

// MaxManifest is the largest manifest that is read, in bytes.
const MaxManifest = 1 << 20

// Bounds of one tree. A commit of a few kilobytes can have the same large manifest in a hundred
// thousand folders.
const (
	maxManifestBytes = 64 << 20 // of all manifests together, each time that one is read
	maxFolders       = 1000     // with a file of one name
	maxNotes         = 200
	maxDepth         = 64 // of folders: none below is the project's own
)

// File is a regular file of a tree.
type File struct {
	Path       string
	Executable bool
	Size       int64
}

// ReadFunc gives the text of files, one call of each after the other.
type ReadFunc func(files []File, each func(f File, text []byte) error) error

// Tree is the regular files of one tree of a repository. It believes nothing of
// their content: what cannot be read is noted. It belongs to one goroutine.
type Tree struct {
	Files   map[string]File     // by path
	Dirs    map[string][]string // names of the files in a folder
	read    ReadFunc
	claimed map[string]bool
	// projects are folders and the ecosystems whose toolchain they need.
	projects  []Component
	notes     []string
	notesLeft int                   // notes that were not kept
	folders   map[string][]string   // what FoldersWith found, by name
	sorted    []string              // all paths; nil until FilesBelow needs them
	textBytes int                   // of all manifests that were read
	yaml      map[string]parsedYAML // the YAML files that were read, by path
	yamlBytes int                   // of all of them
	err       error                 // of the repository, not of what a file says
}

// NewTree is a tree of these files, whose text read gives.
func NewTree(files []File, read ReadFunc) *Tree {
	t := &Tree{Files: map[string]File{}, Dirs: map[string][]string{}, read: read, claimed: map[string]bool{}, folders: map[string][]string{}, yaml: map[string]parsedYAML{}}
	for _, f := range files {
		dir, name := SplitPath(f.Path)
		t.Files[f.Path] = f
		t.Dirs[dir] = append(t.Dirs[dir], name)
	}
	return t
}

// TreeOfTexts is a tree of these files, by their paths.
func TreeOfTexts(texts map[string]string) *Tree {
	var files []File
	for _, p := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, File{Path: p, Size: int64(len(texts[p]))})
	}
	return NewTree(files, func(wanted []File, each func(File, []byte) error) error {
		for _, f := range wanted {
			if err := each(f, []byte(texts[f.Path])); err != nil {
				return err
			}
		}
		return nil
	})
}

// Texts are files that are read by their paths.
type Texts interface {
	Files() []string
	ReadTexts(files []string) (map[string][]byte, error)
}

// TreeOf shows files as detection sees a tree. How large one is, and whether it may be run, is
// not known of them.
func TreeOf(s Texts) *Tree {
	var files []File
	for _, p := range s.Files() {
		files = append(files, File{Path: p, Executable: true})
	}
	return NewTree(files, func(wanted []File, each func(File, []byte) error) error {
		var paths []string
		for _, f := range wanted {
			paths = append(paths, f.Path)
		}
		texts, err := s.ReadTexts(paths)
		if err != nil {
			return err
		}
		for _, f := range wanted {
			if err := each(f, texts[f.Path]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Err is the first failure of the repository; answers after it mean nothing.
func (t *Tree) Err() error { return t.err }

// Notes are what the ecosystems have to say to people.
func (t *Tree) Notes() []string {
	if t.notesLeft == 0 {
		return t.notes
	}
	return append(slices.Clone(t.notes), fmt.Sprintf("%d more notes are left out", t.notesLeft))
}

// AddNote keeps a sentence for people, and each only once. Those beyond maxNotes are counted.
func (t *Tree) AddNote(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	switch {
	case slices.Contains(t.notes, n):
	case len(t.notes) == maxNotes:
		t.notesLeft++
	default:
		t.notes = append(t.notes, n)
	}
}

// Claim says that a manifest is an ecosystem's own: those after it in the
// registry leave it alone.
func (t *Tree) Claim(file string) { t.claimed[file] = true }

// IsClaimed reports whether a manifest belongs to an ecosystem already.
func (t *Tree) IsClaimed(file string) bool { return t.claimed[file] }

// AddProject says that a folder has a project of an ecosystem: it needs the
// toolchain, with checks or without.
func (t *Tree) AddProject(kind, dir string) {
	t.projects = append(t.projects, Component{Kind: kind, Dir: dir})
}

// Projects are those that were added.
func (t *Tree) Projects() []Component { return t.projects }

// HasFile reports whether a folder has a file of that name.
func (t *Tree) HasFile(dir, name string) bool {
	_, ok := t.Files[path.Join(dir, name)]
	return ok
}

// ReadManifest is the text of a file, and empty where there is none or where it
// is too large to be a manifest.
func (t *Tree) ReadManifest(dir, name string) string {
	f, ok := t.Files[path.Join(dir, name)]
	if !ok || t.err != nil {
		return ""
	}
	if f.Size > MaxManifest {
		t.AddNote("%s is not read: it is larger than 1 MiB", PrintablePath(f.Path))
		return ""
	}
	if t.textBytes > maxManifestBytes {
		t.AddNote("manifests behind the first 64 MiB are not read")
		return ""
	}
	var text string
	t.err = t.read([]File{f}, func(_ File, b []byte) error {
		t.textBytes += len(b)
		if len(b) > MaxManifest { // some trees do not know the sizes of their files
			t.AddNote("%s is not read: it is larger than 1 MiB", PrintablePath(f.Path))
			return nil
		}
		text = strings.ToValidUTF8(string(b), "\uFFFD")
		return nil
	})
	return text
}

// NearestWith is the folder, this one or above it, that has such a file.
func (t *Tree) NearestWith(dir, name string) (string, bool) {
	for {
		if t.HasFile(dir, name) {
			return dir, true
		}
		if dir == "" {
			return "", false
		}
		dir, _ = SplitPath(dir)
	}
}

// FoldersWith returns the folders that hold a file of that name, at most maxFolders, the shallow
// ones first. Folders of copies, of data and of examples do not count.
func (t *Tree) FoldersWith(name string) []string {
	if found, ok := t.folders[name]; ok {
		return slices.Clone(found)
	}
	var out []string
	for p := range t.Files {
		if dir, base := SplitPath(p); base == name && !IsForeignDir(dir) {
			out = append(out, dir)
		}
	}
	slices.SortFunc(out, CompareDepth)
	if len(out) > maxFolders {
		t.AddNote("%d folders have a %s: the first %d are looked at", len(out), name, maxFolders)
		out = out[:maxFolders]
	}
	t.folders[name] = out
	return slices.Clone(out)
}

// FilesBelow returns the paths of the files in or below a folder, sorted. It costs no more than
// these are, so each of many folders may be asked for. Callers must not change the result.
func (t *Tree) FilesBelow(dir string) []string {
	if t.sorted == nil {
		t.sorted = slices.Sorted(maps.Keys(t.Files))
	}
	return SelectBelow(t.sorted, dir)
}

// SelectBelow returns those of sorted paths that lie in or below a folder; "" and "." are the root.
func SelectBelow(sorted []string, dir string) []string {
	if dir == "" || dir == "." {
		return sorted
	}
	from, _ := slices.BinarySearch(sorted, dir+"/")
	to, _ := slices.BinarySearch(sorted, dir+"0") // 0 is the sign behind the slash
	return sorted[from:to]
}

// HasBelow reports whether there is a file with one of these endings in or below a
// folder.
func (t *Tree) HasBelow(dir string, endings ...string) bool {
	return slices.ContainsFunc(t.FilesBelow(dir), func(p string) bool {
		return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(p, e) })
	})
}

// errFound ends a search.
var errFound = errors.New("ecosystem: found")

// ReadTexts gives the text of files, one after the other. What fails stays in Err.
func (t *Tree) ReadTexts(files []File, each func(f File, text []byte)) {
	if len(files) == 0 || t.err != nil {
		return
	}
	t.err = t.read(files, func(f File, text []byte) error {
		each(f, text)
		return nil
	})
}

// AnyMatches reports whether one of the files matches.
func (t *Tree) AnyMatches(files []File, what *lazyregexp.Regexp) bool {
	if len(files) == 0 || t.err != nil {
		return false
	}
	err := t.read(files, func(_ File, text []byte) error {
		if what.Match(text) {
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		t.err = err
	}
	return errors.Is(err, errFound)
}

// Makefiles are the files that make reads, or may include: a check of any
// ecosystem may be called by one.
func (t *Tree) Makefiles() []File {
	var out []File
	for p, f := range t.Files {
		_, name := SplitPath(p)
		if strings.HasPrefix(strings.ToLower(name), "makefile") || name == "GNUmakefile" || strings.HasSuffix(name, ".mk") || strings.HasSuffix(name, ".mak") {
			out = append(out, f)
		}
	}
	return out
}

// Covering is the first component whose folder holds dir, or nil.
func Covering(parts []Component, dir string) *Component {
	for i := range parts {
		if IsUnder(dir, parts[i].Dir) {
			return &parts[i]
		}
	}
	return nil
}

// IsForeignDir reports whether a folder holds files that are not the project's
// own.
func IsForeignDir(dir string) bool {
	if Depth(dir) > maxDepth {
		return true
	}
	for p := range strings.SplitSeq(dir, "/") {
		switch p {
		case "node_modules", "vendor", "third_party", "third-party", "thirdparty", "3rdparty", "external", "externals", "extern", "subprojects", "testdata", "fixtures", "__fixtures__", "examples", "example", "templates", "target", "dist", "build":
			return true
		}
		if len(p) > 0 && (p[0] == '.' || p[0] == '_') {
			return true
		}
	}
	return PrintablePath(dir) != dir // a shell and a person must be able to say it
}

// IsForeignToTests is IsForeignDir for a folder of tests: __tests__ holds the project's own, as far as tests go.
func IsForeignToTests(dir string) bool {
	return IsForeignDir(strings.ReplaceAll(dir, "__tests__", "tests"))
}

// SplitPath is the folder of a path, "" for the root, and the name in it.
func SplitPath(p string) (dir, name string) {
	dir, name = path.Split(p)
	return strings.TrimSuffix(dir, "/"), name
}

// Depth is how far a folder lies below the root.
func Depth(dir string) int {
	if dir == "" {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

// CompareDepth orders folders: the upper ones first, then by name.
func CompareDepth(a, b string) int {
	if d := Depth(a) - Depth(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// IsUnder reports whether dir is parent or lies below it.
func IsUnder(dir, parent string) bool {
	return parent == "" || dir == parent || strings.HasPrefix(dir, parent+"/")
}

// PrintablePath is a path as a note may hold it.
func PrintablePath(p string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(p, "\uFFFD"))
}

// DisplayDir is a folder as a note names it.
func DisplayDir(dir string) string {
	if dir == "" {
		return "the root"
	}
	return PrintablePath(dir)
}
