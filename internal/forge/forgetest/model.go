package forgetest

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Repo is a repository of the fake: a real bare one, and what a forge keeps
// beside it.
type Repo struct {
	Owner, Name, Dir, Default string
	Parent                    *Repo
	Private                   bool
	ID                        int64

	roles        map[string]string // by login: read | write | admin | owner; for a public repository everybody reads
	memberRoles  map[string]string // by login, of members of a team: the same
	teamRoles    map[string]string // by team: the same
	pulls        []*Pull
	issues       []*Issue
	pendingLooks int // a fork that is being made: so many looks until it is there
	checks       []Check
	status       []Status
	teams        []string // that may review
	ownerKind    string   // by a User (as if empty) or an Organization
	labels       []string // of Gitea, which knows them by number
}

func (r *Repo) fullName() string { return r.Owner + "/" + r.Name }

// roleOf is a person's role: read | write | admin; empty: none.
func (r *Repo) roleOf(login string) string {
	rank := []string{"", "read", "write", "admin"}
	if login == r.Owner || r.roles[login] == "owner" {
		return "admin"
	}
	return rank[max(slices.Index(rank, r.roles[login]), slices.Index(rank, r.memberRoles[login]))]
}

func (r *Repo) hasRole(login, role string) bool {
	have := r.roleOf(login)
	return have == "write" || have == "admin" || role == "read" && (have == "read" || !r.Private)
}

// Pull is a pull request of the fake.
type Pull struct {
	Number             int
	Title, Body        string
	HeadOwner, HeadRef string
	Base, User         string
	State              string // open | closed
	Draft, Merged      bool
	MergeSHA, HeadSHA  string
	Labels             []string
	Reviewers, Teams   []string
	ID                 int64
	Created, Updated   time.Time

	comments     []Comment
	lines        []Comment
	reviews      []Comment
	lookedAt     string
	pendingLooks int // so many looks until it is known whether it merges
}

// Comment is a comment, a review, or a comment at a line.
type Comment struct {
	ID      int64
	User    string
	Bot     bool
	Body    string
	State   string // of a review: APPROVED, CHANGES_REQUESTED, COMMENTED
	Path    string
	Line    int
	ReplyTo int64
	Commit  string
	// Resolved is the person that ended the conversation of this first comment.
	Resolved string
	At       time.Time
}

// Check is a check run.
type Check struct {
	ID                                      int64
	SHA, Name, Status, Conclusion, URL, App string
	Summary, Text                           string
	Log                                     string // of its job
	Annotations                             []Annotation
}

// Annotation is an annotation of a check.
type Annotation struct {
	Path    string
	Line    int
	Message string
}

// Status is a commit status.
type Status struct {
	ID                                    int64
	SHA, Context, State, URL, Description string
	At                                    time.Time
}

// Token is a login.
type Token struct {
	Login string
	// MissingPermissions are permissions that the token does not have: pull_requests,
	// contents, issues, checks, administration.
	MissingPermissions []string
	// Scopes are what a token of Gitea's may, by its own names; none: all.
	Scopes  []string
	Expires time.Time // zero: never
	// Remaining is how many requests it has left until Reset; 0 with a zero Reset:
	// any number.
	Remaining int
	Reset     time.Time
	app       *Repo // an installation's: the one repository it is for
}

func (t *Token) hasPermission(permission string) bool {
	return !slices.Contains(t.MissingPermissions, permission)
}

// AddRepo adds a repository with the history of the git repository src; its
// default branch is main.
func (s *Server) AddRepo(owner, name, src string) *Repo {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Repo{Owner: owner, Name: name, Default: "main", ID: s.nextID(), roles: map[string]string{}}
	r.Dir = s.initRepo(r.fullName(), src)
	s.repos[strings.ToLower(r.fullName())] = r
	return r
}

// Invite gives a person a role in a repository: read, write, admin, or owner of
// its organisation.
func (s *Server) Invite(r *Repo, login, role string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.roles[login] = role
}

// SetPrivate hides a repository from everybody without a role.
func (s *Server) SetPrivate(r *Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Private = true
}

// AddTeam makes a team of the repository's owner, which may be asked to review,
// with a role in the repository and members.
func (s *Server) AddTeam(r *Repo, slug, role string, members ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.teams = append(r.teams, slug)
	if r.teamRoles == nil {
		r.teamRoles = map[string]string{}
	}
	r.teamRoles[slug] = role
	for _, m := range members {
		if r.memberRoles == nil {
			r.memberRoles = map[string]string{}
		}
		r.memberRoles[m] = role
	}
}

// Resolve ends the conversation that begins with a comment at a line.
func (s *Server) Resolve(r *Repo, number int, line int64, by string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := r.findPull(number)
	for i := range p.lines {
		if p.lines[i].ID == line {
			p.lines[i].Resolved = by
			return
		}
	}
	s.t.Fatalf("there is no comment %d", line)
}

// AddLogin makes a token of that name.
func (s *Server) AddLogin(token string, t Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = &t
}

// DelayMergeCheck makes a Gitea slow to work out whether a branch merges: so many looks.
func (s *Server) DelayMergeCheck(looks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mergeCheckLooks = looks
}

// AddDuplicates opens n equal pull requests just before the next one.
func (s *Server) AddDuplicates(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.duplicates = n
}

// SetOwnerKind says what owns a repository: a User or an Organization.
func (s *Server) SetOwnerKind(r *Repo, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ownerKind = kind
}

// Secret is what a client shows for a login.
func (s *Server) Secret(name string) string { return name }

// Pulls are the pull requests of a repository as they are now.
func (s *Server) Pulls(r *Repo) []Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Pull
	for _, p := range r.pulls {
		s.refreshHead(r, p)
		c := *p
		c.Labels, c.Reviewers, c.Teams = slices.Clone(p.Labels), slices.Clone(p.Reviewers), slices.Clone(p.Teams)
		out = append(out, c)
	}
	return out
}

// Repo finds a repository: nil when there is none.
func (s *Server) Repo(full string) *Repo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.repos[strings.ToLower(full)]
}

// EditPull changes a pull request as a person would on the page.
func (s *Server) EditPull(r *Repo, number int, change func(*Pull)) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := r.findPull(number)
	if p == nil {
		s.t.Fatalf("there is no pull request %d", number)
	}
	change(p)
	p.Updated = s.nextTime()
}

// AddPull opens a pull request as a person would.
func (s *Server) AddPull(r *Repo, p Pull) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.HeadOwner = cmp.Or(p.HeadOwner, r.Owner)
	made := s.newPull(r, p)
	r.pulls = append(r.pulls, made)
	return made.Number
}

// AddComment adds a comment under a pull request or an issue, Line one at a line of its diff,
// and Judge a review. They return its id.
func (s *Server) AddComment(r *Repo, number int, said Comment) int64 {
	s.mu.Lock()
	if i := r.findIssue(number); i != nil {
		defer s.mu.Unlock()
		said.ID, said.At = s.nextID(), s.nextTime()
		i.comments = append(i.comments, said)
		return said.ID
	}
	s.mu.Unlock()
	return s.appendComment(r, number, said, func(p *Pull) *[]Comment { return &p.comments })
}

// AddLineComment is AddComment at a line.
func (s *Server) AddLineComment(r *Repo, number int, said Comment) int64 {
	return s.appendComment(r, number, said, func(p *Pull) *[]Comment { return &p.lines })
}

// AddReview is AddComment with a verdict.
func (s *Server) AddReview(r *Repo, number int, said Comment) int64 {
	return s.appendComment(r, number, said, func(p *Pull) *[]Comment { return &p.reviews })
}

func (s *Server) appendComment(r *Repo, number int, said Comment, list func(*Pull) *[]Comment) int64 {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := r.findPull(number)
	if p == nil {
		s.t.Fatalf("there is no pull request %d", number)
	}
	s.refreshHead(r, p)
	said.ID = s.nextID()
	if said.At.IsZero() {
		said.At = s.nextTime()
	}
	said.Commit = cmp.Or(said.Commit, p.HeadSHA)
	*list(p) = append(*list(p), said)
	return said.ID
}

// Comments are the comments under a pull request.
func (s *Server) Comments(r *Repo, number int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := r.findPull(number); p != nil {
		return slices.Clone(p.comments)
	}
	return nil
}

// AddCheck adds a check run or replaces the one of its commit and name.
func (s *Server) AddCheck(r *Repo, c Check) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ID = s.nextID()
	r.checks = append(slices.DeleteFunc(r.checks, func(o Check) bool { return o.SHA == c.SHA && o.Name == c.Name }), c)
	return c.ID
}

// AddStatus adds a commit status or replaces the one of its commit and context.
func (s *Server) AddStatus(r *Repo, c Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ID, c.At = s.nextID(), s.nextTime()
	r.status = append(slices.DeleteFunc(r.status, func(o Status) bool { return o.SHA == c.SHA && o.Context == c.Context }), c)
}

// MergePull merges a pull request as a person would with the button.
func (s *Server) MergePull(r *Repo, number int) string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := r.findPull(number)
	s.refreshHead(r, p)
	s.completeMerge(r, p)
	return p.MergeSHA
}

// completeMerge merges a pull request. The lock is held.
func (s *Server) completeMerge(r *Repo, p *Pull) {
	p.MergeSHA = s.mergeHead(r, p)
	p.State, p.Merged = "closed", true
	p.Updated = s.nextTime()
}

func (r *Repo) findPull(number int) *Pull {
	return r.firstPull(func(p *Pull) bool { return p.Number == number })
}

// openPull is the open pull request of a branch for a base; nil: there is none.
func (r *Repo) openPull(owner, ref, base string) *Pull {
	return r.firstPull(func(p *Pull) bool {
		return p.State == "open" && strings.EqualFold(p.HeadOwner, owner) && p.HeadRef == ref && p.Base == base
	})
}

func (r *Repo) firstPull(is func(*Pull) bool) *Pull {
	if i := slices.IndexFunc(r.pulls, is); i >= 0 {
		return r.pulls[i]
	}
	return nil
}

// newPull numbers an open pull request. It is not in the list yet.
func (s *Server) newPull(r *Repo, p Pull) *Pull {
	p.Number, p.ID, p.State = s.nextNumber(r), s.nextID(), "open"
	s.refreshHead(r, &p)
	p.Created = s.nextTime()
	p.Updated = p.Created
	return &p
}

// parseHead reads owner:branch, or a branch of the repository itself. from is the
// repository of the branch; nil: there is none.
func (s *Server) parseHead(r *Repo, head string) (owner, ref string, from *Repo) {
	owner, ref, other := strings.Cut(head, ":")
	if !other {
		owner, ref = r.Owner, head
	}
	return owner, ref, s.headRepo(r, owner)
}

func (s *Server) nextNumber(r *Repo) int {
	n := 0
	for _, p := range r.pulls {
		n = max(n, p.Number)
	}
	for _, i := range r.issues {
		n = max(n, i.Number)
	}
	return n + 1
}

// newestFirst is newest first, as forges list.
func newestFirst(ps []*Pull) []*Pull {
	ps = slices.Clone(ps)
	slices.SortStableFunc(ps, func(a, b *Pull) int { return b.Number - a.Number })
	return ps
}
