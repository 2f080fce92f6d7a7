package ecosystem

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Installer is an ecosystem whose client puts the packages that lock files name
// into an image.
type Installer interface {
	Ecosystem
	// Installs are the layers for a tree, in the order in which they are made.
	// What is not installed is noted.
	Installs(s Sources) ([]Install, error)
}

// Sources are the files of a tree whose packages go into an image, and the
// places of the image.
type Sources interface {
	// HasFile reports whether there is a file of that path.
	HasFile(path string) bool
	// Files are all files of the tree whose paths are text, sorted.
	Files() []string
	// FilesNamed are the files with one of these names that are the project's
	// own, what is nearest to the root first.
	FilesNamed(names ...string) []string
	// ReadTexts gives files, path to content; one that is too large is an error.
	ReadTexts(paths []string) (map[string][]byte, error)
	// AddNote tells people what the image does not have.
	AddNote(format string, args ...any)
	// Claim says that a manifest is an ecosystem's own, and IsClaimed whether
	// one before it in the registry has said so.
	Claim(path string)
	IsClaimed(path string) bool
	Places() Places
	// HashText stands for a text in the inputs of a layer.
	HashText(text string) string
}

// Places are where things lie while a layer is made, and in the image.
type Places struct {
	Build     string // where staged files lie and steps run
	Deps      string // what dependencies lie below, in the image
	Workspace string // where the tree lies in a worker's container
	Registry  string // address at which registries are served: http://127.0.0.1:8377
}

// Install is one layer of packages: what a client is shown, how it is run in a
// locked container that reaches registries alone, and what of its work goes
// into the image. Without steps it is the files of its collector.
type Install struct {
	Layer    string            // its kind
	Why      string            // what it is made from, in words
	What     string            // what is missing where it cannot be made
	Registry string            // whose packages it has: NPM, …
	Remote   bool              // some package comes from that registry
	Locks    map[string][]byte // path → content: what may be fetched
	// Own says that the locks are the company's, and not the project's: what a
	// task has added does not change them.
	Own    bool
	Inputs []string // key the layer
	Stage  []StagedFile
	Steps  []Step
	Says   Words
	// From is the folder whose files the collector is asked about; the steps may
	// write to it. Empty: Places.Build.
	From      string
	Collector func() Collector
	Env       map[string]string // of the image
	Path      string            // a folder that goes first on the PATH of the image
}

// Words are what a client says when it fails.
type Words struct {
	Permanent []string // where one stands, no second try helps
	Telling   []string // a line that begins so says most; the best first
}

// StagedFile is a file of a build container, below Places.Build.
type StagedFile struct {
	Path string
	Text []byte
}

// Step is one run of a client.
type Step struct {
	Dir, Command string
	Env          map[string]string
	Progress     string // what it does, for people
	Failure, Fix string // where it fails
}

// Entry is a file, folder or link of what the steps left, or of the image.
type Entry struct {
	Path string // below Install.From, or below the root of the image
	Link string // target of a link
}

// Collector says what of a build container goes into the image.
type Collector interface {
	// Place gives an entry its place in the image; not ok: it has none.
	Place(e Entry) (_ Entry, ok bool)
	// Files are written when every entry has been seen.
	Files() []ImageFile
}

// ImageFile is a small file, or a link, of the image.
type ImageFile struct {
	Path string // without a slash at the start
	Text []byte
	Link string
}

// MaxProjects bounds the lock files of one kind that are installed.
const MaxProjects = 16

// LimitProjects is the first MaxProjects of a list; that there are more is noted.
func LimitProjects(s Sources, all []string, are string) []string {
	if len(all) > MaxProjects {
		s.AddNote("only the first %d of %d %s", MaxProjects, len(all), are)
		all = all[:MaxProjects]
	}
	return all
}

// LockPaths names a lock file of some directories.
func LockPaths(dirs []string, file string) string {
	const most = 4
	var out []string
	for i, d := range dirs {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(dirs)-most))
			break
		}
		out = append(out, path.Join(d, file))
	}
	return strings.Join(out, ", ")
}

// ReadText gives one file.
func ReadText(s Sources, name string) ([]byte, error) {
	texts, err := s.ReadTexts([]string{name})
	return texts[name], err
}

// IsWithin tells whether a directory is another or lies below it; "." is the
// root.
func IsWithin(dir, top string) bool {
	return top == "." || dir == top || strings.HasPrefix(dir, top+"/")
}

var plainPathRE = regexp.MustCompile(`^[A-Za-z0-9._][A-Za-z0-9._/@+-]*$`)

// IsPlainPath tells a path that may stand in a script.
func IsPlainPath(p string) bool { return plainPathRE.MatchString(p) }

// IsTextPath tells a path of printable text.
func IsTextPath(p string) bool {
	return utf8.ValidString(p) && !strings.ContainsFunc(p, unicode.IsControl)
}

// copiedDirs hold other projects, and material of tests.
var copiedDirs = []string{"node_modules", "vendor", "third_party", "testdata", "fixtures", "__fixtures__", "site-packages"}

// HasOwnLocks tells whether lock files in a directory are the project's own, and
// no copies.
func HasOwnLocks(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		if slices.Contains(copiedDirs, part) || part != "." && strings.HasPrefix(part, ".") {
			return false
		}
	}
	return true
}
