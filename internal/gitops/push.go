package gitops

import (
	"context"
	"fmt"
	"strings"

	"company/internal/company"
)

// Push moves one branch of the remote from expectOld ("": it must not exist) to
// new, which the mirror holds. E_PROTECTED for main, master, the remote's
// default branch and everything that is not the company's; E_CONFLICT when the
// branch is somewhere else, or has commits that new does not contain. A branch that is gone is made anew: that overwrites
// nothing. Pushing the same commit again succeeds, so a push may be repeated
// after a crash; and so it does where people have committed on top of it since,
// and nothing moves then. at is where the branch stands.
func (m *Mirror) Push(ctx context.Context, log *OpLog, remote Remote, ref string, new, expectOld company.OID) (at company.OID, err error) {
	if log != nil {
		ctx = WithLog(ctx, log)
	}
	if err := m.s.allowRef(ref); err != nil {
		return "", err
	}
	branch, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok {
		return "", protectedRefError(ref) // refs/company/* stays at home
	}
	if !new.Valid() || expectOld != "" && !expectOld.Valid() {
		return "", company.E(company.EInvalid, "a push moves between full object ids only")
	}
	if _, err := m.Resolve(ctx, string(new)); err != nil {
		return "", err
	}
	remote.push = true
	a, err := m.openRemote(ctx, remote)
	if err != nil {
		return "", err
	}
	defer a.done()
	refs, head, err := a.listBranches(ctx, m.dir, branch)
	if err != nil {
		return "", err
	}
	if head == branch && len(refs) > 0 { // an empty remote's HEAD names a branch that is not there
		return "", company.E(company.EProtected, fmt.Sprintf("%q is the default branch of the remote", branch)).
			Because("only people move it, by a pull request").Fix("set git.integration_branch to another name, such as develop")
	}
	at = refs[ref]
	switch {
	case at == "":
		expectOld = "" // and must still be gone when git gets there
	case at != new && at != expectOld && m.containsCommit(ctx, a, at, new):
		return at, nil
	case at != new && at == expectOld:
		held, err := m.IsAncestor(ctx, at, new)
		if err != nil || !held {
			return at, company.E(company.EConflict, "the push would drop commits of the remote's "+branch).
				Because(fmt.Sprintf("it is at %s, which %s does not contain", at.Short(), new.Short())).Wrap(err)
		}
	}
	r, err := a.runOnce(ctx, a.newCall(m.dir, "push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
		"--force-with-lease="+ref+":"+string(expectOld), "--", a.url, string(new)+":"+ref))
	if err != nil || r.exit == 0 {
		return new, err
	}
	return at, a.pushRefused(ctx, r, branch, at, expectOld)
}

// containsCommit says whether a commit of the remote has another one in its history.
// Where that cannot be found out, it has not.
func (m *Mirror) containsCommit(ctx context.Context, a *remoteEndpoint, at, id company.OID) bool {
	if !at.Valid() {
		return false
	}
	err := m.fetchCommit(ctx, fetchSpec{url: a.url, global: a.global, protocols: a.protocols, access: a, oid: at, config: historyFsck()})
	if err != nil {
		return false
	}
	held, err := m.IsAncestor(ctx, id, at)
	return err == nil && held
}

// pushRefused explains a push that did not go through.
func (a *remoteEndpoint) pushRefused(ctx context.Context, r result, branch string, at, expected company.OID) error {
	said := rejectionReason(string(r.out))
	switch {
	case strings.Contains(said, "(stale info)") && at != "" && expected == "":
		return company.E(company.EConflict, "the remote has a branch "+branch+" already").
			Because("it is at " + at.Short() + ", which is not the work of this task")
	case strings.Contains(said, "(stale info)"):
		return company.E(company.EConflict, "the remote's "+branch+" has moved on").
			Because(fmt.Sprintf("it is at %q, expected %q: another push came first", at.Short(), expected.Short()))
	case strings.HasPrefix(said, "[rejected]"): // fetch first, non-fast-forward
		return company.E(company.EConflict, "the remote's "+branch+" has moved on").Because("another push came just now: " + said)
	case strings.Contains(said, "directory file conflict") || strings.Contains(r.stderr, "cannot lock ref") && strings.Contains(r.stderr, "exists"):
		return company.E(company.EConflict, "the remote has branches below "+branch+"/, so that it cannot have one of that name").
			Because(said).Fix("delete them at the remote, or set git.integration_branch to another name")
	case scopeRE.MatchString(r.stderr) || said == "" && a.host != "":
		return a.explainFailure(ctx, "pushed to", r)
	case strings.HasPrefix(said, "[remote rejected]"):
		// The server's own rules: a hook, a protected branch. Trying again is no use.
		return company.E(company.EGit, "the remote refused the push of "+branch).Because(said + ": " + r.failureReason()).
			Fix("see what it says; when that is mended, approve to try again").NeedsPerson()
	}
	return company.E(company.EGit, "the remote refused the push of "+branch).Because(strings.TrimPrefix(said+": "+r.failureReason(), ": "))
}

// rejectionReason is the reason in a porcelain line "! TAB refs TAB [reason] (detail)".
func rejectionReason(out string) string {
	for line := range strings.SplitSeq(out, "\n") {
		if f := strings.Split(line, "\t"); len(f) == 3 && f[0] == "!" {
			return Mask(f[2])
		}
	}
	return ""
}
