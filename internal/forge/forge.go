// Package forge opens pull requests for people and returns their feedback. It defines the duties of every forge: find
// our pull request or open it, exactly once per task; keep its text up to date without touching people's edits;
// report its state, its comments and its failing checks; read an issue that becomes an instruction; and lend the
// operator's own login to git. Drivers are in subpackages, and Selector picks one for a remote. A pull request of
// ours always carries our office and task, a token goes only to its own host, and text from a forge is treated as
// data. The package does not push, stores no credential, and merges only at a person's command.
package forge

import (
	"context"
	"errors"
	"strconv"
	"time"

	"company/internal/company"
)

// PR describes the pull request that a forge should open.
type PR struct {
	Office string
	Task   company.TaskID
	Number int // wanted number; forges that assign numbers ignore it
	// Known is the forge's number of the pull request if it was delivered before, else 0. It is then ours, even if
	// people have overwritten its body.
	Known int
	Title string
	// Opening is Markdown above our part, from the repository's template. It is written when the pull request is opened,
	// and belongs to people from then on.
	Opening string
	Body    string // Markdown; MarkedBody puts it between the markers
	Branch  string // without an owner
	Owner   string // owner of the fork with the branch; empty means the repository itself
	Base    string
	Head    company.OID
	Draft   bool // open it as a draft; a later call without it marks the pull request ready

	Labels []string // added if missing; never removed
	// CodeOwners requests the reviews that the base's CODEOWNERS file names for Paths.
	CodeOwners bool
	Paths      []string // changed paths
}

// PRSettings holds the configured settings of every pull request.
type PRSettings struct {
	Labels     []string
	Draft      string // auto: if no test covered it | always | never
	CodeOwners bool
}

// OpenedPR is an existing pull request.
type OpenedPR struct {
	Number int
	URL    string
	Base   string          // target branch; an existing pull request may differ from PR.Base
	State  company.PRState // a person may have closed or merged it already
	Head   company.OID     // of a closed or merged one: the head of its branch; empty if unknown
}

// Target is the repository that a branch is pushed to.
type Target struct {
	URL   string // clone URL; empty means the project's remote
	Owner string // owner of the fork at URL; empty means the repository itself
}

// Access describes the permissions of a login in a repository.
type Access struct {
	Push bool // it may push branches to the repository itself
	// Fork is the clone URL of the login's fork. If empty, there is none yet and the first delivery creates it.
	Fork string
	// MissingPermissions lists the required permissions that the token lacks, in the forge's own terms.
	MissingPermissions []string
}

// ErrPRGone means that a pull request no longer exists.
var ErrPRGone = errors.New("the pull request is gone")

// Ref identifies a pull request that is or was open.
type Ref struct {
	Office string
	Task   company.TaskID
	Number int
	URL    string
	Branch string
	// PushedTo is where the president's own git pushes the branch, if that is not the project's remote.
	PushedTo string
	// Unpushed means that the branch is pushed nowhere, so that the pull request is a page of the office.
	Unpushed bool
}

// LocalKind is the kind of the office's own pages.
const LocalKind = "local"

// Forge gives access to one repository on a forge. Its methods are safe for concurrent use and may be repeated. No
// call takes longer than a few minutes, including waits for a rate limit. Errors that a person must fix (login,
// permission, a foreign pull request) are marked as needing a person.
type Forge interface {
	// Kind returns the value of forge.kind.
	Kind() string
	// Templates lists the places of a template for pull requests, the first one first, in lower case and without ending.
	Templates() []string
	// Target returns the repository to push branches to. If the login may not push to the repository, this is its fork,
	// which is created if it is missing.
	Target(ctx context.Context) (Target, error)
	// Open finds the pull request of this office and task and updates its title and its part of the body, or opens a new
	// one. Repeated calls find the same one, in any state. It fails with E_CONFLICT if an open pull request with that
	// number or branch is not ours.
	Open(ctx context.Context, pr PR) (OpenedPR, error)
	// Access returns the permissions of the login. It changes no data.
	Access(ctx context.Context) (Access, error)
	// Feedback returns the state of a pull request. It fails with ErrPRGone if the forge shows the repository and
	// reports that this pull request is not in it. Any other missing resource is a different error.
	Feedback(ctx context.Context, ref Ref) (Feedback, error)
	// Comment adds a comment to a pull request, once per key.
	Comment(ctx context.Context, ref Ref, key, text string) error
	// Close closes a pull request without merging it. A closed or merged one is left unchanged. It fails with E_CONFLICT
	// if the pull request is not ours.
	Close(ctx context.Context, ref Ref) error
	// MergePull merges a pull request of ours into base if its head is still head. The forge itself checks the head at
	// the merge; the base is compared before. A merged one is left unchanged. Only a person's command calls it (decision
	// 0112). It fails with E_CONFLICT if the pull request is not ours, is closed, has another head or base, or may not
	// be merged.
	MergePull(ctx context.Context, ref Ref, head company.OID, base string) error
	// Issue reads an open issue with the comments of maintainers. It fails with ENotFound if the issue does not exist,
	// EInvalid if it is a pull request, and EConflict if it is closed or in another repository. Its text is never
	// treated as an instruction.
	Issue(ctx context.Context, number int) (Issue, error)
	// ClosingLine returns the line for a pull request's text that makes this forge close an issue at the merge. It
	// returns "" if the forge cannot close it.
	ClosingLine(issue company.IssueRef) string
	// Credential returns the login for a git push over https, or ErrNoLogin if there is none.
	Credential(ctx context.Context) (Credential, error)
}

// RequestTimeout limits one request to a forge.
const RequestTimeout = 30 * time.Second

// MaxWait limits how long a call waits for a rate limit. After that it fails, and the orchestrator retries later.
const MaxWait = time.Minute

// minWait is the minimum wait for a rate limit. Without it, a server that asks for no wait, or for one in the past,
// would be retried endlessly, since MaxWait limits the attempts.
const minWait = time.Second

// RateLimitWait returns how long to wait for a rate limit if the server asks for d.
func RateLimitWait(d time.Duration) time.Duration { return max(minWait, d) }

// ParseRetryAfter returns RateLimitWait for a Retry-After header. ok is false if the header is not a number of
// seconds.
func ParseRetryAfter(header string) (_ time.Duration, ok bool) {
	n, err := strconv.Atoi(header)
	return RateLimitWait(time.Duration(min(n, 1<<30)) * time.Second), err == nil && n >= 0
}
