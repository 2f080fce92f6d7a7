package forgetest

import (
	"net/http"
)

// Host is a forge, fake or real, on which a test acts for people and injects network faults.
type Host interface {
	// BaseURL returns its web address. Client returns a client that trusts its certificate.
	BaseURL() string
	Client() *http.Client
	// NewRepo creates a repository of an organisation with the history of the git repository src. It replaces an
	// existing one with that name.
	NewRepo(owner, name, src string) *Repo
	Invite(r *Repo, login, role string)
	AddTeam(r *Repo, slug, role string, members ...string)
	// AddLogin adds a login with that name. Secret returns the token that a client sends for it.
	AddLogin(name string, t Token)
	Secret(name string) string

	CloneURL(r *Repo) string
	Commit(r *Repo, branch, from, file, text string) string
	Head(r *Repo, branch string) string
	PushAs(r *Repo, user, secret, dir, branch string) error

	Pulls(r *Repo) []Pull
	AddPull(r *Repo, p Pull) int
	EditPull(r *Repo, number int, change func(*Pull))
	MergePull(r *Repo, number int) string
	AddIssue(r *Repo, i Issue) int
	CloseIssue(r *Repo, number int)
	Comments(r *Repo, number int) []Comment
	AddComment(r *Repo, number int, said Comment) int64
	AddLineComment(r *Repo, number int, said Comment) int64
	AddReview(r *Repo, number int, said Comment) int64
	Resolve(r *Repo, number int, line int64, by string)
	AddStatus(r *Repo, c Status)

	AddFault(f Fault)
	ClearFaults()
	Requests(method, part string) []Request
	ClearRequests()
}

var _ Host = (*Server)(nil)

// BaseURL returns the server's URL.
func (s *Server) BaseURL() string { return s.URL }

// NewRepo calls AddRepo.
func (s *Server) NewRepo(owner, name, src string) *Repo { return s.AddRepo(owner, name, src) }
