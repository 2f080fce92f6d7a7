package ecosystem

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
)

// MaxManifest is the size limit of a manifest, in bytes.
const MaxManifest = 1 << 20

// Limits for one tree. A commit of a few kilobytes can have the same large manifest in a hundred thousand folders.
const (
	maxManifestBytes = 64 << 20 // total of all manifests; repeated reads count again
	maxFolders       = 1000     // that hold a file of one name
	maxNotes         = 200
	maxDepth         = 64 // of folders; deeper ones are not the project's own
)

// File is a regular file of a tree.
type File struct {
	Path       string
	Executable bool
	Size       int64
}

// ReadFunc calls each with the text of every file, one at a time.
type ReadFunc func(files []File, each func(f File, text []byte) error) error

// Tree holds the regular files of one tree of a repository. File contents are untrusted, and unreadable ones are
// noted. A Tree must be used by one goroutine only.
type Tree struct {
	Files   map[string]File     // by path
	Dirs    map[string][]string // folder → names of its files
	read    ReadFunc
	claimed map[string]bool
	// projects lists folders with the ecosystems whose toolchain they need.
	projects  []Component
	notes     []string
	notesLeft int                   // number of notes that were not kept
	folders   map[string][]string   // results of FoldersWith, by name
	sorted    []string              // all paths; nil until FilesBelow needs them
	textBytes int                   // total size of all manifests that were read
	yaml      map[string]parsedYAML // parsed YAML files, by path
	yamlBytes int                   // total size of the YAML files that were read
	err       error                 // an error of the repository, not of a file's contents
}

// NewTree returns a tree of these files. read returns their texts.
func NewTree(files []File, read ReadFunc) *Tree {
	tree := &Tree{Files: map[string]File{}, Dirs: map[string][]string{}, read: read, claimed: map[string]bool{},
		folders: map[string][]string{}, yaml: map[string]parsedYAML{}}
	for _, file := range files {
		dir, name := SplitPath(file.Path)
		tree.Files[file.Path] = file
		tree.Dirs[dir] = append(tree.Dirs[dir], name)
	}
	return tree
}

// TreeOfTexts returns a tree of these texts, keyed by path.
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

// Texts holds files that are read by path.
type Texts interface {
	Files() []string
	ReadTexts(files []string) (map[string][]byte, error)
}

// TreeOf returns a tree of the files in s. Their sizes are unknown, and all of them count as executable.
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

// Err returns the first error from reading the repository. After an error, all other answers are invalid.
func (t *Tree) Err() error { return t.err }

// Notes returns the notes of the ecosystems for users.
func (t *Tree) Notes() []string {
	if t.notesLeft == 0 {
		return t.notes
	}
	return append(slices.Clone(t.notes), fmt.Sprintf("%d more notes are left out", t.notesLeft))
}

// AddNote keeps a note for users. It drops duplicates, and only counts notes beyond maxNotes.
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

// Claim marks a manifest as an ecosystem's own. Later ecosystems in the catalog ignore it.
func (t *Tree) Claim(file string) { t.claimed[file] = true }

// IsClaimed reports whether an ecosystem has claimed a manifest.
func (t *Tree) IsClaimed(file string) bool { return t.claimed[file] }

// AddProject records that a folder has a project of an ecosystem. The project needs the toolchain even without
// checks.
func (t *Tree) AddProject(kind, dir string) {
	t.projects = append(t.projects, Component{Kind: kind, Dir: dir})
}

// Projects returns the projects from AddProject.
func (t *Tree) Projects() []Component { return t.projects }

// HasFile reports whether a folder has a file of that name.
func (t *Tree) HasFile(dir, name string) bool {
	_, ok := t.Files[path.Join(dir, name)]
	return ok
}

// ReadManifest returns the text of a file. It returns "" if the file is missing or too large for a manifest.
func (t *Tree) ReadManifest(dir, name string) string {
	file, ok := t.Files[path.Join(dir, name)]
	if !ok || t.err != nil {
		return ""
	}
	if file.Size > MaxManifest {
		t.AddNote("%s is not read: it is larger than 1 MiB", PrintablePath(file.Path))
		return ""
	}
	if t.textBytes > maxManifestBytes {
		t.AddNote("manifests behind the first 64 MiB are not read")
		return ""
	}
	var text string
	t.err = t.read([]File{file}, func(_ File, b []byte) error {
		t.textBytes += len(b)
		if len(b) > MaxManifest { // some trees do not know the sizes of their files
			t.AddNote("%s is not read: it is larger than 1 MiB", PrintablePath(file.Path))
			return nil
		}
		text = strings.ToValidUTF8(string(b), "\uFFFD")
		return nil
	})
	return text
}

// NearestWith returns the nearest folder with such a file: dir or one of its parents.
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

// FilesBelow returns the paths of the files in or below a folder, sorted. Its cost depends only on the size of the
// result, so it may be called for each of many folders. Callers must not change the result.
func (t *Tree) FilesBelow(dir string) []string {
	if t.sorted == nil {
		t.sorted = slices.Sorted(maps.Keys(t.Files))
	}
	return SelectBelow(t.sorted, dir)
}

// SelectBelow returns the sorted paths that are in or below a folder. "" and "." are the root.
func SelectBelow(sorted []string, dir string) []string {
	if dir == "" || dir == "." {
		return sorted
	}
	from, _ := slices.BinarySearch(sorted, dir+"/")
	to, _ := slices.BinarySearch(sorted, dir+"0") // 0 follows the slash in ASCII
	return sorted[from:to]
}

// HasBelow reports whether a file in or below a folder has one of these endings.
func (t *Tree) HasBelow(dir string, endings ...string) bool {
	return slices.ContainsFunc(t.FilesBelow(dir), func(p string) bool {
		return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(p, e) })
	})
}

// errFound stops a search.
var errFound = errors.New("ecosystem: found")

// ReadTexts calls each with the text of every file. An error is kept in Err.
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

// Makefiles returns the files that make reads or may include. Such a file may run a check of any ecosystem.
func (t *Tree) Makefiles() []File {
	var out []File
	for p, file := range t.Files {
		_, name := SplitPath(p)
		if strings.HasPrefix(strings.ToLower(name), "makefile") || name == "GNUmakefile" || strings.HasSuffix(name, ".mk") ||
			strings.HasSuffix(name, ".mak") {
			out = append(out, file)
		}
	}
	return out
}

// Covering returns the first component whose folder contains dir, or nil.
func Covering(parts []Component, dir string) *Component {
	for i := range parts {
		if IsUnder(dir, parts[i].Dir) {
			return &parts[i]
		}
	}
	return nil
}

// IsForeignDir reports whether the files in a folder are not the project's own.
func IsForeignDir(dir string) bool {
	if Depth(dir) > maxDepth {
		return true
	}
	for p := range strings.SplitSeq(dir, "/") {
		switch p {
		case "node_modules", "vendor", "third_party", "third-party", "thirdparty", "3rdparty", "external", "externals",
			"extern", "subprojects", "testdata", "fixtures", "__fixtures__", "examples", "example", "templates", "target",
			"dist", "build":
			return true
		}
		if len(p) > 0 && (p[0] == '.' || p[0] == '_') {
			return true
		}
	}
	return PrintablePath(dir) != dir // shells and users must be able to write the path
}

// IsForeignToTests is like IsForeignDir, but for tests. It accepts __tests__, because tests in it are the project's
// own.
func IsForeignToTests(dir string) bool {
	return IsForeignDir(strings.ReplaceAll(dir, "__tests__", "tests"))
}

// SplitPath returns the folder of a path and the name in it. The root is "".
func SplitPath(p string) (dir, name string) {
	dir, name = path.Split(p)
	return strings.TrimSuffix(dir, "/"), name
}

// Depth returns how many levels a folder is below the root.
func Depth(dir string) int {
	if dir == "" {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

// CompareDepth orders folders by depth, then by name.
func CompareDepth(a, b string) int {
	if d := Depth(a) - Depth(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// IsUnder reports whether dir is parent or is below it.
func IsUnder(dir, parent string) bool {
	return parent == "" || dir == parent || strings.HasPrefix(dir, parent+"/")
}

// PrintablePath returns a path with unprintable characters replaced, for use in notes.
func PrintablePath(p string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(p, "\uFFFD"))
}

// DisplayDir returns the name of a folder for notes.
func DisplayDir(dir string) string {
	if dir == "" {
		return "the root"
	}
	return PrintablePath(dir)
}
