package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/leak"
	"company/internal/prbody"
	"company/internal/safetext"
)

// A push cannot be taken back, so its content is searched before: the origin's
// base as it is now, every new file, name and commit, and the text of the pull
// request.

// remoteBase is the branch that a pull request is to be merged into, as it is at the remote.
type remoteBase struct {
	branch string
	oid    company.OID
	doubt  *company.Doubt
	// offered says that the branch is not the one that the work began for, and that nobody has
	// allowed it yet.
	offered bool
}

// findDoubts are what stands against pushing a task's head to its remote, less
// what a person let pass. Nil: nothing. base is where the pull request is to go.
func (c *Delivery) findDoubts(ctx context.Context, m *gitops.Mirror, t, lead *company.Task, remote string, pr forge.PR) (base remoteBase, held *company.HoldDelivery, err error) {
	base = remoteBase{branch: pr.Base, oid: t.RemoteHead()} // what the remote has
	if lead == t {
		if base, err = c.baseNow(ctx, m, t, remote); err != nil {
			return base, nil, err
		}
	}
	held = &company.HoldDelivery{Task: t.ID, Head: t.Delivery.Head}
	if base.doubt != nil {
		held.Doubts = append(held.Doubts, *base.doubt)
	}
	if base.offered {
		held.Into = base.branch
		return base, held, nil
	}
	secrets, err := c.findSecrets(ctx, m, base.oid, t.Delivery.Head, pr)
	if err != nil {
		return base, nil, err
	}
	held.Doubts = slices.DeleteFunc(append(held.Doubts, secrets...), func(d company.Doubt) bool { return t.Allows(d.Key) })
	if len(held.Doubts) == 0 {
		held = nil
	}
	return base, held, nil
}

// baseNow is where the base is at the remote, with a doubt where commits that
// the work began from are not in it any more: pushed, they would be back.
func (c *Delivery) baseNow(ctx context.Context, m *gitops.Mirror, t *company.Task, remote string) (remoteBase, error) {
	base := t.Prepared.Base
	out := remoteBase{branch: base.PRBranch, oid: base.OID}
	info, err := m.FetchBase(ctx, c.Log, gitops.Source{URL: remote}, base.PRBranch)
	if company.CodeOf(err) == company.ENotFound {
		return c.replaceBase(ctx, m, t, remote)
	}
	if err != nil {
		return out, err
	}
	out.oid = info.OID
	if base.Branch != base.PRBranch { // it began on another branch: what that held is not this one's to tell
		return out, nil
	}
	back, err := m.Log(ctx, info.OID, base.OID, base.Ahead+1)
	if err != nil || len(back) <= base.Ahead {
		return out, err
	}
	out.doubt = &company.Doubt{Key: "base " + string(info.OID), Says: fmt.Sprintf(
		"%s was at %s when the work began, and the remote has replaced that by %s: commits that were removed there would be back on the branch",
		base.PRBranch, base.OID.Short(), info.OID.Short())}
	return out, nil
}

// replaceBase finds what is in the place of a base that is gone from the remote: its default branch, where
// that contains what the work began from. Otherwise the error says what a person does.
func (c *Delivery) replaceBase(ctx context.Context, m *gitops.Mirror, t *company.Task, remote string) (remoteBase, error) {
	base := t.Prepared.Base
	name, any, err := m.DefaultBranch(ctx, gitops.Remote{URL: remote})
	if err != nil {
		return remoteBase{}, err
	}
	if !any {
		return c.emptyRemote(ctx, m, base, t.Project.Remote != "")
	}
	gone := company.E(company.ENotFound, fmt.Sprintf("the remote has no branch %q any more, which the pull request would be merged into", base.PRBranch)).
		Fix(fmt.Sprintf("bring it back there, and approve to try again; or company cancel %s, and submit from the new branch", t.ID)).NeedsPerson()
	if name == "" {
		return remoteBase{}, gone.Because("it was deleted or renamed since the work began, and the remote's HEAD names no branch that is there")
	}
	info, err := m.FetchBase(ctx, c.Log, gitops.Source{URL: remote}, name)
	if company.CodeOf(err) == company.EInvalid {
		return remoteBase{}, gone.Because("it was deleted or renamed since the work began, and the name of the remote's default branch is none that company takes")
	}
	if err != nil {
		return remoteBase{}, err
	}
	lost, err := m.Log(ctx, info.OID, base.OID, base.Ahead+1)
	if err != nil {
		return remoteBase{}, err
	}
	if len(lost) > base.Ahead {
		return remoteBase{}, gone.Because(fmt.Sprintf("it was deleted or renamed since the work began, and the remote's default branch, %s, does not contain %s, which the work began from",
			safetext.EscapeLine(name, 200), base.OID.Short()))
	}
	out := remoteBase{branch: name, oid: info.OID}
	if key := company.OtherBaseKey(base.PRBranch, name); !t.Allows(key) {
		out.offered = true
		out.doubt = &company.Doubt{Key: key, Says: fmt.Sprintf("the remote has no branch %s any more, which the pull request would be merged into. Its default branch, %s, contains %s, which the work began from",
			base.PRBranch, safetext.EscapeLine(name, 200), base.OID.Short())}
	}
	return out, nil
}

// emptyRemote is the base at a remote without a branch. A new remote has had none of the commits that
// the work began from, as far as the checkout knew, or came after the work began. Any other was
// emptied, or is another repository.
func (c *Delivery) emptyRemote(ctx context.Context, m *gitops.Mirror, base company.Base, hadRemote bool) (remoteBase, error) {
	out := remoteBase{branch: base.PRBranch, oid: base.OID}
	if !hadRemote {
		return out, nil
	}
	known, err := m.CountUpTo(ctx, base.OID, base.Ahead+1)
	if err == nil && known > base.Ahead {
		out.doubt = &company.Doubt{Key: "no branch " + base.PRBranch, Says: fmt.Sprintf(
			"the remote has no branch at all any more, and had %s when the work began: it was emptied, or is another repository. The pull request would have no base there", base.PRBranch)}
	}
	return out, err
}

// findSecrets returns the secrets in new content at head, and in the pull
// request, and what could not be looked through. A secret that the base holds in
// the same file is not published by this push.
func (c *Delivery) findSecrets(ctx context.Context, m *gitops.Mirror, base, head company.OID, pr forge.PR) ([]company.Doubt, error) {
	if c.Secrets == nil {
		return nil, nil
	}
	news, err := m.News(ctx, base, head)
	if err != nil {
		return nil, err
	}
	search := c.Secrets.NewSearch(ctx)
	var rest unseen
	var out []company.Doubt
	seen := map[string]bool{}
	add := func(f leak.Finding, where string) {
		if key := "secret " + f.Mark; !seen[key] {
			seen[key] = true
			out = append(out, company.Doubt{Key: key, Says: fmt.Sprintf("%s: %s", where, f.What)})
		}
	}
	if news.Cut {
		out = append(out, company.Doubt{Key: "too much " + string(head), Says: "more is new than is looked through: secrets in the rest would not be seen"})
	}
	now := map[gitops.NewFile]bool{}
	entries, err := m.List(ctx, head)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		now[gitops.NewFile{Path: e.Path, OID: e.OID}] = true
	}
	type found struct {
		in   gitops.NewFile
		what []leak.Finding
	}
	var all []found
	if err := m.ReadNews(ctx, readOnce(news.Files), func(f gitops.NewFile, text []byte) error {
		got := search.Scan(f.Path, text)
		if len(got.Findings) > 0 {
			all = append(all, found{f, got.Findings})
		}
		if got.Unseen > 0 {
			rest.add(got, c.shownPath(ctx, f.Path))
		}
		return ctx.Err()
	}); err != nil {
		return nil, err
	}
	for _, one := range all {
		before := map[string]bool{}
		old, err := m.ReadFile(ctx, base, one.in.Path)
		if err != nil && company.CodeOf(err) != company.ENotFound {
			return nil, err
		}
		for _, f := range search.Scan(one.in.Path, old).Findings {
			before[f.Mark] = true
		}
		where := c.shownPath(ctx, one.in.Path)
		if !now[one.in] {
			where += " (in a commit before the last)"
		}
		for _, f := range one.what {
			if !before[f.Mark] {
				add(f, fmt.Sprintf("%s, line %d", where, f.Line))
			}
		}
	}
	var names strings.Builder // one in a line
	for _, n := range news.Names {
		names.WriteString(strings.ReplaceAll(n.Path, "\n", " ") + "\n")
	}
	got := search.ScanProse(names.String())
	rest.add(got, "the names of new files")
	for _, f := range got.Findings { // not named by the path
		add(f, "the name of a file that "+news.Names[min(f.Line, len(news.Names))-1].By.Short()+" adds")
	}
	for _, commit := range news.Commits {
		head, _, _ := strings.Cut(commit.Raw, "\n\n")
		above := strings.Count(head, "\n") + 2 // lines before the message
		blank := blankSignature(head)
		got := search.Scan("", []byte(blank+commit.Raw[len(head):]))
		rest.add(got, "the commit "+commit.OID.Short())
		if blank != head { // the office's own secrets are looked for in signatures, too
			for _, f := range search.Scan("", []byte(head)).Findings {
				if f.Rule == leak.OwnRule {
					got.Findings = append(got.Findings, f)
				}
			}
		}
		for _, f := range got.Findings {
			if f.Line <= above {
				add(f, "who made "+commit.OID.Short()+", and when")
				continue
			}
			add(f, fmt.Sprintf("the message of %s, line %d", commit.OID.Short(), f.Line-above))
		}
	}
	got = search.ScanProse(pr.Title + "\n" + prbody.UnescapeMarkdown(pr.Body))
	rest.add(got, "the pull request's words")
	for _, f := range got.Findings {
		where := "the title of the pull request"
		if f.Line > 1 {
			where = fmt.Sprintf("the pull request's words, line %d", f.Line-1)
		}
		add(f, where)
	}
	return append(out, rest.doubts()...), ctx.Err()
}

// unseen are texts that were not looked through to their ends.
type unseen struct {
	marks, where []string
	bytes        int
}

func (u *unseen) add(r leak.Result, where string) {
	if r.Unseen > 0 && !slices.Contains(u.marks, r.Mark) {
		u.marks = append(u.marks, r.Mark)
		u.where = append(u.where, fmt.Sprintf("%s: its last %d bytes are not looked through for secrets", where, r.Unseen))
		u.bytes += r.Unseen
	}
}

// mostUnseen is how many texts have a doubt of their own; more have one together.
const mostUnseen = 10

// doubts are what a person has to let pass: a leave is for these very texts.
func (u *unseen) doubts() (out []company.Doubt) {
	if len(u.marks) > mostUnseen {
		sum := sha256.Sum256([]byte(strings.Join(u.marks, " ")))
		return []company.Doubt{{Key: "unseen " + hex.EncodeToString(sum[:8]), Says: fmt.Sprintf("%d bytes of %d texts are not looked through for secrets; %s, and others", u.bytes, len(u.marks), u.where[0])}}
	}
	for i, m := range u.marks {
		out = append(out, company.Doubt{Key: "unseen " + m, Says: u.where[i]})
	}
	return out
}

// readOnce are files, each once for each way in which its path has it read: one
// large file under a thousand names is a small push.
func readOnce(files []gitops.NewFile) []gitops.NewFile {
	type reading struct {
		oid company.OID
		way string
	}
	paths := map[company.OID]int{}
	for _, f := range files {
		paths[f.OID]++
	}
	seen := map[reading]bool{}
	var out []gitops.NewFile
	for _, f := range files {
		r := reading{oid: f.OID}
		if paths[f.OID] > 1 {
			r.way = leak.Way(f.Path)
		}
		if !seen[r] {
			seen[r] = true
			out = append(out, f)
		}
	}
	return out
}

// shownPath is a path of a repository for people: names are untrusted, and may
// hold a secret.
func (c *Delivery) shownPath(ctx context.Context, path string) string {
	if got := c.Secrets.ScanProse(ctx, path); len(got.Findings) > 0 || got.Unseen > 0 {
		return "a file whose name holds a secret"
	}
	if quoted := strconv.QuoteToGraphic(path); quoted != `"`+path+`"` || strings.ContainsAny(path, "\u200b\u200d\u2060\ufeff") {
		return quoted
	}
	return path
}
