package forgetest

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Repo is a repository of the fake: a real bare repository and the forge's data for it.
type Repo struct {
	Owner, Name, Dir, Default string
	Parent                    *Repo
	Private                   bool
	ID                        int64

	roles        map[string]string // by login: read | write | admin | owner; everyone can read a public repository
	memberRoles  map[string]string // by login, for members of a team: same values
	teamRoles    map[string]string // by team: same values
	pulls        []*Pull
	issues       []*Issue
	pendingLooks int // of a fork in creation: number of requests until it exists
	checks       []Check
	status       []Status
	teams        []string // teams that may review
	ownerKind    string   // User (also if empty) or Organization
	labels       []string // of Gitea, which identifies them by number
}

func (r *Repo) fullName() string { return r.Owner + "/" + r.Name }

// roleOf returns a login's role: read | write | admin, or "" for none.
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
	pendingLooks int // number of requests until its mergeability is known
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
	// Resolved is the login that resolved the conversation of this first comment.
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
	// MissingPermissions are permissions that the token lacks: pull_requests, contents, issues, checks, administration.
	MissingPermissions []string
	// Scopes are the scopes of a Gitea token, by Gitea's names. If empty, the token has all.
	Scopes  []string
	Expires time.Time // zero: never
	// Remaining is the number of requests left until Reset. 0 with a zero Reset means no limit.
	Remaining int
	Reset     time.Time
	app       *Repo // the only repository of an installation token
}

func (t *Token) hasPermission(permission string) bool {
	return !slices.Contains(t.MissingPermissions, permission)
}

// AddRepo adds a repository with the history of the git repository src. Its default branch is main.
func (s *Server) AddRepo(owner, name, src string) *Repo {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	repo := &Repo{Owner: owner, Name: name, Default: "main", ID: s.nextID(), roles: map[string]string{}}
	repo.Dir = s.initRepo(repo.fullName(), src)
	s.repos[strings.ToLower(repo.fullName())] = repo
	return repo
}

// Invite gives a login a role in a repository: read, write, admin, or owner of its organisation.
func (s *Server) Invite(repo *Repo, login, role string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	repo.roles[login] = role
}

// SetPrivate hides a repository from logins without a role.
func (s *Server) SetPrivate(repo *Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	repo.Private = true
}

// AddTeam creates a team of the repository's owner that may be asked for reviews, with a role in the repository and
// members.
func (s *Server) AddTeam(repo *Repo, slug, role string, members ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	repo.teams = append(repo.teams, slug)
	if repo.teamRoles == nil {
		repo.teamRoles = map[string]string{}
	}
	repo.teamRoles[slug] = role
	for _, m := range members {
		if repo.memberRoles == nil {
			repo.memberRoles = map[string]string{}
		}
		repo.memberRoles[m] = role
	}
}

// Resolve resolves the conversation that starts with a comment at a line.
func (s *Server) Resolve(repo *Repo, number int, line int64, by string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	pull := repo.findPull(number)
	for i := range pull.lines {
		if pull.lines[i].ID == line {
			pull.lines[i].Resolved = by
			return
		}
	}
	s.t.Fatalf("there is no comment %d", line)
}

// AddLogin adds a token with that name.
func (s *Server) AddLogin(token string, t Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = &t
}

// DelayMergeCheck makes a Gitea report a branch's mergeability only after that many requests.
func (s *Server) DelayMergeCheck(looks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mergeCheckLooks = looks
}

// AddDuplicates opens n identical pull requests just before the next one.
func (s *Server) AddDuplicates(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.duplicates = n
}

// SetOwnerKind sets the kind of a repository's owner: User or Organization.
func (s *Server) SetOwnerKind(repo *Repo, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	repo.ownerKind = kind
}

// Secret returns the token that a client sends for a login.
func (s *Server) Secret(name string) string { return name }

// Pulls returns copies of a repository's current pull requests.
func (s *Server) Pulls(repo *Repo) []Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Pull
	for _, pull := range repo.pulls {
		s.refreshHead(repo, pull)
		c := *pull
		c.Labels = slices.Clone(pull.Labels)
		c.Reviewers = slices.Clone(pull.Reviewers)
		c.Teams = slices.Clone(pull.Teams)
		out = append(out, c)
	}
	return out
}

// Repo returns a repository, or nil if there is none.
func (s *Server) Repo(full string) *Repo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.repos[strings.ToLower(full)]
}

// EditPull changes a pull request as a person would do on the page.
func (s *Server) EditPull(repo *Repo, number int, change func(*Pull)) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	pull := repo.findPull(number)
	if pull == nil {
		s.t.Fatalf("there is no pull request %d", number)
	}
	change(pull)
	pull.Updated = s.nextTime()
}

// AddPull opens a pull request as a person would, and returns its number.
func (s *Server) AddPull(repo *Repo, pull Pull) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	pull.HeadOwner = cmp.Or(pull.HeadOwner, repo.Owner)
	made := s.newPull(repo, pull)
	repo.pulls = append(repo.pulls, made)
	return made.Number
}

// AddComment adds a comment to a pull request or an issue and returns its id.
func (s *Server) AddComment(repo *Repo, number int, said Comment) int64 {
	s.mu.Lock()
	if issue := repo.findIssue(number); issue != nil {
		defer s.mu.Unlock()
		said.ID, said.At = s.nextID(), s.nextTime()
		issue.comments = append(issue.comments, said)
		return said.ID
	}
	s.mu.Unlock()
	return s.appendComment(repo, number, said, func(p *Pull) *[]Comment { return &p.comments })
}

// AddLineComment adds a comment at a line of a pull request's diff and returns its id.
func (s *Server) AddLineComment(r *Repo, number int, said Comment) int64 {
	return s.appendComment(r, number, said, func(p *Pull) *[]Comment { return &p.lines })
}

// AddReview adds a review with a verdict and returns its id.
func (s *Server) AddReview(r *Repo, number int, said Comment) int64 {
	return s.appendComment(r, number, said, func(p *Pull) *[]Comment { return &p.reviews })
}

func (s *Server) appendComment(repo *Repo, number int, said Comment, list func(*Pull) *[]Comment) int64 {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	pull := repo.findPull(number)
	if pull == nil {
		s.t.Fatalf("there is no pull request %d", number)
	}
	s.refreshHead(repo, pull)
	said.ID = s.nextID()
	if said.At.IsZero() {
		said.At = s.nextTime()
	}
	said.Commit = cmp.Or(said.Commit, pull.HeadSHA)
	*list(pull) = append(*list(pull), said)
	return said.ID
}

// Comments returns the comments of a pull request.
func (s *Server) Comments(repo *Repo, number int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := repo.findPull(number); p != nil {
		return slices.Clone(p.comments)
	}
	return nil
}

// AddCheck adds a check run, or replaces the one with the same commit and name.
func (s *Server) AddCheck(repo *Repo, check Check) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	check.ID = s.nextID()
	repo.checks = append(
		slices.DeleteFunc(repo.checks, func(o Check) bool { return o.SHA == check.SHA && o.Name == check.Name }), check)
	return check.ID
}

// AddStatus adds a commit status, or replaces the one with the same commit and context.
func (s *Server) AddStatus(repo *Repo, status Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status.ID, status.At = s.nextID(), s.nextTime()
	repo.status = append(
		slices.DeleteFunc(repo.status, func(o Status) bool { return o.SHA == status.SHA && o.Context == status.Context }),
		status)
}

// MergePull merges a pull request as a person would with the button, and returns the merge commit.
func (s *Server) MergePull(repo *Repo, number int) string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	pull := repo.findPull(number)
	s.refreshHead(repo, pull)
	s.completeMerge(repo, pull)
	return pull.MergeSHA
}

// completeMerge merges a pull request. The caller holds the lock.
func (s *Server) completeMerge(r *Repo, pull *Pull) {
	pull.MergeSHA = s.mergeHead(r, pull)
	pull.State, pull.Merged = "closed", true
	pull.Updated = s.nextTime()
}

func (r *Repo) findPull(number int) *Pull {
	return r.firstPull(func(p *Pull) bool { return p.Number == number })
}

// openPull returns the open pull request of a branch for a base, or nil.
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

// newPull returns a numbered open pull request that is not in the list yet.
func (s *Server) newPull(repo *Repo, pull Pull) *Pull {
	pull.Number = s.nextNumber(repo)
	pull.ID = s.nextID()
	pull.State = "open"
	s.refreshHead(repo, &pull)
	pull.Created = s.nextTime()
	pull.Updated = pull.Created
	return &pull
}

// parseHead parses owner:branch, or a branch of the repository itself. from is the branch's repository, or nil if
// there is none.
func (s *Server) parseHead(repo *Repo, head string) (owner, ref string, from *Repo) {
	owner, ref, other := strings.Cut(head, ":")
	if !other {
		owner, ref = repo.Owner, head
	}
	return owner, ref, s.headRepo(repo, owner)
}

func (s *Server) nextNumber(repo *Repo) int {
	n := 0
	for _, p := range repo.pulls {
		n = max(n, p.Number)
	}
	for _, i := range repo.issues {
		n = max(n, i.Number)
	}
	return n + 1
}

// newestFirst returns a copy sorted newest first, as forges list them.
func newestFirst(ps []*Pull) []*Pull {
	ps = slices.Clone(ps)
	slices.SortStableFunc(ps, func(a, b *Pull) int { return b.Number - a.Number })
	return ps
}
