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
	"company/internal/delivery/prbody"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/lib/safetext"
	"company/internal/lib/secretscan"
)

// A push cannot be undone, so its content is checked before it: the current base at the remote, every new file, name
// and commit, and the text of the pull request.

// remoteBase is the target branch of a pull request in its current state at the remote.
type remoteBase struct {
	branch string
	oid    company.OID
	doubt  *company.Doubt
	// offered means that the branch is not the one that the work started from and that no person has allowed it yet.
	offered bool
}

// findDoubts returns the doubts about pushing a task's head to its remote, without those that a person allowed. held
// is nil if there are none. base is the target branch of the pull request.
func (c *Delivery) findDoubts(
	ctx context.Context, mirror *gitops.Mirror, task, lead *company.Task, remote string, pr forge.PR,
) (base remoteBase, held *company.HoldDelivery, err error) {
	base = remoteBase{branch: pr.Base, oid: task.RemoteHead()} // the remote's state
	if lead.PR != nil && lead.PR.Unpushed {
		base.oid = lead.Prepared.Base.OID // the remote has nothing of the earlier deliveries
	}
	if lead == task {
		if base, err = c.baseNow(ctx, mirror, task, remote); err != nil {
			return base, nil, err
		}
	}
	held = &company.HoldDelivery{Task: task.ID, Head: task.Delivery.Head}
	if base.doubt != nil {
		held.Doubts = append(held.Doubts, *base.doubt)
	}
	if base.offered {
		held.Into = base.branch
		return base, held, nil
	}
	secrets, err := c.findSecrets(ctx, mirror, base.oid, task.Delivery.Head, pr)
	if err != nil {
		return base, nil, err
	}
	bypassed, err := c.findBypassed(ctx, mirror, base.oid, task.Delivery.Head)
	if err != nil {
		return base, nil, err
	}
	held.Doubts = slices.DeleteFunc(
		slices.Concat(held.Doubts, secrets, bypassed), func(d company.Doubt) bool { return task.Allows(d.Key) })
	if len(held.Doubts) == 0 {
		held = nil
	}
	return base, held, nil
}

// baseNow returns the current base at the remote. It adds a doubt if the base no longer contains commits that the
// work started from: a push would bring them back.
func (c *Delivery) baseNow(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, remote string,
) (remoteBase, error) {
	base := task.Prepared.Base
	out := remoteBase{branch: base.PRBranch, oid: base.OID}
	info, err := mirror.FetchBase(ctx, c.Log, gitops.Source{URL: remote}, base.PRBranch)
	if company.CodeOf(err) == company.ENotFound {
		return c.replaceBase(ctx, mirror, task, remote)
	}
	if err != nil {
		return out, err
	}
	out.oid = info.OID
	if base.Branch != base.PRBranch { // the work began on another branch, whose commits are not compared here
		return out, nil
	}
	back, err := mirror.Log(ctx, info.OID, base.OID, base.Ahead+1)
	if err != nil || len(back) <= base.Ahead {
		return out, err
	}
	out.doubt = &company.Doubt{Key: "base " + string(info.OID), Says: fmt.Sprintf(
		"%s was at %s when the work began, and the remote has replaced that by %s: commits that were removed there would "+
			"be back on the branch",
		base.PRBranch, base.OID.Short(), info.OID.Short())}
	return out, nil
}

// replaceBase finds a replacement for a base that no longer exists at the remote: the remote's default branch, if it
// contains the commit that the work started from. Otherwise the error tells what a person must do.
func (c *Delivery) replaceBase(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, remote string,
) (remoteBase, error) {
	base := task.Prepared.Base
	name, any, err := mirror.DefaultBranch(ctx, gitops.Remote{URL: remote})
	if err != nil {
		return remoteBase{}, err
	}
	if !any {
		return c.emptyRemote(ctx, mirror, base, task.Project.Remote != "")
	}
	gone := company.E(company.ENotFound,
		fmt.Sprintf("the remote has no branch %q any more, the base of the pull request", base.PRBranch)).
		Fix(fmt.Sprintf("restore it there, and approve to try again; or company cancel %s, and submit from the new branch",
			task.ID)).NeedsPerson()
	if name == "" {
		return remoteBase{}, gone.Because(
			"it was deleted or renamed since the work began, and the remote's HEAD names no existing branch")
	}
	info, err := mirror.FetchBase(ctx, c.Log, gitops.Source{URL: remote}, name)
	if company.CodeOf(err) == company.EInvalid {
		return remoteBase{}, gone.Because(
			"it was deleted or renamed since the work began, and company does not accept the name of the remote's default " +
				"branch")
	}
	if err != nil {
		return remoteBase{}, err
	}
	lost, err := mirror.Log(ctx, info.OID, base.OID, base.Ahead+1)
	if err != nil {
		return remoteBase{}, err
	}
	if len(lost) > base.Ahead {
		return remoteBase{}, gone.Because(
			fmt.Sprintf("it was deleted or renamed since the work began, and the remote's default branch, %s, does not "+
				"contain %s, which the work began from",
				safetext.EscapeLine(name, 200), base.OID.Short()))
	}
	out := remoteBase{branch: name, oid: info.OID}
	if key := company.OtherBaseKey(base.PRBranch, name); !task.Allows(key) {
		out.offered = true
		out.doubt = &company.Doubt{Key: key,
			Says: fmt.Sprintf("the remote has no branch %s any more, which the pull request would be merged into. Its default "+
				"branch, %s, contains %s, which the work began from",
				base.PRBranch, safetext.EscapeLine(name, 200), base.OID.Short())}
	}
	return out, nil
}

// emptyRemote returns the base for a remote without branches. A new remote never had the commits that the work
// started from, as far as the checkout knew, or was added after the work began. Any other remote was emptied or is
// another repository, so a doubt is added.
func (c *Delivery) emptyRemote(
	ctx context.Context, mirror *gitops.Mirror, base company.Base, hadRemote bool,
) (remoteBase, error) {
	out := remoteBase{branch: base.PRBranch, oid: base.OID}
	if !hadRemote {
		return out, nil
	}
	known, err := mirror.CountUpTo(ctx, base.OID, base.Ahead+1)
	if err == nil && known > base.Ahead {
		out.doubt = &company.Doubt{Key: "no branch " + base.PRBranch, Says: fmt.Sprintf(
			"the remote has no branch at all any more, and had %s when the work began: it was emptied, or is another "+
				"repository. The pull request would have no base there", base.PRBranch)}
	}
	return out, err
}

// findSecrets returns doubts about secrets in the new content at head and in the pull request, and about content that
// could not be scanned. A secret that the base has in the same file is not published by this push.
func (c *Delivery) findSecrets(
	ctx context.Context, mirror *gitops.Mirror, base, head company.OID, pr forge.PR,
) ([]company.Doubt, error) {
	if c.Secrets == nil {
		return nil, nil
	}
	news, err := mirror.News(ctx, base, head)
	if err != nil {
		return nil, err
	}
	hunt := &secretHunt{search: c.Secrets.NewSearch(ctx), seen: map[string]bool{}}
	if news.Cut {
		hunt.doubts = append(hunt.doubts, company.Doubt{
			Key: "too much " + string(head), Says: "more is new than is looked through: secrets in the rest would not be seen",
		})
	}
	if err := c.scanFiles(ctx, hunt, mirror, base, head, news.Files); err != nil {
		return nil, err
	}
	hunt.scanNames(news.Names)
	for _, commit := range news.Commits {
		hunt.scanCommit(commit)
	}
	hunt.scanPull(pr)
	return append(hunt.doubts, hunt.rest.doubts()...), ctx.Err()
}

// secretHunt collects suspected secrets that a push would publish.
type secretHunt struct {
	search *secretscan.Search
	seen   map[string]bool // keys of doubts
	doubts []company.Doubt
	rest   unseen
}

// add adds a doubt about a finding, unless there is already one for the same secret.
func (h *secretHunt) add(finding secretscan.Finding, where string) {
	if key := "secret " + finding.Mark; !h.seen[key] {
		h.seen[key] = true
		h.doubts = append(h.doubts, company.Doubt{Key: key, Says: fmt.Sprintf("%s: %s", where, finding.What)})
	}
}

// scanFiles scans the new files. It ignores findings that the base has in the same file.
func (c *Delivery) scanFiles(
	ctx context.Context, hunt *secretHunt, mirror *gitops.Mirror, base, head company.OID, files []gitops.NewFile,
) error {
	entries, err := mirror.List(ctx, head)
	if err != nil {
		return err
	}
	atHead := map[gitops.NewFile]bool{}
	for _, entry := range entries {
		atHead[gitops.NewFile{Path: entry.Path, OID: entry.OID}] = true
	}
	type fileFindings struct {
		file     gitops.NewFile
		findings []secretscan.Finding
	}
	var found []fileFindings
	if err := mirror.ReadNews(ctx, readOnce(files), func(file gitops.NewFile, text []byte) error {
		got := hunt.search.Scan(file.Path, text)
		if len(got.Findings) > 0 {
			found = append(found, fileFindings{file, got.Findings})
		}
		if got.Unseen > 0 {
			hunt.rest.add(got, c.shownPath(ctx, file.Path))
		}
		return ctx.Err()
	}); err != nil {
		return err
	}
	for _, one := range found {
		old, err := mirror.ReadFile(ctx, base, one.file.Path)
		if err != nil && company.CodeOf(err) != company.ENotFound {
			return err
		}
		before := map[string]bool{}
		for _, finding := range hunt.search.Scan(one.file.Path, old).Findings {
			before[finding.Mark] = true
		}
		where := c.shownPath(ctx, one.file.Path)
		if !atHead[one.file] {
			where += " (in a commit before the last)"
		}
		for _, finding := range one.findings {
			if !before[finding.Mark] {
				hunt.add(finding, fmt.Sprintf("%s, line %d", where, finding.Line))
			}
		}
	}
	return nil
}

// scanNames scans the names of new files. A doubt does not repeat the path.
func (h *secretHunt) scanNames(names []gitops.NewName) {
	var lines strings.Builder // one name per line
	for _, name := range names {
		lines.WriteString(strings.ReplaceAll(name.Path, "\n", " ") + "\n")
	}
	got := h.search.ScanProse(lines.String())
	h.rest.add(got, "the names of new files")
	for _, finding := range got.Findings {
		commit := names[min(finding.Line, len(names))-1].By
		h.add(finding, "the name of a file that "+commit.Short()+" adds")
	}
}

// scanCommit scans the header and the message of a commit.
func (h *secretHunt) scanCommit(commit gitops.Commit) {
	head, _, _ := strings.Cut(commit.Raw, "\n\n")
	above := strings.Count(head, "\n") + 2 // lines before the message
	blank := blankSignature(head)
	got := h.search.Scan("", []byte(blank+commit.Raw[len(head):]))
	h.rest.add(got, "the commit "+commit.OID.Short())
	if blank != head { // signatures are scanned for the office's own secrets, too
		for _, finding := range h.search.Scan("", []byte(head)).Findings {
			if finding.Rule == secretscan.OwnRule {
				got.Findings = append(got.Findings, finding)
			}
		}
	}
	for _, finding := range got.Findings {
		if finding.Line <= above {
			h.add(finding, "who made "+commit.OID.Short()+", and when")
			continue
		}
		h.add(finding, fmt.Sprintf("the message of %s, line %d", commit.OID.Short(), finding.Line-above))
	}
}

// scanPull scans the title and the text of the pull request.
func (h *secretHunt) scanPull(pr forge.PR) {
	got := h.search.ScanProse(pr.Title + "\n" + prbody.UnescapeMarkdown(strings.TrimSpace(pr.Opening+"\n"+pr.Body)))
	h.rest.add(got, "the pull request's words")
	for _, finding := range got.Findings {
		where := "the title of the pull request"
		if finding.Line > 1 {
			where = fmt.Sprintf("the pull request's words, line %d", finding.Line-1)
		}
		h.add(finding, where)
	}
}

// unseen lists texts that were not scanned completely.
type unseen struct {
	marks, where []string
	bytes        int
}

func (u *unseen) add(result secretscan.Result, where string) {
	if result.Unseen > 0 && !slices.Contains(u.marks, result.Mark) {
		u.marks = append(u.marks, result.Mark)
		u.where = append(
			u.where, fmt.Sprintf("%s: its last %d bytes are not looked through for secrets", where, result.Unseen))
		u.bytes += result.Unseen
	}
}

// mostUnseen limits how many texts get separate doubts. If there are more, they share one.
const mostUnseen = 10

// doubts returns the doubts that a person must allow. Each permission is bound to exactly these texts.
func (u *unseen) doubts() (out []company.Doubt) {
	if len(u.marks) > mostUnseen {
		sum := sha256.Sum256([]byte(strings.Join(u.marks, " ")))
		return []company.Doubt{{Key: "unseen " + hex.EncodeToString(sum[:8]),
			Says: fmt.Sprintf("%d bytes of %d texts are not looked through for secrets; %s, and others", u.bytes, len(u.marks),
				u.where[0])}}
	}
	for i, m := range u.marks {
		out = append(out, company.Doubt{Key: "unseen " + m, Says: u.where[i]})
	}
	return out
}

// readOnce returns each file once per way of reading its path, because one large file under a thousand names is a
// small push.
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
	for _, newFile := range files {
		r := reading{oid: newFile.OID}
		if paths[newFile.OID] > 1 {
			r.way = secretscan.Way(newFile.Path)
		}
		if !seen[r] {
			seen[r] = true
			out = append(out, newFile)
		}
	}
	return out
}

// shownPath returns a path for people. Names are untrusted and may contain a secret.
func (c *Delivery) shownPath(ctx context.Context, path string) string {
	if c.Secrets != nil {
		if got := c.Secrets.ScanProse(ctx, path); len(got.Findings) > 0 || got.Unseen > 0 {
			return "a file whose name holds a secret"
		}
	}
	if quoted := strconv.QuoteToGraphic(path); quoted != `"`+path+`"` ||
		strings.ContainsAny(path, "\u200b\u200d\u2060\ufeff") {
		return quoted
	}
	return path
}
