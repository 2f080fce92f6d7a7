package gitops

import (
	"context"
	"fmt"
	"strings"

	"company/internal/company"
)

// Push moves one branch of the remote from expectOld to new, which must be in the mirror. An empty expectOld means
// that the branch must not exist. It fails with E_PROTECTED for main, master, the remote's default branch and
// branches that are not the company's. It fails with E_CONFLICT if the branch is at another commit or has commits
// that new does not contain. A deleted branch is recreated, which overwrites nothing. Pushing the same commit again
// succeeds, so a push may be repeated after a crash. It also succeeds, without moving the branch, if people have
// committed on top of the commit since. at is the branch's current commit.
func (m *Mirror) Push(
	ctx context.Context, log *OpLog, remote Remote, ref string, new, expectOld company.OID,
) (at company.OID, err error) {
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
		return "", company.E(company.EInvalid, "a push needs full object ids")
	}
	if _, err := m.Resolve(ctx, string(new)); err != nil {
		return "", err
	}
	remote.push = true
	endpoint, err := m.openRemote(ctx, remote)
	if err != nil {
		return "", err
	}
	defer endpoint.done()
	refs, head, err := endpoint.listBranches(ctx, m.dir, branch)
	if err != nil {
		return "", err
	}
	if head == branch && len(refs) > 0 { // an empty remote's HEAD names a branch that does not exist
		return "", company.E(company.EProtected, fmt.Sprintf("%q is the default branch of the remote", branch)).
			Because("only people change it, with a pull request").Fix("set git.integration_branch to another name, such as develop")
	}
	at = refs[ref]
	switch {
	case at == "":
	case at != new && at != expectOld && m.containsCommit(ctx, endpoint, at, new):
		return at, nil
	case at != new && at != expectOld && expectOld == "":
		return at, company.E(company.EConflict, "the remote already has a branch "+branch).
			Because("it is at " + at.Short() + ", which is not the work of this task")
	case at != new && at != expectOld:
		return at, company.E(company.EConflict, "the remote's "+branch+" has moved on").
			Because(fmt.Sprintf("it is at %q, expected %q: another push came first", at.Short(), expectOld.Short()))
	case at != new:
		held, err := m.IsAncestor(ctx, at, new)
		if err != nil || !held {
			return at, company.E(company.EConflict, "the push would drop commits of the remote branch "+branch).
				Because(fmt.Sprintf("it is at %s, which %s does not contain", at.Short(), new.Short())).Wrap(err)
		}
	}
	// git pushes without force. If the branch moves meanwhile to a commit that new contains, it is moved on from there,
	// and no commit of it is lost; otherwise git refuses.
	result, err := endpoint.runOnce(
		ctx, endpoint.newCall(m.dir, "push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed",
			"--recurse-submodules=no", "--", endpoint.url, string(new)+":"+ref))
	if err != nil || result.exit == 0 {
		return new, err
	}
	return at, endpoint.pushRefused(ctx, result, branch, at)
}

// containsCommit reports whether a commit of the remote has another one in its history. It returns false if this
// cannot be determined.
func (m *Mirror) containsCommit(ctx context.Context, endpoint *remoteEndpoint, at, id company.OID) bool {
	if !at.Valid() {
		return false
	}
	err := m.fetchCommit(
		ctx, fetchSpec{url: endpoint.url, global: endpoint.global, protocols: endpoint.protocols, access: endpoint, oid: at,
			config: historyFsck()})
	if err != nil {
		return false
	}
	held, err := m.IsAncestor(ctx, id, at)
	return err == nil && held
}

// pushRefused returns the error for a failed push.
func (a *remoteEndpoint) pushRefused(ctx context.Context, r result, branch string, at company.OID) error {
	said := rejectionReason(string(r.out))
	switch {
	case strings.HasPrefix(said, "[rejected]"): // fetch first, non-fast-forward
		return company.E(company.EConflict, "the remote's "+branch+" has moved on").
			Because("another push came just now: " + said)
	case strings.Contains(said, "directory file conflict") ||
		strings.Contains(r.stderr, "cannot lock ref") && strings.Contains(r.stderr, "exists"):
		return clashingBranch(branch, said, r.stderr)
	case scopeRE.MatchString(r.stderr) || said == "" && a.host != "":
		return a.explainFailure(ctx, "pushed to", r)
	case strings.HasPrefix(said, "[remote rejected]"):
		return refusedByRule(branch, said, r.failureReason(), at == "")
	}
	return company.E(company.EGit, "the remote refused the push of "+branch).
		Because(strings.TrimPrefix(said+": "+r.failureReason(), ": "))
}

// rejectionReason returns the reason in a porcelain line "! TAB refs TAB [reason] (detail)".
func rejectionReason(out string) string {
	for line := range strings.SplitSeq(out, "\n") {
		if f := strings.Split(line, "\t"); len(f) == 3 && f[0] == "!" {
			return Mask(f[2])
		}
	}
	return ""
}
