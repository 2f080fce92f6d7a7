package forgetest

import (
	"fmt"
	"strings"
	"time"
)

// The JSON of GitHub's replies: the fields that its description requires and that clients read.

type jsonObject = map[string]any

// shapeAll converts each element to JSON. An empty list becomes [], not null.
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
	o := jsonObject{"login": login, "id": hashID(login), "node_id": "U_" + login, "gravatar_id": "", "type": kind,
		"site_admin": false,
		"url":        u, "html_url": s.URL + "/" + login, "avatar_url": u + "/avatar"}
	for _, k := range []string{"events", "followers", "following", "gists", "organizations", "received_events", "repos",
		"starred", "subscriptions"} {
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

var repoURLs = strings.Fields(
	`archive assignees blobs branches collaborators comments commits compare contents contributors deployments
	downloads events forks git_commits git_refs git_tags hooks issue_comment issue_events issues keys labels languages merges milestones
	notifications pulls releases stargazers statuses subscribers subscription tags teams trees`)

func (s *Server) repoJSON(repo *Repo, tok *Token) jsonObject {
	u := s.URL + "/api/v3/repos/" + repo.fullName()
	o := jsonObject{"id": repo.ID, "node_id": fmt.Sprint("R_", repo.ID), "name": repo.Name, "full_name": repo.fullName(),
		"owner": s.userJSON(repo.Owner, false), "private": repo.Private,
		"html_url": s.URL + "/" + repo.fullName(), "description": nil, "fork": repo.Parent != nil, "url": u,
		"clone_url": s.CloneURL(repo), "git_url": s.CloneURL(repo),
		"ssh_url": "git@127.0.0.1:" + repo.fullName() + ".git", "svn_url": s.URL, "mirror_url": nil, "homepage": nil,
		"language": nil, "default_branch": repo.Default,
		"forks": 0, "forks_count": 0, "has_issues": true, "has_projects": true, "has_wiki": true, "has_pages": false,
		"has_downloads": true, "has_discussions": false,
		"archived": false, "disabled": false, "open_issues": 0, "open_issues_count": 0, "license": nil, "size": 1,
		"stargazers_count": 0, "watchers": 0,
		"watchers_count": 0, "network_count": 0, "subscribers_count": 0, "created_at": "2026-01-01T00:00:00Z",
		"updated_at": "2026-01-01T00:00:00Z",
		"pushed_at":  "2026-01-01T00:00:00Z", "visibility": "public"}
	if repo.ownerKind != "" {
		o["owner"].(jsonObject)["type"] = repo.ownerKind
	}
	for _, k := range repoURLs {
		o[k+"_url"] = u + "/" + k
	}
	if tok != nil {
		write := tok.app == repo || tok.app == nil && repo.hasRole(tok.Login, "write")
		o["permissions"] = jsonObject{"admin": tok.app == nil && repo.roleOf(tok.Login) == "admin", "maintain": write,
			"push": write, "triage": write, "pull": repo.hasRole(tok.Login, "read")}
	}
	return o
}

func (s *Server) pullJSON(r *Repo, pull *Pull, full bool) jsonObject {
	u := fmt.Sprintf("%s/api/v3/repos/%s/pulls/%d", s.URL, r.fullName(), pull.Number)
	issue := fmt.Sprintf("%s/api/v3/repos/%s/issues/%d", s.URL, r.fullName(), pull.Number)
	html := fmt.Sprintf("%s/%s/pull/%d", s.URL, r.fullName(), pull.Number)
	side := func(owner, ref, sha string, repo *Repo) jsonObject {
		o := jsonObject{"label": owner + ":" + ref, "ref": ref, "sha": sha, "user": s.userJSON(owner, false)}
		if repo != nil {
			o["repo"] = s.repoJSON(repo, nil)
		}
		return o
	}
	labels := shapeAll(pull.Labels, func(l string) jsonObject { return s.labelJSON(r, l) })
	reviewers := shapeAll(pull.Reviewers, func(l string) jsonObject { return s.userJSON(l, false) })
	teams := shapeAll(pull.Teams, func(l string) jsonObject { return s.teamJSON(r, l) })
	link := func(href string) jsonObject { return jsonObject{"href": href} }
	o := jsonObject{"id": pull.ID, "node_id": fmt.Sprint("PR_", pull.ID), "number": pull.Number, "title": pull.Title,
		"body":  pull.Body,
		"state": pull.State, "draft": pull.Draft, "locked": false,
		"url": u, "html_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch", "issue_url": issue,
		"commits_url":  u + "/commits",
		"comments_url": issue + "/comments", "review_comments_url": u + "/comments",
		"review_comment_url": u + "/comments{/number}",
		"statuses_url":       s.URL + "/api/v3/repos/" + r.fullName() + "/statuses/" + pull.HeadSHA,
		"user":               s.userJSON(pull.User, false), "labels": labels,
		"created_at": formatTime(pull.Created), "updated_at": formatTime(pull.Updated), "closed_at": nil, "merged_at": nil,
		"merge_commit_sha": nil, "milestone": nil,
		"assignee": nil, "auto_merge": nil, "author_association": associationOf(r, pull.User),
		"requested_reviewers": reviewers,
		"requested_teams":     teams,
		"head":                side(pull.HeadOwner, pull.HeadRef, pull.HeadSHA, s.headRepo(r, pull.HeadOwner)),
		"base":                side(r.Owner, pull.Base, s.branchSHA(r, pull.Base), r),
		"_links": jsonObject{"comments": link(issue + "/comments"), "commits": link(u + "/commits"), "statuses": link(u),
			"html": link(html), "issue": link(issue),
			"review_comments": link(u + "/comments"), "review_comment": link(u + "/comments{/number}"), "self": link(u)},
	}
	if pull.State == "closed" {
		o["closed_at"] = formatTime(pull.Updated)
	}
	if pull.Merged {
		o["merged_at"], o["merge_commit_sha"] = formatTime(pull.Updated), pull.MergeSHA
	}
	if !full {
		return o
	}
	o["merged"] = pull.Merged
	o["merged_by"] = nil
	o["maintainer_can_modify"] = true
	o["comments"], o["review_comments"] = len(pull.comments), len(pull.lines)
	o["commits"], o["additions"], o["deletions"], o["changed_files"] = s.countChanges(r, pull)
	o["mergeable"], o["mergeable_state"] = nil, "unknown"
	// GitHub computes it after the first request.
	if pull.lookedAt != pull.HeadSHA+s.branchSHA(r, pull.Base) {
		pull.lookedAt = pull.HeadSHA + s.branchSHA(r, pull.Base)
	} else if pull.State == "open" {
		ok := s.mergesCleanly(r, pull)
		o["mergeable"], o["mergeable_state"] = ok, "clean"
		if !ok {
			o["mergeable_state"] = "dirty"
		}
	}
	return o
}

// countChanges returns the size of a pull request according to git.
func (s *Server) countChanges(repo *Repo, pull *Pull) (commits, added, deleted, files int) {
	base := s.branchSHA(repo, pull.Base)
	if out, err := s.runGit(repo.Dir, "rev-list", "--count", base+".."+pull.HeadSHA); err == nil {
		_, _ = fmt.Sscan(out, &commits)
	}
	out, err := s.runGit(repo.Dir, "diff", "--numstat", base+"..."+pull.HeadSHA)
	if err != nil || out == "" {
		return
	}
	for line := range strings.SplitSeq(out, "\n") {
		var a, d int
		_, _ = fmt.Sscan(line, &a, &d) // the numbers of a binary file are dashes
		added += a
		deleted += d
		files++
	}
	return
}

func (s *Server) labelJSON(repo *Repo, name string) jsonObject {
	return jsonObject{"id": hashID(name), "node_id": "L_" + name,
		"url": s.URL + "/api/v3/repos/" + repo.fullName() + "/labels/" + name, "name": name,
		"description": "", "color": "ededed", "default": false}
}

func (s *Server) teamJSON(repo *Repo, slug string) jsonObject {
	u := s.URL + "/api/v3/teams/" + slug
	return jsonObject{"id": hashID(slug), "node_id": "T_" + slug, "url": u, "members_url": u + "/members{/member}",
		"repositories_url": u + "/repos", "html_url": u,
		"name": slug, "slug": slug, "description": nil, "permission": "pull", "parent": nil, "type": "organization",
		"organization_id": hashID(repo.Owner)}
}

func associationOf(repo *Repo, login string) string {
	switch {
	case login == repo.Owner:
		return "OWNER"
	case repo.memberRoles[login] != "":
		return "MEMBER" // of the organisation, with any team role
	case repo.roles[login] != "":
		return "COLLABORATOR"
	}
	return "NONE"
}

func (s *Server) commentJSON(repo *Repo, pull *Pull, comment Comment) jsonObject {
	u := fmt.Sprintf("%s/api/v3/repos/%s/issues/comments/%d", s.URL, repo.fullName(), comment.ID)
	return jsonObject{"id": comment.ID, "node_id": fmt.Sprint("IC_", comment.ID), "url": u,
		"html_url":  fmt.Sprintf("%s/%s/pull/%d#issuecomment-%d", s.URL, repo.fullName(), pull.Number, comment.ID),
		"issue_url": fmt.Sprintf("%s/api/v3/repos/%s/issues/%d", s.URL, repo.fullName(), pull.Number),
		"user":      s.userJSON(comment.User, comment.Bot), "body": comment.Body,
		"created_at": formatTime(comment.At), "updated_at": formatTime(comment.At),
		"author_association": associationOf(repo, comment.User)}
}

func (s *Server) lineJSON(repo *Repo, pull *Pull, comment Comment) jsonObject {
	pr := fmt.Sprintf("%s/api/v3/repos/%s/pulls/%d", s.URL, repo.fullName(), pull.Number)
	u := fmt.Sprintf("%s/api/v3/repos/%s/pulls/comments/%d", s.URL, repo.fullName(), comment.ID)
	html := fmt.Sprintf("%s/%s/pull/%d#discussion_r%d", s.URL, repo.fullName(), pull.Number, comment.ID)
	o := jsonObject{"id": comment.ID, "node_id": fmt.Sprint("PRRC_", comment.ID), "url": u, "html_url": html,
		"pull_request_url":       pr,
		"pull_request_review_id": nil, "diff_hunk": "@@",
		"path": comment.Path, "commit_id": comment.Commit, "original_commit_id": comment.Commit,
		"user":       s.userJSON(comment.User, comment.Bot),
		"body":       comment.Body,
		"created_at": formatTime(comment.At), "updated_at": formatTime(comment.At),
		"author_association": associationOf(repo, comment.User),
		"_links": jsonObject{"self": jsonObject{"href": u}, "html": jsonObject{"href": html},
			"pull_request": jsonObject{"href": pr}}}
	if comment.Line > 0 {
		o["line"] = comment.Line
	}
	if comment.ReplyTo != 0 {
		o["in_reply_to_id"] = comment.ReplyTo
	}
	return o
}

func (s *Server) reviewJSON(repo *Repo, pull *Pull, comment Comment) jsonObject {
	pr := fmt.Sprintf("%s/api/v3/repos/%s/pulls/%d", s.URL, repo.fullName(), pull.Number)
	html := fmt.Sprintf("%s/%s/pull/%d#pullrequestreview-%d", s.URL, repo.fullName(), pull.Number, comment.ID)
	return jsonObject{"id": comment.ID, "node_id": fmt.Sprint("PRR_", comment.ID),
		"user": s.userJSON(comment.User, comment.Bot), "body": comment.Body,
		"state": comment.State, "commit_id": comment.Commit,
		"html_url": html, "pull_request_url": pr, "author_association": associationOf(repo, comment.User),
		"submitted_at": formatTime(comment.At),
		"_links":       jsonObject{"html": jsonObject{"href": html}, "pull_request": jsonObject{"href": pr}}}
}

func (s *Server) checkJSON(r *Repo, check Check) jsonObject {
	u := fmt.Sprintf("%s/api/v3/repos/%s/check-runs/%d", s.URL, r.fullName(), check.ID)
	o := jsonObject{"id": check.ID, "node_id": fmt.Sprint("CR_", check.ID), "head_sha": check.SHA,
		"external_id": "", "url": u,
		"html_url": check.URL, "details_url": check.URL, "name": check.Name,
		"status": check.Status, "conclusion": nil, "started_at": "2026-01-01T00:00:00Z", "completed_at": nil,
		"check_suite":   jsonObject{"id": check.ID + 1},
		"pull_requests": []jsonObject{}, "app": nil,
		"output": jsonObject{"title": nil, "summary": check.Summary, "text": check.Text,
			"annotations_count": len(check.Annotations),
			"annotations_url":   u + "/annotations"}}
	if check.Status == "completed" {
		o["conclusion"], o["completed_at"] = check.Conclusion, "2026-01-01T00:01:00Z"
	}
	if check.App != "" {
		o["app"] = jsonObject{"id": hashID(check.App), "slug": check.App, "node_id": "A_" + check.App,
			"owner": s.userJSON("github", false), "name": check.App, "description": nil,
			"external_url": s.URL, "html_url": s.URL, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
			"permissions": jsonObject{}, "events": []string{}}
	}
	return o
}
