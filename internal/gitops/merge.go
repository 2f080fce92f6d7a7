package gitops

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec"
)

// Conflict is one conflict that git could not merge.
type Conflict struct {
	Type    string // "CONFLICT (contents)", "CONFLICT (rename/delete)", …
	Paths   []string
	Message string
}

// MergeResult is the outcome of a three-way merge. Commit Tree only if Clean is true, because otherwise it contains
// conflict markers.
type MergeResult struct {
	Tree      company.OID
	Clean     bool
	Conflicts []Conflict
	Files     []string // paths with unmerged stages, sorted by git
	// Drivers are the values of the attribute merge of changed files, if attributes were asked for.
	Drivers map[string]string
}

// MergeTree merges two commits without a work tree and without attributes, as forges do.
func (m *Mirror) MergeTree(ctx context.Context, ours, theirs company.OID) (MergeResult, error) {
	return m.MergeTreeBy(ctx, ours, theirs, "")
}

// MergeTreeBy is like MergeTree, with the merge drivers that the .gitattributes of a commit or tree name. Only drivers
// that need no program count (see chooseDriver). An empty id means none.
//
// Exit code 1 of git merge-tree does not always mean a conflict. Unknown ids and missing objects also end with 1, the
// latter with a tree id and invented conflicts. So both sides are verified first. A result counts only with exit code
// 0 or 1, a full object id as the first field, and an empty stderr. It fails with ENotFound if a side is not a commit
// here, and with E_GIT for damaged or unrelated commits.
func (m *Mirror) MergeTreeBy(ctx context.Context, ours, theirs, attributes company.OID) (MergeResult, error) {
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
	drivers, err := m.readDrivers(ctx, attributes, ours, theirs)
	if err != nil {
		return MergeResult{}, err
	}
	config, done, err := m.s.applyDrivers(drivers)
	if err != nil {
		return MergeResult{}, err
	}
	defer done()
	result, err := m.s.run(
		ctx, call{dir: m.dir, config: config,
			args: []string{"merge-tree", "--write-tree", "-z", string(ours), string(theirs)}})
	if err != nil {
		return MergeResult{}, err
	}
	if result.exit > 1 || strings.TrimSpace(result.stderr) != "" {
		return MergeResult{}, company.E(
			company.EGit, fmt.Sprintf("cannot merge %s and %s", ours.Short(), theirs.Short())).
			Because(result.failureReason())
	}
	merged, err := parseMerge(string(result.out), result.exit == 0)
	merged.Drivers = drivers
	return merged, err
}

// parseMerge parses the -z format:
// tree NUL (mode SP oid SP stage TAB path NUL)* NUL (n NUL path×n NUL type NUL message NUL)*
// A clean merge is "tree NUL".
func parseMerge(out string, clean bool) (MergeResult, error) {
	bad := company.E(company.EGit, "git merge-tree gave unexpected output")
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
		conflict := Conflict{Paths: make([]string, n)}
		for i := range conflict.Paths {
			if conflict.Paths[i], ok = next(); !ok {
				return MergeResult{}, bad
			}
		}
		var ok1, ok2 bool
		conflict.Type, ok1 = next()
		conflict.Message, ok2 = next()
		if !ok1 || !ok2 {
			return MergeResult{}, bad
		}
		conflict.Message = strings.TrimSuffix(conflict.Message, "\n")
		if strings.HasPrefix(conflict.Type, "CONFLICT") { // the rest is progress, e.g. "Auto-merging"
			res.Conflicts = append(res.Conflicts, conflict)
		}
	}
	if len(res.Conflicts) == 0 {
		return MergeResult{}, bad
	}
	return res, nil
}

// CommitSpec describes a commit to create. The same spec gives the same object id, unless it is signed with gpg,
// whose signatures contain the time.
type CommitSpec struct {
	Tree      company.OID
	Parents   []company.OID
	Message   string
	Author    Person // zero means the store's author
	Committer Person // zero means the store's author
	When      time.Time
	// Passing marks a temporary commit that others are merged onto and that no reference keeps. It is neither signed nor
	// signed off.
	Passing bool
}

// CommitTree writes a commit object, signed off and signed according to the store's config. It moves no reference.
func (m *Mirror) CommitTree(ctx context.Context, spec CommitSpec) (company.OID, error) {
	if !spec.Tree.Valid() || spec.When.IsZero() || strings.TrimSpace(spec.Message) == "" {
		return "", company.E(company.EInvalid, "a commit needs a tree, a time and a message")
	}
	if t, err := m.Tree(ctx, spec.Tree); err != nil || t != spec.Tree {
		return "", company.E(company.EInvalid, fmt.Sprintf("%s is not a tree", spec.Tree.Short())).Wrap(err)
	}
	args := []string{"commit-tree", string(spec.Tree)}
	for _, oid := range spec.Parents {
		id, err := m.Resolve(ctx, string(oid))
		if err != nil || id != oid {
			return "", company.E(company.EInvalid, fmt.Sprintf("the parent %s is not a commit", oid.Short())).Wrap(err)
		}
		args = append(args, "-p", string(oid))
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
	result, err := m.s.run(ctx, call{
		dir: m.dir, args: append(append(args, sign...), "-F", "-"), stdin: strings.NewReader(message), config: config,
		env: append([]string{
			"GIT_AUTHOR_NAME=" + oneLine(author.Name), "GIT_AUTHOR_EMAIL=" + oneLine(author.Email), "GIT_AUTHOR_DATE=" + date,
			"GIT_COMMITTER_NAME=" + oneLine(committer.Name), "GIT_COMMITTER_EMAIL=" + oneLine(committer.Email),
			"GIT_COMMITTER_DATE=" + date,
		}, env...),
	})
	switch {
	case err != nil:
		return "", err
	case result.exit != 0 && len(sign) > 0:
		return "", m.s.notSigned(result)
	case result.exit != 0:
		return "", company.E(company.EGit, "git commit-tree failed").Because(result.failureReason())
	}
	id := company.OID(result.outputText())
	if !id.Valid() {
		return "", company.E(company.EGit, "git commit-tree gave unexpected output")
	}
	return id, nil
}

// oneLine makes s safe for an environment variable that git writes into a header.
func oneLine(s string) string { return strings.Join(strings.Fields(stripControl(s)), " ") }
