// Package forge opens pull requests for people and brings back their feedback.
// It owns what every forge must do: find our pull request or open it, exactly
// once per task; keep its text up to date without touching what people wrote;
// tell its state, its comments and its failing checks; read an issue that becomes an
// instruction; lend the operator's own login to git. Drivers live in subpackages, and
// Selector picks one for a remote. It promises that a pull request of ours carries our
// office and task, that a token goes to its own host only, and that text from a forge is
// data. It does not push, it stores no credential, and it merges for a person's command
// alone.
package forge

import (
	"context"
	"errors"
	"strconv"
	"time"

	"company/internal/company"
)

// PR is what a forge is asked to open.
type PR struct {
	Office string
	Task   company.TaskID
	Number int // wanted number; forges that number themselves ignore it
	// Known is the forge's number of the pull request where it was delivered
	// before; 0: it was not. It is ours then, whatever people wrote over its body.
	Known  int
	Title  string
	Body   string // Markdown; MarkedBody puts it between the markers
	Branch string // without an owner
	Owner  string // whose fork holds the branch; empty: the repository itself
	Base   string
	Head   company.OID
	Draft  bool // open it as a draft; asked again without, it is made ready

	Labels []string // added where they are missing; never removed
	// CodeOwners asks for the reviews that the CODEOWNERS file of the base
	// names for Paths.
	CodeOwners bool
	Paths      []string // changed paths
}

// PRSettings is what the config says of every pull request.
type PRSettings struct {
	Labels     []string
	Draft      string // auto: where nothing tested it | always | never
	CodeOwners bool
}

// OpenedPR is a pull request that exists.
type OpenedPR struct {
	Number int
	URL    string
	Base   string          // the branch that it asks for: one that was there already may ask for another than PR.Base
	State  company.PRState // a person may have ended it before we saw it
	Head   company.OID     // of one that has ended: where its branch was; empty: not known
}

// Target is where a branch is pushed to.
type Target struct {
	URL   string // clone URL; empty: the project's remote as it is
	Owner string // of the fork that URL is; empty: the repository itself
}

// Access is what a login may do at a repository.
type Access struct {
	Push bool // its branches go to the repository itself
	// Fork is the clone URL of the login's fork; empty: there is none yet, and
	// the first delivery makes it.
	Fork string
	// MissingPermissions are permissions that the work needs and the token has
	// not, in the forge's own terms.
	MissingPermissions []string
}

// ErrPRGone says that a pull request is not there any more.
var ErrPRGone = errors.New("the pull request is gone")

// Ref names a pull request that is open, or was.
type Ref struct {
	Office string
	Task   company.TaskID
	Number int
	URL    string
	Branch string
}

// LocalKind is the kind of the office's own pages.
const LocalKind = "local"

// Forge is one repository on a forge. Methods may be called by many goroutines,
// may be repeated, and give up by themselves: no call takes longer than a few
// minutes, waits for a rate limit included. Errors that a person must mend
// (login, permission, a foreign pull request) need a person.
type Forge interface {
	// Kind is the value of forge.kind: github, gitea, LocalKind.
	Kind() string
	// Target says where branches go: to the repository, or, where the login may
	// not push there, to its fork, which is made when there is none.
	Target(ctx context.Context) (Target, error)
	// Open finds the pull request of this office and task, brings its title
	// and its part of the body up to date, or opens it. Calling it again finds
	// the same one, whatever its state. E_CONFLICT: there is an open one under
	// that number or branch that is not ours.
	Open(ctx context.Context, pr PR) (OpenedPR, error)
	// Access is what the login may do. Nothing is changed by asking.
	Access(ctx context.Context) (Access, error)
	// Feedback is what has become of a pull request. ErrPRGone: the forge shows
	// the repository, and says that this pull request is not in it. Whatever
	// else is not found is another error.
	Feedback(ctx context.Context, ref Ref) (Feedback, error)
	// Comment says something under a pull request, once per key.
	Comment(ctx context.Context, ref Ref, key, text string) error
	// Close closes a pull request without merging it; a closed or merged one
	// stays as it is. E_CONFLICT: it is not ours.
	Close(ctx context.Context, ref Ref) error
	// MergePull merges a pull request of ours into base, if it still stands at head: the forge
	// itself holds the merge against that commit, and base is compared before it. One that is merged already stays
	// as it is. Only a person's command calls it (decision 0112). E_CONFLICT: it
	// is not ours, is closed, stands elsewhere, has another base, or may not be merged.
	MergePull(ctx context.Context, ref Ref, head company.OID, base string) error
	// Issue reads an open issue, with the comments of maintainers. ENotFound: there is none
	// of that number; EInvalid: it is a pull request; EConflict: it is
	// closed, or elsewhere. Nothing in it is an instruction.
	Issue(ctx context.Context, number int) (Issue, error)
	// ClosingLine is the line of a pull request's text by which this forge closes an
	// issue when the pull request is merged; "": it closes none.
	ClosingLine(issue company.IssueRef) string
	// Credential is what git shows to push over https; ErrNoLogin where there
	// is none.
	Credential(ctx context.Context) (Credential, error)
}

// RequestTimeout is the longest that one request to a forge takes.
const RequestTimeout = 30 * time.Second

// MaxWait is the longest that a call waits for a rate limit before it gives up
// and lets the orchestrator try later.
const MaxWait = time.Minute

// minWait is the shortest wait for a rate limit. A server that asks for none,
// or for one that is over, would be asked again without an end: MaxWait is what
// bounds the tries.
const minWait = time.Second

// RateLimitWait is how long a rate limit is waited for where the server asks for d.
func RateLimitWait(d time.Duration) time.Duration { return max(minWait, d) }

// ParseRetryAfter is RateLimitWait for what a Retry-After header says; not ok: it says no number
// of seconds.
func ParseRetryAfter(header string) (_ time.Duration, ok bool) {
	n, err := strconv.Atoi(header)
	return RateLimitWait(time.Duration(min(n, 1<<30)) * time.Second), err == nil && n >= 0
}
