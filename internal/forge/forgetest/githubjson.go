package forgetest

import (
	"fmt"
	"strings"
	"time"
)

// The shapes of GitHub's replies: what its description requires, and what
// clients read.

type jsonObject = map[string]any

// shapeAll gives each of a list its JSON; a list of none is no null.
func shapeAll[T any](all []T, shape func(T) jsonObject) []jsonObject {
	out := []jsonObject{}
	for _, one := range all {
		out = append(out, shape(one))
	}
	return out
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (s *Server) userJSON(login string, bot bool) jsonObject {
	kind := "User"
	if bot {
		kind = "Bot"
	}
	u := s.URL + "/api/v3/users/" + login
	o := jsonObject{"login": login, "id": hashID(login), "node_id": "U_" + login, "gravatar_id": "", "type": kind, "site_admin": false,
		"url": u, "html_url": s.URL + "/" + login, "avatar_url": u + "/avatar"}
	for _, k := range []string{"events", "followers", "following", "gists", "organizations", "received_events", "repos", "starred", "subscriptions"} {
		o[k+"_url"] = u + "/" + k
	}
	return o
}

func hashID(text string) int {
	n := 7
	for _, r := range text {
		n = (n*31 + int(r)) % 1_000_000
	}
	return n
}

var repoURLs = strings.Fields(`archive assignees blobs branches collaborators comments commits compare contents contributors deployments
	downloads events forks git_commits git_refs git_tags hooks issue_comment issue_events issues keys labels languages merges milestones
	notifications pulls releases stargazers statuses subscribers subscription tags teams trees`)

func (s *Server) repoJSON(r *Repo, tok *Token) jsonObject {
	u := s.URL + "/api/v3/repos/" + r.fullName()
	o := jsonObject{"id": r.ID, "node_id": fmt.Sprint("R_", r.ID), "name": r.Name, "full_name": r.fullName(), "owner": s.userJSON(r.Owner, false), "private": r.Private,
		"html_url": s.URL + "/" + r.fullName(), "description": nil, "fork": r.Parent != nil, "url": u, "clone_url": s.CloneURL(r), "git_url": s.CloneURL(r),
		"ssh_url": "git@127.0.0.1:" + r.fullName() + ".git", "svn_url": s.URL, "mirror_url": nil, "homepage": nil, "language": nil, "default_branch": r.Default,
		"forks": 0, "forks_count": 0, "has_issues": true, "has_projects": true, "has_wiki": true, "has_pages": false, "has_downloads": true, "has_discussions": false,
		"archived": false, "disabled": false, "open_issues": 0, "open_issues_count": 0, "license": nil, "size": 1, "stargazers_count": 0, "watchers": 0,
		"watchers_count": 0, "network_count": 0, "subscribers_count": 0, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
		"pushed_at": "2026-01-01T00:00:00Z", "visibility": "public"}
	if r.ownerKind != "" {
		o["owner"].(jsonObject)["type"] = r.ownerKind
	}
	for _, k := range repoURLs {
		o[k+"_url"] = u + "/" + k
	}
	if tok != nil {
		write := tok.app == r || tok.app == nil && r.hasRole(tok.Login, "write")
		o["permissions"] = jsonObject{"admin": tok.app == nil && r.roleOf(tok.Login) == "admin", "maintain": write, "push": write, "triage": write, "pull": r.hasRole(tok.Login, "read")}
	}
	return o
}

func (s *Server) pullJSON(r *Repo, p *Pull, full bool) jsonObject {
	u := fmt.Sprintf("%s/api/v3/repos/%s/pulls/%d", s.URL, r.fullName(), p.Number)
	issue := fmt.Sprintf("%s/api/v3/repos/%s/issues/%d", s.URL, r.fullName(), p.Number)
	html := fmt.Sprintf("%s/%s/pull/%d", s.URL, r.fullName(), p.Number)
	side := func(owner, ref, sha string, repo *Repo) jsonObject {
		o := jsonObject{"label": owner + ":" + ref, "ref": ref, "sha": sha, "user": s.userJSON(owner, false)}
		if repo != nil {
			o["repo"] = s.repoJSON(repo, nil)
		}
		return o
	}
	labels := shapeAll(p.Labels, func(l string) jsonObject { return s.labelJSON(r, l) })
	reviewers := shapeAll(p.Reviewers, func(l string) jsonObject { return s.userJSON(l, false) })
	teams := shapeAll(p.Teams, func(l string) jsonObject { return s.teamJSON(r, l) })
	link := func(href string) jsonObject { return jsonObject{"href": href} }
	o := jsonObject{"id": p.ID, "node_id": fmt.Sprint("PR_", p.ID), "number": p.Number, "title": p.Title, "body": p.Body, "state": p.State, "draft": p.Draft, "locked": false,
		"url": u, "html_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch", "issue_url": issue, "commits_url": u + "/commits",
		"comments_url": issue + "/comments", "review_comments_url": u + "/comments", "review_comment_url": u + "/comments{/number}",
		"statuses_url": s.URL + "/api/v3/repos/" + r.fullName() + "/statuses/" + p.HeadSHA, "user": s.userJSON(p.User, false), "labels": labels,
		"created_at": formatTime(p.Created), "updated_at": formatTime(p.Updated), "closed_at": nil, "merged_at": nil, "merge_commit_sha": nil, "milestone": nil,
		"assignee": nil, "auto_merge": nil, "author_association": associationOf(r, p.User), "requested_reviewers": reviewers, "requested_teams": teams,
		"head": side(p.HeadOwner, p.HeadRef, p.HeadSHA, s.headRepo(r, p.HeadOwner)), "base": side(r.Owner, p.Base, s.branchSHA(r, p.Base), r),
		"_links": jsonObject{"comments": link(issue + "/comments"), "commits": link(u + "/commits"), "statuses": link(u), "html": link(html), "issue": link(issue),
			"review_comments": link(u + "/comments"), "review_comment": link(u + "/comments{/number}"), "self": link(u)},
	}
	if p.State == "closed" {
		o["closed_at"] = formatTime(p.Updated)
	}
	if p.Merged {
		o["merged_at"], o["merge_commit_sha"] = formatTime(p.Updated), p.MergeSHA
	}
	if !full {
		return o
	}
	o["merged"], o["merged_by"], o["maintainer_can_modify"] = p.Merged, nil, true
	o["comments"], o["review_comments"] = len(p.comments), len(p.lines)
	o["commits"], o["additions"], o["deletions"], o["changed_files"] = s.countChanges(r, p)
	o["mergeable"], o["mergeable_state"] = nil, "unknown"
	// GitHub works it out after the first look.
	if p.lookedAt != p.HeadSHA+s.branchSHA(r, p.Base) {
		p.lookedAt = p.HeadSHA + s.branchSHA(r, p.Base)
	} else if p.State == "open" {
		ok := s.mergesCleanly(r, p)
		o["mergeable"], o["mergeable_state"] = ok, "clean"
		if !ok {
			o["mergeable_state"] = "dirty"
		}
	}
	return o
}

// countChanges is what git says of a pull request's size.
func (s *Server) countChanges(r *Repo, p *Pull) (commits, added, deleted, files int) {
	base := s.branchSHA(r, p.Base)
	if out, err := s.runGit(r.Dir, "rev-list", "--count", base+".."+p.HeadSHA); err == nil {
		_, _ = fmt.Sscan(out, &commits)
	}
	out, err := s.runGit(r.Dir, "diff", "--numstat", base+"..."+p.HeadSHA)
	if err != nil || out == "" {
		return
	}
	for line := range strings.SplitSeq(out, "\n") {
		var a, d int
		_, _ = fmt.Sscan(line, &a, &d) // a binary file has dashes
		added, deleted, files = added+a, deleted+d, files+1
	}
	return
}

func (s *Server) labelJSON(r *Repo, name string) jsonObject {
	return jsonObject{"id": hashID(name), "node_id": "L_" + name, "url": s.URL + "/api/v3/repos/" + r.fullName() + "/labels/" + name, "name": name,
		"description": "", "color": "ededed", "default": false}
}

func (s *Server) teamJSON(r *Repo, slug string) jsonObject {
	u := s.URL + "/api/v3/teams/" + slug
	return jsonObject{"id": hashID(slug), "node_id": "T_" + slug, "url": u, "members_url": u + "/members{/member}", "repositories_url": u + "/repos", "html_url": u,
		"name": slug, "slug": slug, "description": nil, "permission": "pull", "parent": nil, "type": "organization", "organization_id": hashID(r.Owner)}
}

func associationOf(r *Repo, login string) string {
	switch {
	case login == r.Owner:
		return "OWNER"
	case r.memberRoles[login] != "":
		return "MEMBER" // of the organisation, whatever its team may
	case r.roles[login] != "":
		return "COLLABORATOR"
	}
	return "NONE"
}

func (s *Server) commentJSON(r *Repo, p *Pull, c Comment) jsonObject {
	u := fmt.Sprintf("%s/api/v3/repos/%s/issues/comments/%d", s.URL, r.fullName(), c.ID)
	return jsonObject{"id": c.ID, "node_id": fmt.Sprint("IC_", c.ID), "url": u, "html_url": fmt.Sprintf("%s/%s/pull/%d#issuecomment-%d", s.URL, r.fullName(), p.Number, c.ID),
		"issue_url": fmt.Sprintf("%s/api/v3/repos/%s/issues/%d", s.URL, r.fullName(), p.Number), "user": s.userJSON(c.User, c.Bot), "body": c.Body,
		"created_at": formatTime(c.At), "updated_at": formatTime(c.At), "author_association": associationOf(r, c.User)}
}

func (s *Server) lineJSON(r *Repo, p *Pull, c Comment) jsonObject {
	pr := fmt.Sprintf("%s/api/v3/repos/%s/pulls/%d", s.URL, r.fullName(), p.Number)
	u := fmt.Sprintf("%s/api/v3/repos/%s/pulls/comments/%d", s.URL, r.fullName(), c.ID)
	html := fmt.Sprintf("%s/%s/pull/%d#discussion_r%d", s.URL, r.fullName(), p.Number, c.ID)
	o := jsonObject{"id": c.ID, "node_id": fmt.Sprint("PRRC_", c.ID), "url": u, "html_url": html, "pull_request_url": pr, "pull_request_review_id": nil, "diff_hunk": "@@",
		"path": c.Path, "commit_id": c.Commit, "original_commit_id": c.Commit, "user": s.userJSON(c.User, c.Bot), "body": c.Body,
		"created_at": formatTime(c.At), "updated_at": formatTime(c.At), "author_association": associationOf(r, c.User),
		"_links": jsonObject{"self": jsonObject{"href": u}, "html": jsonObject{"href": html}, "pull_request": jsonObject{"href": pr}}}
	if c.Line > 0 {
		o["line"] = c.Line
	}
	if c.ReplyTo != 0 {
		o["in_reply_to_id"] = c.ReplyTo
	}
	return o
}

func (s *Server) reviewJSON(r *Repo, p *Pull, c Comment) jsonObject {
	pr := fmt.Sprintf("%s/api/v3/repos/%s/pulls/%d", s.URL, r.fullName(), p.Number)
	html := fmt.Sprintf("%s/%s/pull/%d#pullrequestreview-%d", s.URL, r.fullName(), p.Number, c.ID)
	return jsonObject{"id": c.ID, "node_id": fmt.Sprint("PRR_", c.ID), "user": s.userJSON(c.User, c.Bot), "body": c.Body, "state": c.State, "commit_id": c.Commit,
		"html_url": html, "pull_request_url": pr, "author_association": associationOf(r, c.User), "submitted_at": formatTime(c.At),
		"_links": jsonObject{"html": jsonObject{"href": html}, "pull_request": jsonObject{"href": pr}}}
}

func (s *Server) checkJSON(r *Repo, c Check) jsonObject {
	u := fmt.Sprintf("%s/api/v3/repos/%s/check-runs/%d", s.URL, r.fullName(), c.ID)
	o := jsonObject{"id": c.ID, "node_id": fmt.Sprint("CR_", c.ID), "head_sha": c.SHA, "external_id": "", "url": u, "html_url": c.URL, "details_url": c.URL, "name": c.Name,
		"status": c.Status, "conclusion": nil, "started_at": "2026-01-01T00:00:00Z", "completed_at": nil, "check_suite": jsonObject{"id": c.ID + 1},
		"pull_requests": []jsonObject{}, "app": nil,
		"output": jsonObject{"title": nil, "summary": c.Summary, "text": c.Text, "annotations_count": len(c.Annotations), "annotations_url": u + "/annotations"}}
	if c.Status == "completed" {
		o["conclusion"], o["completed_at"] = c.Conclusion, "2026-01-01T00:01:00Z"
	}
	if c.App != "" {
		o["app"] = jsonObject{"id": hashID(c.App), "slug": c.App, "node_id": "A_" + c.App, "owner": s.userJSON("github", false), "name": c.App, "description": nil,
			"external_url": s.URL, "html_url": s.URL, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "permissions": jsonObject{}, "events": []string{}}
	}
	return o
}
