package ecosystem

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/lazyregexp"
)

// Installer is an ecosystem whose client puts the packages that lock files name
// into an image.
type Installer interface {
	Ecosystem
	// Installs are the layers for a tree, in the order in which they are made.
	// Packages that are left out are noted.
	Installs(s Sources) ([]Install, error)
}

// Packager is an ecosystem whose projects ask the system for libraries and programs,
// which Debian has.
type Packager interface {
	Ecosystem
	// Packages are the Debian packages that the files of a tree ask for. They are of
	// lists that the ecosystem has, and never names out of the tree. What is left out
	// is noted.
	Packages(s Sources) ([]string, error)
}

// Substituter is an ecosystem of whose packages Debian has some, too.
type Substituter interface {
	Ecosystem
	// Substitutes are the Debian packages that stand for those that a tree asks a registry for, where that one is not to
	// be asked. They are of lists that the ecosystem has, and never names out of the tree.
	Substitutes(s Sources) (registry string, packages []string, err error)
}

// Sources are the files of a tree whose packages go into an image, and the
// places of the image.
type Sources interface {
	// HasFile reports whether there is a file of that path.
	HasFile(path string) bool
	// Files are all files of the tree whose paths are text, sorted.
	Files() []string
	// FilesNamed are the files with one of these names that are the project's
	// own, those nearest to the root first.
	FilesNamed(names ...string) []string
	// FileID is the object id of a file: its content, without a look at it.
	FileID(path string) string
	// Base are the files of the commit that the image has the history of; the same
	// where the lock files are of that commit.
	Base() Sources
	// HasToolchain says whether the image is asked for a toolchain, too.
	HasToolchain(name string) bool
	// IsOffline says that nothing is fetched: container.deps is off.
	IsOffline() bool
	// Scripts are the packages whose install scripts may run.
	Scripts() []string
	// Checks are the commands that judge the tree; none: they are not known.
	Checks() []company.GateCommand
	// ReadTexts gives files, path to content; one that is too large is an error.
	ReadTexts(paths []string) (map[string][]byte, error)
	// AddNote tells people what the image does not have.
	AddNote(format string, args ...any)
	// Claim says that a manifest is an ecosystem's own, and IsClaimed whether
	// one before it in the catalog has claimed it.
	Claim(path string)
	IsClaimed(path string) bool
	Places() Places
	// HashText stands for a text in the inputs of a layer.
	HashText(text string) string
}

// Places are folders of a build container, and of the image.
type Places struct {
	Build     string // where staged files lie and steps run
	Deps      string // what dependencies lie below, in the image
	Workspace string // where the tree lies in a worker's container
	History   string // where the history of the base commit lies, in the image
	Registry  string // address at which registries are served: http://127.0.0.1:8377
}

// Install is one layer of packages: what a client is shown, how it is run in a
// locked container that reaches registries alone, and what of its work goes
// into the image. Without steps it is the files of its collector.
type Install struct {
	Layer    string            // its kind
	Why      string            // its source, for people
	What     string            // the missing part where it cannot be made
	Registry string            // whose packages it has: NPM, …
	Remote   bool              // some package comes from that registry
	Locks    map[string][]byte // path → content: what may be fetched
	// Ahead are packages of the locks that the client will ask for on this system: they
	// are fetched while its container starts. Those of other systems are left to it.
	Ahead []company.Dependency
	// Own says that the locks are not those that a task may change: what it has
	// added does not count for them.
	Own    bool
	Inputs []string // key the layer
	Stage  []StagedFile
	Steps  []Step
	Says   Words
	// From is the folder whose files the collector is asked about; the steps may
	// write to it. Empty: Places.Build.
	From      string
	Collector func() Collector
	Spare     bool      // no check needs the packages: the image is good without them. Package image sets it
	ReadOnly  bool      // not even their owner may write to the files
	Time      time.Time // of the files; zero: that of all layers
	Env       Env       // of the image
	// History: the steps see the history of the base commit where the image will
	// have it, Places.History. The layer is the project's alone.
	History bool
	// IfKilled tells people what is missing where the container itself is killed, for
	// memory: the layer has what was kept until then, or nothing. Empty: there is no
	// image then.
	IfKilled string
	// Resume says how an interrupted layer goes on at the next try. Nil: it begins anew.
	Resume *Resume
	// Fetch fills a folder of this host in place of steps, where a client needs the
	// operator's own settings.
	Fetch func(ctx context.Context, h FetchHost) error
}

// Resume says how what the steps of a layer have made is kept while they run.
type Resume struct {
	Save  string // a command, run beside the steps, that copies new files to Places.Build
	Clear string // a command that removes them there again
	From  string // where the steps find the files of an interrupted try
}

// Resolver is an ecosystem whose client can make the lock files that a tree lacks.
type Resolver interface {
	Ecosystem
	// Resolutions are the lock files to make.
	Resolutions(s Sources) ([]Resolution, error)
}

// Resolution is a run of a client that makes a lock file. What it asks for may be
// fetched with all that it needs, in any version that the client chooses.
type Resolution struct {
	Lock     string // the file, in the tree and below Places.Build
	Manifest string // for people: what has no lock file
	ToKeep   string // the command by which a person makes the file
	Wants    []company.Dependency
	Clients  []Install // layers that the step needs beside the toolchains
	Stage    []StagedFile
	Step     Step
	Says     Words
	// Restore gives a lock file that was made anew the addresses that its two sides have,
	// in place of those of Places.Registry. Nil: it has none.
	Restore func(made []byte, sides ...[]byte) []byte
}

// Runs tells whether a layer is more than files that are known beforehand.
func (in Install) Runs() bool { return len(in.Steps) > 0 || in.Fetch != nil }

// FetchHost is this host, where a client of its own fetches packages: a folder with
// lock files and nothing else of the project.
type FetchHost interface {
	// Stage writes the texts of lock files below Places().Source, and refuses
	// packages by their names that are not for this repository.
	Stage(files map[string][]byte) error
	// Write writes a file of the client's below Places().Home.
	Write(name string, text []byte) error
	// Ask gives the answer of a program in the operator's own environment and these
	// variables, where no file of the project can steer it.
	Ask(ctx context.Context, env []string, argv ...string) (string, error)
	// Run does the same in a folder, with an environment that is given whole.
	Run(ctx context.Context, dir string, env []string, argv ...string) (string, error)
	// Getenv is a variable of the operator's.
	Getenv(name string) (value string, ok bool)
	// Unpack gets a file of the registry, a .tar.gz that it names a digest of, and
	// unpacks it into a folder below Places().Out, without the folder at its top.
	Unpack(ctx context.Context, file, dir string) error
	// ReportProgress tells people what takes time, and Log keeps an error of a part
	// that others do without.
	ReportProgress(format string, args ...any)
	Log(ctx context.Context, message string, err error)
	// Explain gives a client's failure with the reason why packages were refused to
	// it, which clients do not always show. One that Fetch returns is explained.
	Explain(ctx context.Context, err error) error
	Places() FetchPlaces
}

// FetchPlaces are folders of this host while its client works.
type FetchPlaces struct {
	Source string // the staged files
	Home   string // a home directory of its own, around them
	Out    string // what goes into the layer
	User   string // the operator's home directory; empty: there is none
	// Mirror serves what may be had, at an address for this client alone; empty: the
	// registries of the operator are asked.
	Mirror    string
	UseLogins bool // the operator's passwords may be used
	// Toolchain is the tree of the toolchain where the image has another version than
	// this host; empty: the host's own.
	Toolchain string
}

// Words are parts of the messages of a failing client.
type Words struct {
	Permanent []string // where one stands, no second try helps
	Telling   []string // a line that begins so says most; the best first
	Usage     string   // a line that begins so says nothing: how the client is called
	Remedies  []Remedy // where one fits, it is better than what the step advises
}

// Remedy is a person's next step after a failure whose message has this text.
type Remedy struct {
	Says string
	Fix  string
}

// FindRemedy is the remedy of what a client has printed, or the usual one.
func (w Words) FindRemedy(text, usual string) string {
	for _, r := range w.Remedies {
		if strings.Contains(text, r.Says) {
			return r.Fix
		}
	}
	return usual
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
	// Resumes: what the step makes is kept while it runs, as Install.Resume says.
	Resumes bool
	// MayLack: the client does without what a registry that is away does not have. Another
	// one is ended when its registry is away.
	MayLack bool
	// Excuse says for people how it failed where the image is good all the same; nil:
	// no failure is.
	Excuse func(exit int) string
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

// Noter is a Collector that tells what the layer lacks: what could not be had and
// was left out. The image keeps the notes, for each task that it serves.
type Noter interface {
	Collector
	// Notes are asked for when every entry has been seen.
	Notes() []string
}

// ImageFile is a small file, or a link, of the image.
type ImageFile struct {
	Path string // without a slash at the start
	Text []byte
	Link string
	Dir  bool // it is an empty folder
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

var plainPathRE = lazyregexp.New(`^[A-Za-z0-9._][A-Za-z0-9._/@+-]*$`)

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
	if Depth(dir) > maxDepth {
		return false
	}
	for part := range strings.SplitSeq(dir, "/") {
		if slices.Contains(copiedDirs, part) || part != "." && strings.HasPrefix(part, ".") {
			return false
		}
	}
	return true
}
