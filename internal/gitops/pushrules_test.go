package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// What a server says decides what is told: the key of a rule for names, what to do about commits, and the server's own
// words always.
func TestRefusalsByRules(t *testing.T) {
	t.Parallel()
	const branch, name = "develop-t1-k3fq", "git.integration_branch"
	for text, fixes := range map[string][]string{
		"remote: GitLab: Branch name 'develop-t1-k3fq' does not follow the pattern '^(ftr|enh)-\\d+'": {name},
		"remote: GitLab: Branch name does not follow the pattern '((feature|bugfix)\\/.*)|master'":    {name},
		"remote: error: GH013: Repository rule violations found for refs/heads/develop-t1-k3fq.\nremote:\n" +
			"remote: - Cannot create ref due to creations being restricted.": {name},
		"remote: error: GH013: Repository rule violations found for refs/heads/develop-t1-k3fq.\n" +
			"remote: - Changes must be made through a pull request.": {name},
		"remote: GitLab: You are not allowed to push code to protected branches on this project.":      {name},
		"remote: Gitea: Not allowed to push to protected branch develop-t1-k3fq":                       {name},
		"TF401027: You need the Git 'CreateBranch' permission to perform this action.":                 {name},
		"TF402455: Pushes to this branch are not permitted; you must use a pull request":               {name},
		"remote: Permission denied to create branch develop-t1-k3fq":                                   {name},
		"prohibited by Gerrit: not permitted: create":                                                  {name},
		"remote: only feature/* and bugfix/* are accepted here":                                        {name},
		"remote: ERROR: invalid ref name, use <type>/<ticket>":                                         {name},
		"remote: branches have to begin with PROJ-":                                                    {name},
		"remote: no pushes on Fridays":                                                                 {"see what it says", name},
		"remote: - Push cannot contain secrets\nremote:   (?) Learn how to resolve a blocked push":     {"without the secret"},
		"remote: - Commits must have verified signatures.\nremote:   Found 1 violation":                {"git.sign", "git.signing_key"},
		"remote: GitLab: Commit message does not contain a DCO signoff: Signed-off-by":                 {"git.signoff"},
		"remote: GitLab: Author 'company@localhost' is not a member of team":                           {"git.author"},
		"remote: GitLab: Committer's email 'x' does not follow the pattern '@acme.com$'":               {"git.author"},
		"remote: error: GH007: Your push would publish a private email address.":                       {"git.author"},
		"remote: - This branch must not contain merge commits.":                                        {"git.history: squash"},
		"remote: GitLab: Commit message does not follow the pattern 'JIRA-\\d+'":                       {"git.history decides"},
		"remote: error: GH001: Large files detected. File a.bin is 120.00 MB":                          {"without the file"},
		"remote: - Commits must have verified signatures.\nremote: - Branch name must match ^feature/": {"git.sign", name},
	} {
		err := refusedByRule(branch, "[remote rejected] (pre-receive hook declined)", text, true)
		if !strings.Contains(err.Why, text) || !company.NeedsPerson(err) {
			t.Errorf("%v", err)
		}
		for _, fix := range fixes {
			if !strings.Contains(err.Hint, fix) {
				t.Errorf("%s: no %s in %s", text, fix, err.Hint)
			}
		}
		if named := strings.Contains(err.Hint, name); named != (fixes[len(fixes)-1] == name) {
			t.Errorf("%s: %s", text, err.Hint)
		}
		if old := refusedByRule(branch, "", text, false); strings.Contains(old.Hint, name) {
			t.Errorf("a branch that is there already: %s", old.Hint)
		}
	}
}

// A hook of the remote that takes some names alone is told as that, with the key; the same commit goes under another.
func TestPushUnderARuleForNames(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	origin := newOrigin(t, b.checkout)
	writeFiles(t, origin, map[string]string{"hooks/update": "#!/bin/sh\ncase $1 in refs/heads/feature/*) exit 0;; esac\n" +
		"echo \"branches are named feature/...\" >&2\nexit 1\n"})
	if err := os.Chmod(filepath.Join(origin, "hooks/update"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := b.push(nil, Remote{URL: origin}, "refs/heads/develop-t1-k3fq", b.base.OID, "")
	requireCode(t, err, company.EGit, "branches are named feature/...", "rule for names")
	if hint := at(err).Hint; !strings.Contains(hint, "git.integration_branch") || !company.NeedsPerson(err) {
		t.Errorf("%s", hint)
	}
	if err := b.push(nil, Remote{URL: origin}, "refs/heads/feature/company-t1-k3fq", b.base.OID, ""); err != nil {
		t.Error(err)
	}
}

// A branch and a folder cannot have one name; which of the two is there decides what to do.
func TestPushBesideAFolder(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	origin := newOrigin(t, b.checkout)
	gitexectest.Git(t, b.checkout, "push", "-q", "origin", "main:refs/heads/feature", "main:refs/heads/develop-t1-k3fq/x")
	err := b.push(nil, Remote{URL: origin}, "refs/heads/feature/company-t1-k3fq", b.base.OID, "")
	requireCode(t, err, company.EConflict, "has a branch feature,")
	if hint := at(err).Hint; !strings.Contains(hint, "git.integration_branch") ||
		!strings.Contains(hint, "does not begin with feature/") {
		t.Errorf("%s", hint)
	}
	err = b.push(nil, Remote{URL: origin}, "refs/heads/develop-t1-k3fq", b.base.OID, "")
	requireCode(t, err, company.EConflict, "branches below develop-t1-k3fq/")
}
