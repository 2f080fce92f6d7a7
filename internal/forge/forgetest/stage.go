package forgetest

import (
	"net/http"
)

// Stage is a forge on which a test plays the people and the network: a fake,
// or a real server.
type Stage interface {
	// Home is its address as people type it, and Client one that trusts it.
	Home() string
	Client() *http.Client
	// NewRepo makes a repository of an organisation, with the history of the
	// git repository src. One of that name is replaced.
	NewRepo(owner, name, src string) *Repo
	Invite(r *Repo, login, role string)
	AddTeam(r *Repo, slug, role string, members ...string)
	// Login makes a login of that name; Secret is what a client shows for it.
	Login(name string, t Token)
	Secret(name string) string

	CloneURL(r *Repo) string
	Commit(r *Repo, branch, from, file, text string) string
	Head(r *Repo, branch string) string
	PushAs(r *Repo, user, secret, dir, branch string) error

	Pulls(r *Repo) []Pull
	AddPull(r *Repo, p Pull) int
	Edit(r *Repo, number int, change func(*Pull))
	MergePull(r *Repo, number int) string
	Comments(r *Repo, number int) []Said
	Say(r *Repo, number int, said Said) int64
	Line(r *Repo, number int, said Said) int64
	Judge(r *Repo, number int, said Said) int64
	Resolve(r *Repo, number int, line int64, by string)
	AddStatus(r *Repo, c Status)

	Fail(f Fault)
	Heal()
	Asked(method, part string) []Request
	Forget()
}

var _ Stage = (*Server)(nil)

// Home is its address.
func (s *Server) Home() string { return s.URL }

// NewRepo is AddRepo.
func (s *Server) NewRepo(owner, name, src string) *Repo { return s.AddRepo(owner, name, src) }
