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

// Proxied is a kind of registry that is served to places without a network. It defines the registry's grammar, its
// protocol and the settings of its client on this host.
type Proxied interface {
	Registry() Registry
	// ReadSettings reads the registries that the operator's own client uses. It adds notes for settings that cannot be
	// followed. The only error is the end of ctx.
	ReadSettings(ctx context.Context, h Host) (Upstream, error)
	// Serve answers a request. A *Reply as error holds a message for the client. Any other error means that fetching
	// failed.
	Serve(ctx context.Context, r Request) (*Answer, error)
}

// Client is a kind of registry whose packages a project may use. Lock files name the packages, and a task may add
// one.
type Client interface {
	Proxied
	// ListVersions lists the versions of a package in the registry, and the version that a client would take. newest is
	// empty if there is none.
	ListVersions(ctx context.Context, f Fetcher, d company.Dependency) (all []string, newest string, err error)
	// ListNeeds lists the direct dependencies of a version.
	ListNeeds(ctx context.Context, f Fetcher, d company.Dependency) ([]company.Dependency, error)
	// ClientEnv returns environment variables that make clients in a container request packages from an address. added
	// means that a task has added packages to those of the image.
	ClientEnv(u Upstream, address string, added bool) map[string]string
}

// Locator is a Client that knows the request path for the file of a version.
type Locator interface {
	Client
	// PackagePath returns the path below the registry's own path.
	PackagePath(d company.Dependency) string
}

// SetUp is a Client that needs more than environment variables to use an address.
type SetUp interface {
	Client
	// SetupCommand returns a shell command that must run in the container first.
	SetupCommand(address string) string
}

// Archive is a kind of registry whose client needs lines in a list of sources.
type Archive interface {
	Proxied
	// SourceLines returns the lines for those parts that the upstream has. The keyring is the file for checking
	// signatures.
	SourceLines(u Upstream, address, keyring string, parts []string) []string
}

// Fetcher reads the files of one registry from a cache or from the network.
type Fetcher interface {
	Upstream() Upstream
	// Read returns the content of a small file and its media type.
	Read(ctx context.Context, w Fetch) (text []byte, media string, err error)
	// Get returns a file from the cache and fetches it if necessary.
	Get(ctx context.Context, w Fetch) (Cached, error)
}

// ErrNotFound means that the registry does not have a file.
var ErrNotFound = errors.New("the registry does not have it")

const (
	MaxPackage  = 512 << 20 // bytes of one package; the limit of Get if a Fetch has none
	MaxMetadata = 96 << 20  // bytes of one list or description; the limit of Read
)

// FetchTimeout limits how long one file may take to come from a registry.
const FetchTimeout = 10 * time.Minute

// ClientPatience is the client's timeout for the first byte of a file, in seconds. A mirror answers only when it has
// the whole file. The mirror itself detects a silent registry and reports it after a minute.
const ClientPatience = int((FetchTimeout + time.Minute) / time.Second)

// Fetch is one file to get from a registry.
type Fetch struct {
	URL    string
	Accept string // media types; one address may have two forms
	// Immutable means that the file never changes at its address. Other files are lists that are fetched again.
	Immutable bool
	Digest    Digest // of the file; the zero value means unknown
	Limit     int64
	RawBytes  bool // return a .gz file as it is, even if the server declares a content encoding
	// Check reports whether a file is of the expected kind, before it is kept. An immutable file without a digest needs
	// a Check. Otherwise an empty answer or the page of a captive portal would be served forever. A nil Check is allowed
	// if there is a digest or the file is fetched again.
	Check func(content io.ReaderAt, size int64) bool
}

// Digest is a checksum of a file's content, as a protocol states it.
type Digest struct {
	Algorithm string // sha512 | sha256 | sha1
	Sum       []byte
}

// NewHash returns a hash for the digest's algorithm, or nil if the algorithm is unknown.
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

// BeginsWith returns a Check for files that begin with these bytes.
func BeginsWith(magic string) func(io.ReaderAt, int64) bool {
	return func(content io.ReaderAt, _ int64) bool {
		head := make([]byte, len(magic))
		_, err := content.ReadAt(head, 0)
		return (err == nil || errors.Is(err, io.EOF)) && string(head) == magic
	}
}

// maxZipEnd is the largest distance from the end of a zip file at which its end record can begin. The record has 22
// bytes and a comment.
const maxZipEnd = 22 + 1<<16 - 1

// CheckZip is a Check for zip files. Their directory is at the end, so a truncated file has none.
func CheckZip(content io.ReaderAt, size int64) bool {
	tail := make([]byte, min(size, maxZipEnd))
	_, err := content.ReadAt(tail, size-int64(len(tail)))
	return (err == nil || errors.Is(err, io.EOF)) && bytes.Contains(tail, []byte("PK\x05\x06"))
}

// CheckText returns a Check for small files that calls isOne with the text.
func CheckText(isOne func(text []byte) bool) func(io.ReaderAt, int64) bool {
	return func(content io.ReaderAt, size int64) bool {
		text := make([]byte, size)
		_, err := content.ReadAt(text, 0)
		return (err == nil || errors.Is(err, io.EOF)) && isOne(text)
	}
}

// Cached is a file in the cache.
type Cached interface {
	// ReadAt lends the content to use. It is valid only until use returns.
	ReadAt(use func(content io.ReaderAt, size int64) error) error
}

// Request is a request from a client in a container.
type Request struct {
	Fetcher
	Gate
	Path   string // as sent, below the registry's own path; an escaped slash (%2f) belongs to a name
	Base   string // the client's base address of all registries, for rewriting addresses
	Accept string // the header Accept
	Client string // the header User-Agent
}

// Gate decides which packages the client may fetch. It reports refusals.
type Gate interface {
	// Check returns a refusal if no version of the name may be fetched.
	Check(d company.Dependency) error
	// Refuse returns a refusal. why is empty if the only reason is that the package was not added.
	Refuse(d company.Dependency, why string) error
	// Allows reports whether this version may be fetched. AllowsPart reports whether the packages in a part of an
	// archive may be fetched.
	Allows(d company.Dependency) bool
	AllowsPart(part string) bool
	// LockedFile reports whether lock files name exactly this version and its dependencies are not requested with it.
	// The digest of its file comes from the lock files, even if ok is false. It is zero if they have none or disagree.
	LockedFile(d company.Dependency) (sum Digest, ok bool)
	// Follows reports whether the dependencies of this version may be fetched, too. AllowNeeds permits them. An err
	// means that the dependencies are unknown.
	Follows(d company.Dependency) bool
	AllowNeeds(needs []company.Dependency, err error)
}

// TextPlain is the media type of text.
const TextPlain = "text/plain; charset=utf-8"

// Answer is a text that was made here, or a file.
type Answer struct {
	Text    []byte
	File    Cached
	Media   string
	Package company.Dependency // the package of the file, for the record; zero for metadata
}

// Package fetches the immutable file of a package and answers with it.
func (r Request) Package(
	ctx context.Context, dependency company.Dependency, fetch Fetch, media string,
) (*Answer, error) {
	fetch.Immutable = true
	f, err := r.Get(ctx, fetch)
	return &Answer{File: f, Media: media, Package: dependency}, err
}

// BinaryFile is the media type of packages that do not have a specific one.
const BinaryFile = "application/octet-stream"

// Values of Reply.Status, as in HTTP.
const (
	StatusOK          = 200
	StatusForbidden   = 403
	StatusNotFound    = 404
	StatusBadRegistry = 502
)

// Reply is an answer of one line, for a user or an agent.
type Reply struct {
	Status int
	Line   string
}

func (r *Reply) Error() string { return r.Line }

// ErrNoPath is the reply to a path that the protocol does not define.
var ErrNoPath error = &Reply{StatusNotFound, "there is no such path"}

// NewestSemver returns the highest release, or the highest version if there is no release. Versions begin with a v.
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
