package gitops

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitexec"
)

// Conflict is one path that git could not merge by itself.
type Conflict struct {
	Type    string // "CONFLICT (contents)", "CONFLICT (rename/delete)", …
	Paths   []string
	Message string
}

// MergeResult is the outcome of a three-way merge. Tree may be committed only
// when Clean: git prints a tree with conflict markers otherwise.
type MergeResult struct {
	Tree      company.OID
	Clean     bool
	Conflicts []Conflict
	Files     []string // paths with unmerged stages, sorted by git
}

// MergeTree merges two commits without a work tree.
//
// Exit code 1 of git merge-tree does not mean "conflict": unknown ids and
// missing objects end with 1 as well, the latter with a tree id and invented
// conflicts. So both sides are verified first, and a result counts only with
// exit code 0 or 1, a full object id as the first field, and nothing on
// stderr. ENotFound: a side is no commit here. E_GIT: damaged or unrelated.
func (m *Mirror) MergeTree(ctx context.Context, ours, theirs company.OID) (MergeResult, error) {
	for _, side := range []company.OID{ours, theirs} {
		if !side.Valid() {
			return MergeResult{}, company.E(company.EInvalid, "full object ids are needed")
		}
		id, err := m.Resolve(ctx, string(side))
		if err != nil {
			return MergeResult{}, err
		}
		if id != side {
			return MergeResult{}, company.E(company.EInvalid, fmt.Sprintf("%s is not a commit", side.Short()))
		}
	}
	r, err := m.s.run(ctx, call{dir: m.dir, args: []string{"merge-tree", "--write-tree", "-z", string(ours), string(theirs)}})
	if err != nil {
		return MergeResult{}, err
	}
	if r.exit > 1 || strings.TrimSpace(r.stderr) != "" {
		return MergeResult{}, company.E(company.EGit, fmt.Sprintf("%s and %s cannot be merged", ours.Short(), theirs.Short())).Because(r.failureReason())
	}
	return parseMerge(string(r.out), r.exit == 0)
}

// parseMerge reads the -z form:
// tree NUL (mode SP oid SP stage TAB path NUL)* NUL (n NUL path×n NUL type NUL message NUL)*
// A clean merge is "tree NUL".
func parseMerge(out string, clean bool) (MergeResult, error) {
	bad := company.E(company.EGit, "git merge-tree answered something unexpected")
	tree, rest, ok := strings.Cut(out, "\x00")
	res := MergeResult{Tree: company.OID(tree), Clean: clean}
	if !ok || !res.Tree.Valid() || clean && rest != "" {
		return MergeResult{}, bad
	}
	if clean {
		return res, nil
	}
	next := func() (string, bool) {
		var f string
		var ok bool
		f, rest, ok = strings.Cut(rest, "\x00")
		return f, ok
	}
	for {
		line, ok := next()
		if !ok {
			return MergeResult{}, bad
		}
		if line == "" {
			break
		}
		_, name, ok := strings.Cut(line, "\t")
		if !ok {
			return MergeResult{}, bad
		}
		if n := len(res.Files); n == 0 || res.Files[n-1] != name {
			res.Files = append(res.Files, name)
		}
	}
	for rest != "" {
		count, _ := next()
		n, err := strconv.Atoi(count)
		if err != nil || n < 0 || n > len(rest) {
			return MergeResult{}, bad
		}
		c := Conflict{Paths: make([]string, n)}
		for i := range c.Paths {
			if c.Paths[i], ok = next(); !ok {
				return MergeResult{}, bad
			}
		}
		var ok1, ok2 bool
		c.Type, ok1 = next()
		c.Message, ok2 = next()
		if !ok1 || !ok2 {
			return MergeResult{}, bad
		}
		c.Message = strings.TrimSuffix(c.Message, "\n")
		if strings.HasPrefix(c.Type, "CONFLICT") { // the rest is progress, e.g. "Auto-merging"
			res.Conflicts = append(res.Conflicts, c)
		}
	}
	if len(res.Conflicts) == 0 {
		return MergeResult{}, bad
	}
	return res, nil
}

// CommitSpec is a commit to be made. The same spec gives the same object id,
// unless it is signed with gpg, whose signatures tell the time.
type CommitSpec struct {
	Tree      company.OID
	Parents   []company.OID
	Message   string
	Author    Person // zero: the store's author
	Committer Person // zero: the store's author
	When      time.Time
	// Passing is a commit that others are only merged onto, and that no reference will
	// hold: it is neither signed nor signed off.
	Passing bool
}

// CommitTree writes a commit object, signed off and signed as the store says;
// no reference moves.
func (m *Mirror) CommitTree(ctx context.Context, spec CommitSpec) (company.OID, error) {
	if !spec.Tree.Valid() || spec.When.IsZero() || strings.TrimSpace(spec.Message) == "" {
		return "", company.E(company.EInvalid, "a commit needs a tree, a time and a message")
	}
	if t, err := m.Tree(ctx, spec.Tree); err != nil || t != spec.Tree {
		return "", company.E(company.EInvalid, fmt.Sprintf("%s is not a tree", spec.Tree.Short())).Wrap(err)
	}
	args := []string{"commit-tree", string(spec.Tree)}
	for _, p := range spec.Parents {
		id, err := m.Resolve(ctx, string(p))
		if err != nil || id != p {
			return "", company.E(company.EInvalid, fmt.Sprintf("the parent %s is not a commit", p.Short())).Wrap(err)
		}
		args = append(args, "-p", string(p))
	}
	author, committer := spec.Author, spec.Committer
	if author.Name == "" {
		author = m.s.cfg.Author
	}
	if committer.Name == "" {
		committer = m.s.cfg.Author
	}
	message := spec.Message
	if m.s.cfg.Signoff && !spec.Passing {
		message = signOff(message, committer)
	}
	date := fmt.Sprintf("@%d +0000", spec.When.Unix())
	var sign, env []string
	var config []gitexec.Setting
	if !spec.Passing {
		sign, config, env = m.s.signOptions()
	}
	r, err := m.s.run(ctx, call{
		dir: m.dir, args: append(append(args, sign...), "-F", "-"), stdin: strings.NewReader(message), config: config,
		env: append([]string{
			"GIT_AUTHOR_NAME=" + oneLine(author.Name), "GIT_AUTHOR_EMAIL=" + oneLine(author.Email), "GIT_AUTHOR_DATE=" + date,
			"GIT_COMMITTER_NAME=" + oneLine(committer.Name), "GIT_COMMITTER_EMAIL=" + oneLine(committer.Email), "GIT_COMMITTER_DATE=" + date,
		}, env...),
	})
	switch {
	case err != nil:
		return "", err
	case r.exit != 0 && len(sign) > 0:
		return "", m.s.notSigned(r)
	case r.exit != 0:
		return "", company.E(company.EGit, "git commit-tree failed").Because(r.failureReason())
	}
	id := company.OID(r.outputText())
	if !id.Valid() {
		return "", company.E(company.EGit, "git commit-tree answered something unexpected")
	}
	return id, nil
}

// oneLine makes s fit for an environment variable that git puts in a header.
func oneLine(s string) string { return strings.Join(strings.Fields(stripControl(s)), " ") }
