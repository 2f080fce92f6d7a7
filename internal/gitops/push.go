package gitops

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"company/internal/company"
)

// Remote is where the operator's repository is: an https or ssh URL, git's
// host:path form, a file URL or an absolute path.
type Remote struct{ URL string }

// access is a remote that has been judged: how git may talk to it.
type access struct {
	s         *Store
	url       string
	protocols string
	global    string // configuration file for the pack process of a local remote
	done      func()
}

// remote allows exactly the protocol that the URL needs.
func (s *Store) remote(ctx context.Context, r Remote) (*access, error) {
	a := &access{s: s, url: r.URL, done: func() {}}
	bad := company.E(company.EInvalid, fmt.Sprintf("%q cannot be used as a remote", Mask(r.URL))).
		Fix("use an https:// or ssh:// URL, host:path, or an absolute path")
	local := ""
	switch {
	case r.URL == "" || strings.HasPrefix(r.URL, "-") || strings.ContainsAny(r.URL, "\x00\n\r") || strings.Contains(r.URL, "::"):
		return nil, bad // "::" names a remote helper, which is a command
	case filepath.IsAbs(r.URL):
		local = r.URL
	case strings.Contains(r.URL, "://"):
		u, err := url.Parse(r.URL)
		switch {
		case err != nil:
			return nil, bad // the parser's words would repeat the credentials
		case u.Scheme == "file" && u.Host == "" && filepath.IsAbs(u.Path):
			local = strings.TrimPrefix(r.URL, "file://") // git does not unescape it
		case (u.Scheme == "https" || u.Scheme == "ssh") && u.Hostname() != "" && !strings.HasPrefix(u.Hostname(), "-"):
			a.protocols = u.Scheme
		default:
			return nil, bad
		}
	case scpLike(r.URL):
		a.protocols = "ssh"
	default:
		return nil, bad
	}
	if local != "" {
		dir, err := filepath.EvalSymlinks(local)
		if err != nil {
			return nil, company.E(company.ENotFound, fmt.Sprintf("the remote %q cannot be opened", local)).Wrap(err)
		}
		if dotGit := filepath.Join(dir, ".git"); !isGitDir(dir) && isGitDir(dotGit) {
			dir = dotGit
		}
		a.url, a.protocols = "file://"+dir, "file"
		if a.global, a.done, err = s.scopedConfig(dir); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// list asks the remote for its default branch and for one branch (empty: the
// default one). dir is a repository of ours to run in.
func (a *access) list(ctx context.Context, dir, branch string) (map[string]company.OID, string, error) {
	args := []string{"ls-remote", "--quiet", "--symref", "--", a.url, "HEAD"}
	if branch != "" {
		args = append(args, "refs/heads/"+branch)
	}
	r, err := a.s.must(ctx, call{dir: dir, args: args, global: a.global, protocols: a.protocols, network: true, limit: networkLimit})
	if err != nil {
		return nil, "", err
	}
	refs, head := map[string]company.OID{}, ""
	for line := range strings.SplitSeq(r.text(), "\n") {
		value, name, ok := strings.Cut(line, "\t")
		if target, sym := strings.CutPrefix(value, "ref: refs/heads/"); ok && sym && name == "HEAD" {
			head = target
		} else if ok {
			refs[name] = company.OID(value)
		}
	}
	if branch == "" && head != "" { // HEAD's own id is its branch's
		refs["refs/heads/"+head] = refs["HEAD"]
	}
	return refs, head, nil
}

// Push moves one branch of the remote from expectOld ("": it must not exist)
// to new, which the mirror holds. E_PROTECTED for main, master, the remote's
// default branch and everything that is not the company's; E_CONFLICT when
// the branch is not where it was expected. Pushing what is there already
// succeeds, so a push may be repeated after a crash.
func (m *Mirror) Push(ctx context.Context, log *OpLog, remote Remote, ref string, new, expectOld company.OID) error {
	if log != nil {
		ctx = WithLog(ctx, log)
	}
	if err := m.s.allowRef(ref); err != nil {
		return err
	}
	branch, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok {
		return protected(ref) // refs/company/* stays at home
	}
	if !new.Valid() || expectOld != "" && !expectOld.Valid() {
		return company.E(company.EInvalid, "a push moves between full object ids only")
	}
	if _, err := m.Resolve(ctx, string(new)); err != nil {
		return err
	}
	a, err := m.s.remote(ctx, remote)
	if err != nil {
		return err
	}
	defer a.done()
	refs, head, err := a.list(ctx, m.dir, branch)
	if err != nil {
		return err
	}
	if head == branch && len(refs) > 0 { // an empty remote's HEAD names a branch that is not there
		return company.E(company.EProtected, fmt.Sprintf("%q is the default branch of the remote", branch)).
			Because("only people move it, by a pull request").Fix("set git.integration_branch to another name, such as develop")
	}
	r, err := m.s.run(ctx, call{
		dir: m.dir, global: a.global, protocols: a.protocols, network: true, limit: networkLimit,
		args: []string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
			"--force-with-lease=" + ref + ":" + string(expectOld), "--", a.url, string(new) + ":" + ref},
	})
	switch {
	case err != nil:
		return err
	case r.exit == 0:
		return nil
	case strings.Contains(string(r.out), "(stale info)"):
		return company.E(company.EConflict, "the remote's "+branch+" has moved on").
			Because(fmt.Sprintf("it is at %q, expected %q", refs[ref].Short(), expectOld.Short()))
	}
	why := r.why()
	if said := rejected(string(r.out)); said != "" {
		why = said + ": " + why
	}
	return company.E(company.EGit, "the remote refused the push of "+branch).Because(why)
}

// rejected is the reason in a porcelain line "! TAB refs TAB [reason] (detail)".
func rejected(out string) string {
	for line := range strings.SplitSeq(out, "\n") {
		if f := strings.Split(line, "\t"); len(f) == 3 && f[0] == "!" {
			return Mask(f[2])
		}
	}
	return ""
}
