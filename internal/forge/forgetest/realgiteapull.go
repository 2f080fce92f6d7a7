package forgetest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Pull requests of a real Gitea, as people create and change them.

type giteaPullJSON struct {
	Number      int
	Title, Body string
	State       string
	Draft       bool
	Merged      bool
	MergeSHA    string `json:"merge_commit_sha"`
	User        struct{ Login string }
	Head        struct {
		Ref, SHA string
		Repo     *struct{ Owner struct{ Login string } }
	}
	Base      struct{ Ref string }
	Labels    []struct{ Name string }
	Reviewers []struct{ Login string } `json:"requested_reviewers"`
	Teams     []struct{ Name string }  `json:"requested_reviewers_teams"`
}

func (p giteaPullJSON) toPull() Pull {
	out := Pull{Number: p.Number, Title: p.Title, Body: p.Body, State: p.State, Draft: p.Draft, Merged: p.Merged,
		MergeSHA: p.MergeSHA, User: p.User.Login,
		HeadRef: p.Head.Ref, HeadSHA: p.Head.SHA, Base: p.Base.Ref}
	if p.Head.Repo != nil {
		out.HeadOwner = p.Head.Repo.Owner.Login
	}
	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.Name)
	}
	for _, u := range p.Reviewers {
		out.Reviewers = append(out.Reviewers, u.Login)
	}
	for _, t := range p.Teams {
		out.Teams = append(out.Teams, t.Name)
	}
	return out
}

// Pulls returns the pull requests, oldest first.
func (g *RealGitea) Pulls(repo *Repo) []Pull {
	g.t.Helper()
	var out []Pull
	for page := 1; ; page++ {
		var some []giteaPullJSON
		g.mustCall(adminLogin, "GET", fmt.Sprintf("/repos/%s/pulls?state=all&limit=50&page=%d", repo.fullName(), page),
			nil, &some)
		for _, p := range some {
			out = append(out, p.toPull())
		}
		if len(some) == 0 {
			break
		}
	}
	slices.SortFunc(out, func(a, b Pull) int { return a.Number - b.Number })
	return out
}

func (g *RealGitea) getPull(repo *Repo, number int) Pull {
	g.t.Helper()
	var pullJSON giteaPullJSON
	g.mustCall(adminLogin, "GET", fmt.Sprintf("/repos/%s/pulls/%d", repo.fullName(), number), nil, &pullJSON)
	return pullJSON.toPull()
}

// AddPull opens a pull request as a person.
func (g *RealGitea) AddPull(repo *Repo, pull Pull) int {
	g.t.Helper()
	var made giteaPullJSON
	g.mustCall(pull.User, "POST", "/repos/"+repo.fullName()+"/pulls",
		jsonObject{"title": pull.Title, "body": pull.Body, "head": pull.HeadRef, "base": pull.Base}, &made)
	return made.Number
}

// EditPull changes the fields that a person can change: the title, the text, the state, and added labels.
func (g *RealGitea) EditPull(repo *Repo, number int, change func(*Pull)) {
	g.t.Helper()
	was := g.getPull(repo, number)
	now := was
	now.Labels = slices.Clone(was.Labels)
	change(&now)
	edit := jsonObject{}
	for key, pair := range map[string][2]string{"title": {was.Title, now.Title}, "body": {was.Body, now.Body},
		"state": {was.State, now.State}} {
		if pair[0] != pair[1] {
			edit[key] = pair[1]
		}
	}
	if len(edit) > 0 {
		g.mustCall(adminLogin, "PATCH", fmt.Sprintf("/repos/%s/pulls/%d", repo.fullName(), number), edit, nil)
	}
	for _, l := range now.Labels {
		if slices.Contains(was.Labels, l) {
			continue
		}
		var made struct{ ID int64 }
		g.mustCall(adminLogin, "POST", "/repos/"+repo.fullName()+"/labels", jsonObject{"name": l, "color": "#00ff00"}, &made)
		g.mustCall(adminLogin, "POST", fmt.Sprintf("/repos/%s/issues/%d/labels", repo.fullName(), number),
			jsonObject{"labels": []int64{made.ID}}, nil)
	}
}

// MergePull merges with the button, as soon as Gitea allows it, and returns the merge commit.
func (g *RealGitea) MergePull(repo *Repo, number int) string {
	g.t.Helper()
	g.waitUntil("Gitea lets it be merged", func() bool {
		code, said := g.callAs(adminLogin, "POST", fmt.Sprintf("/repos/%s/pulls/%d/merge", repo.fullName(), number),
			jsonObject{"Do": "merge"}, nil)
		if code >= 300 && code != http.StatusMethodNotAllowed && code != http.StatusConflict {
			g.t.Fatalf("merge: %d %s", code, said)
		}
		return code < 300
	})
	return g.getPull(repo, number).MergeSHA
}

// Comments returns the comments of a pull request.
func (g *RealGitea) Comments(repo *Repo, number int) []Comment {
	g.t.Helper()
	var got []struct {
		ID   int64
		Body string
		User struct{ Login string }
	}
	g.mustCall(adminLogin, "GET", fmt.Sprintf("/repos/%s/issues/%d/comments", repo.fullName(), number), nil, &got)
	var out []Comment
	for _, c := range got {
		out = append(out, Comment{ID: c.ID, Body: c.Body, User: c.User.Login})
	}
	return out
}

// AddComment adds a comment to a pull request and returns its id.
func (g *RealGitea) AddComment(repo *Repo, number int, said Comment) int64 {
	g.t.Helper()
	var made struct{ ID int64 }
	g.mustCall(said.User, "POST", fmt.Sprintf("/repos/%s/issues/%d/comments", repo.fullName(), number),
		jsonObject{"body": said.Body}, &made)
	return made.ID
}

// AddIssue opens an issue as a person.
func (g *RealGitea) AddIssue(repo *Repo, issue Issue) int {
	g.t.Helper()
	var made struct{ Number int }
	g.mustCall(issue.User, "POST", "/repos/"+repo.fullName()+"/issues",
		jsonObject{"title": issue.Title, "body": issue.Body}, &made)
	return made.Number
}

// CloseIssue closes an issue.
func (g *RealGitea) CloseIssue(repo *Repo, number int) {
	g.t.Helper()
	g.mustCall(adminLogin, "PATCH", fmt.Sprintf("/repos/%s/issues/%d", repo.fullName(), number),
		jsonObject{"state": "closed"}, nil)
}

// AddReview adds a review and returns its id.
func (g *RealGitea) AddReview(repo *Repo, number int, said Comment) int64 {
	g.t.Helper()
	event := map[string]string{"APPROVED": "APPROVED", "CHANGES_REQUESTED": "REQUEST_CHANGES",
		"COMMENTED": "COMMENT"}[said.State]
	var made struct{ ID int64 }
	g.mustCall(said.User, "POST", fmt.Sprintf("/repos/%s/pulls/%d/reviews", repo.fullName(), number),
		jsonObject{"body": said.Body, "event": event}, &made)
	return made.ID
}

type giteaLineComment struct {
	ID     int64
	Body   string
	Review int64 `json:"pull_request_review_id"`
}

func (g *RealGitea) linesOf(repo *Repo, number int, review int64) []giteaLineComment {
	g.t.Helper()
	var got []giteaLineComment
	g.mustCall(adminLogin, "GET", fmt.Sprintf("/repos/%s/pulls/%d/reviews/%d/comments", repo.fullName(), number, review),
		nil,
		&got)
	return got
}

// AddLineComment adds a comment at a line in its own review, or a reply. Gitea's API cannot reply, so a reply uses
// the page's form.
func (g *RealGitea) AddLineComment(repo *Repo, number int, said Comment) int64 {
	g.t.Helper()
	find := func(review int64) int64 {
		g.t.Helper()
		for _, lineComment := range g.linesOf(repo, number, review) {
			if lineComment.Body == said.Body {
				return lineComment.ID
			}
		}
		g.t.Fatalf("%q is not in review %d", said.Body, review)
		return 0
	}
	if said.ReplyTo == 0 {
		var made struct{ ID int64 }
		g.mustCall(said.User, "POST", fmt.Sprintf("/repos/%s/pulls/%d/reviews", repo.fullName(), number),
			jsonObject{"event": "COMMENT",
				"comments": []jsonObject{{"path": said.Path, "body": said.Body, "new_position": said.Line}}}, &made)
		return find(made.ID)
	}
	var reviews []struct{ ID int64 }
	g.mustCall(adminLogin, "GET", fmt.Sprintf("/repos/%s/pulls/%d/reviews?limit=50", repo.fullName(), number),
		nil, &reviews)
	for _, v := range reviews {
		for _, l := range g.linesOf(repo, number, v.ID) {
			if l.ID == said.ReplyTo {
				g.postReply(repo, number, v.ID, said)
				return find(v.ID)
			}
		}
	}
	g.t.Fatalf("there is no comment %d", said.ReplyTo)
	return 0
}

// postReply sends the form below a conversation.
func (g *RealGitea) postReply(repo *Repo, number int, review int64, said Comment) {
	g.t.Helper()
	jar := newJar(g.t)
	page := &http.Client{Jar: jar, Transport: g.http.Client().Transport, Timeout: time.Minute}
	send := func(path string, form url.Values) {
		g.t.Helper()
		form.Set("_csrf", csrfOf(jar, mustURL(g.t, g.BaseURL())))
		req, err := http.NewRequest(http.MethodPost, g.BaseURL()+path, strings.NewReader(form.Encode()))
		if err != nil {
			g.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", g.http.URL)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		resp, err := page.Do(req)
		if err != nil {
			g.t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode >= 400 {
			g.t.Fatalf("POST %s: %d", path, resp.StatusCode)
		}
	}
	g.ensureUser(said.User)
	if resp, err := page.Get(g.BaseURL() + "/user/login"); err == nil {
		_ = resp.Body.Close()
	}
	send("/user/login", url.Values{"user_name": {said.User}, "password": {password}})
	send(fmt.Sprintf("/%s/pulls/%d/files/reviews/comments", repo.fullName(), number), url.Values{
		"origin": {"timeline"}, "content": {said.Body}, "side": {"proposed"}, "line": {fmt.Sprint(said.Line)},
		"path":  {said.Path},
		"reply": {fmt.Sprint(review)}, "latest_commit_id": {g.getPull(repo, number).HeadSHA}, "single_review": {"true"},
	})
}

// Resolve resolves a conversation.
func (g *RealGitea) Resolve(repo *Repo, _ int, line int64, by string) {
	g.t.Helper()
	g.mustCall(by, "POST", fmt.Sprintf("/repos/%s/pulls/comments/%d/resolve", repo.fullName(), line), nil, nil)
}

// AddStatus adds a commit status.
func (g *RealGitea) AddStatus(repo *Repo, status Status) {
	g.t.Helper()
	g.mustCall(adminLogin, "POST", fmt.Sprintf("/repos/%s/statuses/%s", repo.fullName(), status.SHA),
		jsonObject{"context": status.Context, "state": status.State, "description": status.Description,
			"target_url": status.URL}, nil)
}
