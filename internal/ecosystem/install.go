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
	"company/internal/lib/lazyregexp"
)

// Installer is an ecosystem whose client installs the packages of lock files into an image.
type Installer interface {
	Ecosystem
	// Installs returns the layers for a tree in the order in which they are made. It adds a note for packages that it
	// leaves out.
	Installs(s Sources) ([]Install, error)
}

// Packager is an ecosystem whose projects need system libraries and programs that Debian has.
type Packager interface {
	Ecosystem
	// Packages returns the Debian packages that the files of a tree need. They come from the ecosystem's own lists,
	// never from names in the tree. It adds a note for names that it leaves out.
	Packages(s Sources) ([]string, error)
}

// Substituter is an ecosystem for which Debian has some of the packages, too.
type Substituter interface {
	Ecosystem
	// Substitutes returns Debian packages that replace the tree's packages of a registry when that registry must not
	// be used. They come from the ecosystem's own lists, never from names in the tree.
	Substitutes(s Sources) (registry string, packages []string, err error)
}

// Sources holds the files of a tree whose packages go into an image, and the folders of the image.
type Sources interface {
	// HasFile reports whether there is a file of that path.
	HasFile(path string) bool
	// Files returns all files of the tree whose paths are printable text, sorted.
	Files() []string
	// FilesNamed returns the project's own files with one of these names, the ones nearest to the root first.
	FilesNamed(names ...string) []string
	// FileID returns the object id of a file, which identifies its content without reading it.
	FileID(path string) string
	// Base returns the files of the commit whose history the image has. It returns the same Sources if the lock files
	// are from that commit.
	Base() Sources
	// HasToolchain reports whether a toolchain is also requested for the image.
	HasToolchain(name string) bool
	// IsOffline reports whether fetching is disabled, because container.deps is off.
	IsOffline() bool
	// Scripts lists the packages whose install scripts may run.
	Scripts() []string
	// Checks returns the commands that check the tree. An empty list means that they are unknown.
	Checks() []company.GateCommand
	// ReadTexts returns the contents of files by path. A file that is too large is an error.
	ReadTexts(paths []string) (map[string][]byte, error)
	// AddNote records for users that the image lacks something.
	AddNote(format string, args ...any)
	// Claim marks a manifest as an ecosystem's own. IsClaimed reports whether an earlier ecosystem in the catalog has
	// claimed it.
	Claim(path string)
	IsClaimed(path string) bool
	Places() Places
	// HashText returns a hash that represents a text in the inputs of a layer.
	HashText(text string) string
}

// Places holds the paths of folders in a build container and in the image.
type Places struct {
	Build     string // where staged files are put and steps run
	Deps      string // the parent of installed dependencies, in the image
	Workspace string // the tree in a worker's container
	History   string // the history of the base commit, in the image
	Registry  string // the address at which registries are served: http://127.0.0.1:8377
}

// Install is one layer of packages. It holds the client's input files, the steps, and the selection of files for the
// image. The steps run in a locked container that can reach only registries. Without steps, the layer holds only the
// files of its collector.
type Install struct {
	Layer    string            // the layer's kind
	Why      string            // its source, for users
	What     string            // the part that is missing if the layer cannot be made
	Registry string            // the registry of its packages: NPM, …
	Remote   bool              // some package comes from that registry
	Locks    map[string][]byte // path → content; the packages that may be fetched
	// Ahead lists packages of the locks that the client will request on this system. They are fetched while its
	// container starts. The client itself requests packages of other systems.
	Ahead []company.Dependency
	// Own means that a task cannot change the locks. Packages that a task added do not count for them.
	Own    bool
	Inputs []string // part of the layer's key
	Stage  []StagedFile
	Steps  []Step
	Says   Words
	// From is the folder whose files are passed to the collector. The steps may write to it. If empty, it is
	// Places.Build.
	From      string
	Collector func() Collector
	Spare     bool      // no check needs the packages, so the image works without them; set by package image
	ReadOnly  bool      // not even the owner may write to the files
	Time      time.Time // the files' time; if zero, the time that all layers use
	Env       Env       // the image's environment
	// History gives the steps the history of the base commit at Places.History, as in the image. The layer then belongs
	// to this project only.
	History bool
	// IfKilled tells users what the image lacks if the container is killed for lack of memory. The layer then holds the
	// files that were kept so far, if any. If it is empty, no image is made in that case.
	IfKilled string
	// Resume defines how an interrupted layer continues at the next try. A nil Resume means that the layer starts over.
	Resume *Resume
	// Fetch fills a folder of this host instead of running steps. It is for clients that need the operator's own
	// settings.
	Fetch func(ctx context.Context, h FetchHost) error
}

// Resume defines how the results of a layer's steps are saved while they run.
type Resume struct {
	Save  string // a command that runs beside the steps and copies new files to Places.Build
	Clear string // a command that removes these copies
	From  string // where the steps find the files of an interrupted try
}

// Resolver is an ecosystem whose client can make the lock files that a tree lacks.
type Resolver interface {
	Ecosystem
	// Resolutions returns the lock files to make.
	Resolutions(s Sources) ([]Resolution, error)
}

// Resolution is a run of a client that makes a lock file. The requested packages and all their dependencies may be
// fetched, in any version that the client chooses.
type Resolution struct {
	Lock     string // the file, in the tree and below Places.Build
	Manifest string // the manifest that has no lock file, for messages
	ToKeep   string // the command with which a user makes the file
	Wants    []company.Dependency
	Clients  []Install // layers that the step needs in addition to the toolchains
	Stage    []StagedFile
	Step     Step
	Says     Words
	// Restore replaces addresses of Places.Registry in a new lock file with the addresses from the two merged sides. A
	// nil Restore means that there are none to replace.
	Restore func(made []byte, sides ...[]byte) []byte
}

// Runs reports whether making the layer runs a client, on this host or in a container.
func (in Install) Runs() bool { return len(in.Steps) > 0 || in.Fetch != nil }

// FetchHost gives a client on this host a folder that holds the lock files and no other file of the project.
type FetchHost interface {
	// Stage writes the texts of lock files below Places().Source. It refuses package names that this repository may not
	// use.
	Stage(files map[string][]byte) error
	// Write writes a file of the client below Places().Home.
	Write(name string, text []byte) error
	// Ask returns the output of a program. It runs in the operator's environment with these variables added, in a place
	// where no file of the project can influence it.
	Ask(ctx context.Context, env []string, argv ...string) (string, error)
	// Run returns the output of a program that runs in a folder. env is its complete environment.
	Run(ctx context.Context, dir string, env []string, argv ...string) (string, error)
	// Getenv returns one of the operator's environment variables.
	Getenv(name string) (value string, ok bool)
	// Unpack fetches a .tar.gz file for which the registry has a digest. It unpacks the file into a folder below
	// Places().Out and drops the top folder.
	Unpack(ctx context.Context, file, dir string) error
	// ReportProgress tells users which step takes time. Log records the error of an optional step.
	ReportProgress(format string, args ...any)
	Log(ctx context.Context, message string, err error)
	// Explain adds to a client's error the reason why packages were refused, because clients do not always show it.
	// Errors that Fetch returns are explained automatically.
	Explain(ctx context.Context, err error) error
	Places() FetchPlaces
}

// FetchPlaces holds the folders of this host that its client uses.
type FetchPlaces struct {
	Source string // the staged files
	Home   string // the client's own home directory, which contains the others
	Out    string // the files of the layer
	User   string // the operator's home directory; "" if there is none
	// Mirror is an address, for this client only, that serves the permitted packages. If it is empty, the operator's
	// registries are used.
	Mirror    string
	UseLogins bool // the operator's passwords may be used
	// Toolchain is the path of the toolchain if the image has another version than this host. If it is empty, the host's
	// own toolchain is used.
	Toolchain string
}

// Words holds text patterns for the messages of a failing client.
type Words struct {
	Permanent []string // if one occurs, a retry cannot help
	Telling   []string // prefixes of the most useful lines, the best first
	Usage     string   // the prefix of a usage line, which is ignored
	Remedies  []Remedy // a matching remedy replaces the step's own advice
}

// Remedy is the next step for a user if a failure message contains the text Says.
type Remedy struct {
	Says string
	Fix  string
}

// FindRemedy returns the fix of the first remedy that matches a client's output, or the usual fix.
func (w Words) FindRemedy(text, usual string) string {
	for _, remedy := range w.Remedies {
		if strings.Contains(text, remedy.Says) {
			return remedy.Fix
		}
	}
	return usual
}

// StagedFile is a file of a build container, below Places.Build.
type StagedFile struct {
	Path string
	Text []byte
}

// Step is one command of a client.
type Step struct {
	Dir, Command string
	Env          map[string]string
	Progress     string // a description for users
	Failure, Fix string // the message and advice if it fails
	// Resumes means that the step's results are saved while it runs, as Install.Resume defines.
	Resumes bool
	// MayLack means that the client can skip packages of an unreachable registry. Other steps are stopped if their
	// registry is unreachable.
	MayLack bool
	// Excuse describes a failure after which the image is still usable. A nil Excuse means that every failure counts.
	Excuse func(exit int) string
}

// Entry is a file, folder or link that the steps left behind or that the image has.
type Entry struct {
	Path string // below Install.From, or below the root of the image
	Link string // target of a link
}

// Collector selects the files of a build container that go into the image.
type Collector interface {
	// Place returns the entry's place in the image. It returns false if the entry is left out.
	Place(e Entry) (_ Entry, ok bool)
	// Files returns further files to write. It is called after every entry has been seen.
	Files() []ImageFile
}

// Noter is a Collector that lists packages that were unavailable and left out of the layer. The image keeps the notes
// for each task that uses it.
type Noter interface {
	Collector
	// Notes returns the notes. It is called after every entry has been seen.
	Notes() []string
}

// ImageFile is a small file, or a link, of the image.
type ImageFile struct {
	Path string // without a slash at the start
	Text []byte
	Link string
	Dir  bool // an empty folder
}

// MaxProjects limits how many lock files of one kind are installed.
const MaxProjects = 16

// LimitProjects returns the first MaxProjects items of a list. It adds a note if there are more.
func LimitProjects(sources Sources, all []string, are string) []string {
	if len(all) > MaxProjects {
		sources.AddNote("only the first %d of %d %s", MaxProjects, len(all), are)
		all = all[:MaxProjects]
	}
	return all
}

// LockPaths returns the paths of a lock file in some directories, as text for messages.
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

// ReadText returns the content of one file.
func ReadText(s Sources, name string) ([]byte, error) {
	texts, err := s.ReadTexts([]string{name})
	return texts[name], err
}

// IsWithin reports whether dir is top or is below it. A top of "." is the root.
func IsWithin(dir, top string) bool {
	return top == "." || dir == top || strings.HasPrefix(dir, top+"/")
}

var plainPathRE = lazyregexp.New(`^[A-Za-z0-9._][A-Za-z0-9._/@+-]*$`)

// IsPlainPath reports whether a path can be used in a script without quoting.
func IsPlainPath(p string) bool { return plainPathRE.MatchString(p) }

// IsTextPath reports whether a path is printable text.
func IsTextPath(p string) bool {
	return utf8.ValidString(p) && !strings.ContainsFunc(p, unicode.IsControl)
}

// copiedDirs are names of folders that hold other projects or test data.
var copiedDirs = []string{"node_modules", "vendor", "third_party", "testdata", "fixtures", "__fixtures__",
	"site-packages"}

// HasOwnLocks reports whether lock files in a directory belong to the project itself and are not copies.
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
