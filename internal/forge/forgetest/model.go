package forgetest

import (
	"slices"
	"sort"
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

	roles  map[string]string // by login: read | write | admin | owner; for a public repository everybody reads
	member map[string]string // by login, of members of a team: the same
	gives  map[string]string // by team: the same
	pulls  []*Pull
	notYet int // a fork that is being made: so many looks until it is there
	checks []Check
	status []Status
	teams  []string // that may review
	owned  string   // by a User (as if empty) or an Organization
	labels []string // of Gitea, which knows them by number
}

func (r *Repo) full() string { return r.Owner + "/" + r.Name }

// role is what somebody may: read | write | admin; empty: no more than
// everybody.
func (r *Repo) role(login string) string {
	rank := []string{"", "read", "write", "admin"}
	if login == r.Owner || r.roles[login] == "owner" {
		return "admin"
	}
	return rank[max(slices.Index(rank, r.roles[login]), slices.Index(rank, r.member[login]))]
}

func (r *Repo) may(login, role string) bool {
	have := r.role(login)
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

	comments []Said
	lines    []Said
	reviews  []Said
	lookedAt string
	checking int // so many looks until it is known whether it merges
}

// Said is a comment, a review, or a comment at a line.
type Said struct {
	ID      int64
	User    string
	Bot     bool
	Body    string
	State   string // of a review: APPROVED, CHANGES_REQUESTED, COMMENTED
	Path    string
	Line    int
	ReplyTo int64
	Commit  string
	// Resolved is who ended the conversation that begins with this comment.
	Resolved string
	At       time.Time
}

// Check is a check run.
type Check struct {
	ID                                      int64
	SHA, Name, Status, Conclusion, URL, App string
	Summary, Text                           string
	Log                                     string // of its job
	Notes                                   []Note
}

// Note is an annotation of a check.
type Note struct {
	Path    string
	Line    int
	Message string
}

// Status is a commit status.
type Status struct {
	ID                                  int64
	SHA, Context, State, URL, Describes string
	At                                  time.Time
}

// Token is a login.
type Token struct {
	Login string
	// Lacks are permissions that the token does not have: pull_requests,
	// contents, issues, checks, administration.
	Lacks []string
	// Scopes are what a token of Gitea's may, by its own names; none: all.
	Scopes  []string
	Expires time.Time // zero: never
	// Left is how many requests it has left until Reset; 0 with a zero Reset:
	// any number.
	Left  int
	Reset time.Time
	app   *Repo // an installation's: the one repository it is for
}

func (t *Token) can(permission string) bool { return !slices.Contains(t.Lacks, permission) }

// AddRepo adds a repository with the history of the git repository src; its
// default branch is main.
func (s *Server) AddRepo(owner, name, src string) *Repo {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Repo{Owner: owner, Name: name, Default: "main", ID: s.id(), roles: map[string]string{}}
	r.Dir = s.initRepo(r.full(), src)
	s.repos[strings.ToLower(r.full())] = r
	return r
}

// Invite gives somebody a role in a repository: read, write, admin, or owner of
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
	if r.gives == nil {
		r.gives = map[string]string{}
	}
	r.gives[slug] = role
	for _, m := range members {
		if r.member == nil {
			r.member = map[string]string{}
		}
		r.member[m] = role
	}
}

// Resolve ends the conversation that begins with a comment at a line.
func (s *Server) Resolve(r *Repo, number int, line int64, by string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := r.pull(number)
	for i := range p.lines {
		if p.lines[i].ID == line {
			p.lines[i].Resolved = by
			return
		}
	}
	s.t.Fatalf("there is no comment %d", line)
}

// Login makes a token of that name.
func (s *Server) Login(token string, t Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = &t
}

// Busy makes a Gitea slow to work out whether a branch merges: so many looks.
func (s *Server) Busy(looks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = looks
}

// Twins lets so many others open what is opened, just before.
func (s *Server) Twins(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.twins = n
}

// Owned says what owns a repository: a User or an Organization.
func (s *Server) Owned(r *Repo, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.owned = kind
}

// Secret is what a client shows for a login.
func (s *Server) Secret(name string) string { return name }

// Pulls are the pull requests of a repository as they are now.
func (s *Server) Pulls(r *Repo) []Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Pull
	for _, p := range r.pulls {
		s.refresh(r, p)
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

// Edit changes a pull request as a person would on the page.
func (s *Server) Edit(r *Repo, number int, change func(*Pull)) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := r.pull(number)
	if p == nil {
		s.t.Fatalf("there is no pull request %d", number)
	}
	change(p)
	p.Updated = s.tick()
}

// AddPull opens a pull request as a person would.
func (s *Server) AddPull(r *Repo, p Pull) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Number, p.ID, p.State = s.number(r), s.id(), "open"
	if p.HeadOwner == "" {
		p.HeadOwner = r.Owner
	}
	p.Created = s.tick()
	p.Updated = p.Created
	r.pulls = append(r.pulls, &p)
	return p.Number
}

// Say adds a comment under a pull request, Line one at a line of its diff, and
// Judge a review. They return its id.
func (s *Server) Say(r *Repo, number int, said Said) int64 {
	return s.add(r, number, said, func(p *Pull) *[]Said { return &p.comments })
}

// Line is Say at a line.
func (s *Server) Line(r *Repo, number int, said Said) int64 {
	return s.add(r, number, said, func(p *Pull) *[]Said { return &p.lines })
}

// Judge is Say with a verdict.
func (s *Server) Judge(r *Repo, number int, said Said) int64 {
	return s.add(r, number, said, func(p *Pull) *[]Said { return &p.reviews })
}

func (s *Server) add(r *Repo, number int, said Said, list func(*Pull) *[]Said) int64 {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := r.pull(number)
	if p == nil {
		s.t.Fatalf("there is no pull request %d", number)
	}
	s.refresh(r, p)
	said.ID = s.id()
	if said.At.IsZero() {
		said.At = s.tick()
	}
	if said.Commit == "" {
		said.Commit = p.HeadSHA
	}
	*list(p) = append(*list(p), said)
	return said.ID
}

// Comments are the comments under a pull request.
func (s *Server) Comments(r *Repo, number int) []Said {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := r.pull(number); p != nil {
		return slices.Clone(p.comments)
	}
	return nil
}

// AddCheck adds a check run or replaces the one of its commit and name.
func (s *Server) AddCheck(r *Repo, c Check) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ID = s.id()
	r.checks = append(slices.DeleteFunc(r.checks, func(o Check) bool { return o.SHA == c.SHA && o.Name == c.Name }), c)
	return c.ID
}

// AddStatus adds a commit status or replaces the one of its commit and context.
func (s *Server) AddStatus(r *Repo, c Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ID, c.At = s.id(), s.tick()
	r.status = append(slices.DeleteFunc(r.status, func(o Status) bool { return o.SHA == c.SHA && o.Context == c.Context }), c)
}

// MergePull merges a pull request as a person would with the button.
func (s *Server) MergePull(r *Repo, number int) string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := r.pull(number)
	s.refresh(r, p)
	p.MergeSHA = s.mergeGit(r, p)
	p.State, p.Merged = "closed", true
	p.Updated = s.tick()
	return p.MergeSHA
}

func (r *Repo) pull(number int) *Pull {
	for _, p := range r.pulls {
		if p.Number == number {
			return p
		}
	}
	return nil
}

func (s *Server) number(r *Repo) int {
	n := 0
	for _, p := range r.pulls {
		n = max(n, p.Number)
	}
	return n + 1
}

// sorted is newest first, as forges list.
func sorted(ps []*Pull) []*Pull {
	ps = slices.Clone(ps)
	sort.SliceStable(ps, func(i, j int) bool { return ps[i].Number > ps[j].Number })
	return ps
}
