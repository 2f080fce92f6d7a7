package ecosystem

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"hash"
	"io"
	"time"

	"golang.org/x/mod/semver"

	"company/internal/company"
)

// Proxied is a kind of registry that is served into places without a network:
// its grammar, its protocol, and the settings of its client on this host.
type Proxied interface {
	Registry() Registry
	// ReadSettings reads where the operator's own client gets packages from.
	// Settings that cannot be followed are noted; only ctx's end is an error.
	ReadSettings(ctx context.Context, h Host) (Upstream, error)
	// Serve answers a request. What the client must read is a *Reply; any other
	// error is a failure to get something.
	Serve(ctx context.Context, r Request) (*Answer, error)
}

// Client is a kind of registry whose packages a project may have: lock files
// name them, and a task may add one.
type Client interface {
	Proxied
	// ListVersions lists what the registry has of a package, and the version
	// that a client would take; empty: none.
	ListVersions(ctx context.Context, f Fetcher, d company.Dependency) (all []string, newest string, err error)
	// ListNeeds lists the packages that a version asks for.
	ListNeeds(ctx context.Context, f Fetcher, d company.Dependency) ([]company.Dependency, error)
	// ClientEnv makes clients in a container ask for packages at an address.
	// added: a task has added some, beside what the image has.
	ClientEnv(u Upstream, address string, added bool) map[string]string
}

// Locator is a Client that knows where it is asked for the file of a version.
type Locator interface {
	Client
	// PackagePath is the path below the registry's own.
	PackagePath(d company.Dependency) string
}

// SetUp is a Client that variables alone do not lead to an address.
type SetUp interface {
	Client
	// SetupCommand is a command of the shell that has to run in the container first.
	SetupCommand(address string) string
}

// Archive is a kind of registry whose client is shown lines of a list of sources.
type Archive interface {
	Proxied
	// SourceLines are those of the parts that the upstream has. The keyring is
	// the file that signatures are checked with.
	SourceLines(u Upstream, address, keyring string, parts []string) []string
}

// Fetcher has the files of one registry, from a cache or from the outside.
type Fetcher interface {
	Upstream() Upstream
	// Read gives the whole of a small file, and its media type.
	Read(ctx context.Context, w Fetch) (text []byte, media string, err error)
	// Get brings a file into the cache.
	Get(ctx context.Context, w Fetch) (Cached, error)
}

// ErrNotFound: the registry does not have a file.
var ErrNotFound = errors.New("the registry does not have it")

const (
	MaxPackage  = 512 << 20 // bytes of one package; Get's bound where a Fetch has none
	MaxMetadata = 96 << 20  // bytes of one list or description; Read's
)

// FetchTimeout is how long one file may take to come from a registry.
const FetchTimeout = 10 * time.Minute

// ClientPatience is how long a client must wait for the first byte of a file, in seconds: a
// mirror answers when it has the whole of it. It is the mirror that knows a registry which is
// silent, and says so after a minute.
const ClientPatience = int((FetchTimeout + time.Minute) / time.Second)

// Fetch is one file to get from a registry.
type Fetch struct {
	URL    string
	Accept string // media types; one address may have two forms
	// Immutable files never change under their address; others are lists that
	// are fetched again.
	Immutable bool
	Digest    Digest // of the file; the zero value: not known
	Limit     int64
	RawBytes  bool // the bytes as they lie there: a .gz is wanted as such, whatever a server says of it
	// Check looks at a file before it is kept, and says whether it is one of its kind. An
	// immutable file without a digest needs a Check: else a page of a captive portal, or an
	// empty answer, would be served for good. Nil: the digest tells, or the file is
	// fetched again.
	Check func(content io.ReaderAt, size int64) bool
}

// Digest is what a protocol says of a file's content.
type Digest struct {
	Algorithm string // sha512 | sha256 | sha1
	Sum       []byte
}

// NewHash is the digest's algorithm; nil where it is none.
func (d Digest) NewHash() hash.Hash {
	switch d.Algorithm {
	case "sha512":
		return sha512.New()
	case "sha256":
		return sha256.New()
	case "sha1":
		return sha1.New()
	}
	return nil
}

// BeginsWith is a Check for files that begin with these bytes.
func BeginsWith(magic string) func(io.ReaderAt, int64) bool {
	return func(content io.ReaderAt, _ int64) bool {
		head := make([]byte, len(magic))
		_, err := content.ReadAt(head, 0)
		return (err == nil || errors.Is(err, io.EOF)) && string(head) == magic
	}
}

// maxZipEnd is how far from the end of a zip the record can begin with which it ends: it has
// 22 bytes, and a comment.
const maxZipEnd = 22 + 1<<16 - 1

// CheckZip is a Check for zips. Their list of files is at the end, so half of one has none.
func CheckZip(content io.ReaderAt, size int64) bool {
	tail := make([]byte, min(size, maxZipEnd))
	_, err := content.ReadAt(tail, size-int64(len(tail)))
	return (err == nil || errors.Is(err, io.EOF)) && bytes.Contains(tail, []byte("PK\x05\x06"))
}

// CheckText is a Check for small files, whose text tells.
func CheckText(isOne func(text []byte) bool) func(io.ReaderAt, int64) bool {
	return func(content io.ReaderAt, size int64) bool {
		text := make([]byte, size)
		_, err := content.ReadAt(text, 0)
		return (err == nil || errors.Is(err, io.EOF)) && isOne(text)
	}
}

// Cached is a file in the cache.
type Cached interface {
	// ReadAt lends the bytes for the time of a call.
	ReadAt(use func(content io.ReaderAt, size int64) error) error
}

// Request is what a client in a container asks for.
type Request struct {
	Fetcher
	Gate
	Path   string // as it was sent, below the registry's own: a slash that is written %2f belongs to a name
	Base   string // where the client reaches all registries, for addresses that are rewritten
	Accept string // the header
}

// Gate says what the client may have. What it stops is reported.
type Gate interface {
	// Check is the refusal where nothing of the name may be fetched.
	Check(d company.Dependency) error
	// Refuse is a refusal; why is empty where the package was only not added.
	Refuse(d company.Dependency, why string) error
	// Allows reports whether this version may be fetched, and AllowsPart whether
	// what is in a part of an archive may.
	Allows(d company.Dependency) bool
	AllowsPart(part string) bool
	// LockedFile reports whether lock files name this very version, and nothing that it
	// needs is asked for with it. The digest is what they say of its file, also where it is
	// not ok; the zero value: nothing, or not the same.
	LockedFile(d company.Dependency) (sum Digest, ok bool)
	// Follows reports whether what this version needs may be fetched, too, and
	// AllowNeeds lets it be. An err says that the needs are not known.
	Follows(d company.Dependency) bool
	AllowNeeds(needs []company.Dependency, err error)
}

// TextPlain is the media type of text.
const TextPlain = "text/plain; charset=utf-8"

// Answer is a body that was made here, or a file.
type Answer struct {
	Text    []byte
	File    Cached
	Media   string
	Package company.Dependency // whose file it is, for the record; the zero value: it is metadata
}

// Package has the file of a package, which never changes, and answers with it.
func (r Request) Package(ctx context.Context, d company.Dependency, w Fetch, media string) (*Answer, error) {
	w.Immutable = true
	f, err := r.Get(ctx, w)
	return &Answer{File: f, Media: media, Package: d}, err
}

// BinaryFile is the media type of a package that has none of its own.
const BinaryFile = "application/octet-stream"

// What a Reply's status can be, as HTTP has it.
const (
	StatusOK          = 200
	StatusForbidden   = 403
	StatusNotFound    = 404
	StatusBadRegistry = 502
)

// Reply is an answer of one line, for a person or an agent to read.
type Reply struct {
	Status int
	Line   string
}

func (r *Reply) Error() string { return r.Line }

// ErrNoPath is the reply to a path that is none of the protocol's.
var ErrNoPath error = &Reply{StatusNotFound, "there is no such path"}

// NewestSemver is the highest release, or the highest version of all where there
// is none. Versions begin with a v.
func NewestSemver(all []string) string {
	best := ""
	for _, v := range all {
		pre, was := semver.Prerelease(v) != "", semver.Prerelease(best) != ""
		if best == "" || was && !pre || was == pre && semver.Compare(v, best) > 0 {
			best = v
		}
	}
	return best
}
