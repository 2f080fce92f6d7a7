package gitops

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// pushRule is a kind of rule by which servers refuse a push. The texts are those of the forges and what hooks usually
// say.
type pushRule struct {
	text  *lazyregexp.Regexp
	about string
	fix   string
}

// nameFix tells how the same work gets another name.
const nameFix = "set git.integration_branch to a name that the remote takes (company config set " +
	"git.integration_branch feature/company, with --user where there is no company.yaml); then approve: the same work " +
	"is pushed under the new name"

var nameRule = pushRule{
	text: lazyregexp.New(`(?i)\b(branch|ref|reference)(es|s)?(['’]s)?[ -]name|` +
		`names? of (the |a |your |this )?(branch|ref)|naming (convention|rule|pattern|scheme)|creations? being restricted|` +
		`(branch|ref)(es|s)?\b.*\b(match|pattern|regex|convention|prefix|start|begin|named|follow|like|one of)|` +
		`creat(e|ing|ion)( a| of| new)* (branch|ref)|createbranch|not permitted: create|create not permitted|` +
		`protected branch|(through|use) a (pull|merge) request|` +
		`\b(feature|feat|bugfix|hotfix|fix|topic|users?|release|tasks?|chore)s?\b\)?/|\w/(\*|<|\[|\.[*+]|\\)`),
	about: "its rule for names of branches", fix: nameFix,
}

// forNewCommits ends the fix for commits that exist: the configuration does not change them.
const forNewCommits = "this affects new commits only: cancel the task, and submit it again"

// pushRules are the rules about the content of a push.
var pushRules = []pushRule{
	{lazyregexp.New(`(?i)push cannot contain secrets|push protection|secrets? (was |were )?(detected|found)|` +
		`(contains?|found|detected|leak\w*) (a |an )?(secret|credential|token|private key)`),
		"a secret that it found", "see which file it names. If it is not a secret, allow it at the remote, and approve; otherwise " +
			"cancel the task, and submit it again without the secret"},
	{lazyregexp.New(`(?i)signed-off-by|sign-?off|\bDCO\b`),
		"its rule for sign-offs", "set git.signoff: true; " + forNewCommits},
	{lazyregexp.New(`(?i)(verified|valid|gpg|pgp|ssh|cryptographic\w*) signatures?|` +
		`(must|should|not) (be )?signed\b|unsigned`),
		"its rule for signatures", "set git.sign and git.signing_key, with git.history: squash; " + forNewCommits},
	{lazyregexp.New(`(?i)\b(author|committer)\b|` +
		`\be-?mail\b.*\b(match|follow|verif|valid|belong|member|domain|private|allow|unknown)|GH007`),
		"its rule for authors", "set git.author to a name and address that it takes; " + forNewCommits},
	{lazyregexp.New(`(?i)linear history|merge commits?`),
		"its rule against merge commits", "set git.history: squash; " + forNewCommits},
	{lazyregexp.New(`(?i)commit[ -]messages?|message of (the |a )?commit|subject line`),
		"its rule for messages of commits", "see what it says; git.history decides which commits are pushed: squash has " +
			"one for each ticket, in the style of the log"},
	{lazyregexp.New(`(?i)GH001|large file|too (large|big)|size limit|exceeds\b`),
		"its limit of sizes", "see which file it names; raise the limit there, and approve; or cancel the task, and " +
			"submit it again without the file"},
}

// refusedByRule returns the error for a push that the server's own rules refused. said is the reason that git gives,
// and text is what the server wrote. Retrying is useless.
func refusedByRule(branch, said, text string, isNew bool) *company.Error {
	var about, fixes []string
	if isNew && nameRule.text.MatchString(withoutName(text, branch)) {
		about, fixes = append(about, nameRule.about), append(fixes, nameRule.fix)
	}
	for _, rule := range pushRules {
		if rule.text.MatchString(text) {
			about, fixes = append(about, rule.about), append(fixes, rule.fix)
		}
	}
	what := "the remote refused the push of " + branch
	if len(about) > 0 {
		what += " for " + strings.Join(about, " and ")
	}
	fix := strings.Join(fixes, "; ")
	if fix == "" {
		fix = "see what it says; when that is mended, approve to try again"
		if isNew {
			fix += ". Where it is the name of the branch: " + nameFix
		}
	}
	return company.E(company.EGit, what).Because(said + ": " + text).Fix(fix).NeedsPerson()
}

// withoutName removes a branch's own name and git's own lines from what the server wrote.
func withoutName(text, branch string) string {
	var kept []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "To ") && !strings.HasPrefix(line, "error: failed to push") {
			kept = append(kept, strings.ReplaceAll(line, branch, ""))
		}
	}
	return strings.Join(kept, "\n")
}

// clashRE matches git's message about a branch and a folder of the same name.
var clashRE = lazyregexp.New(`'refs/heads/([^']+)' exists; cannot create`)

// clashingBranch returns the error for a branch that cannot be beside another one, because one of the two names is a
// folder of the other.
func clashingBranch(branch, said, text string) *company.Error {
	if found := clashRE.FindStringSubmatch(text); found != nil && strings.HasPrefix(branch, found[1]+"/") {
		return folderTaken(found[1], branch).Because(said)
	}
	if !strings.Contains(branch, "/") || clashRE.MatchString(text) {
		return company.E(company.EConflict,
			"the remote has branches below "+branch+"/, so it cannot have one of that name").
			Because(said).Fix("delete them at the remote, or set git.integration_branch to another name, and approve")
	}
	return company.E(company.EConflict, "the remote has a branch whose name is a folder of "+branch+", or below it").
		Because(said).Fix("set git.integration_branch to another name, and approve")
}

// folderTaken returns the error for a name below a branch.
func folderTaken(existing, name string) *company.Error {
	return company.E(company.EConflict,
		fmt.Sprintf("the remote has a branch %s, so it cannot have %s below it", existing, name)).
		Because("git stores a branch as a file, and this one would have to be a folder").
		Fix(fmt.Sprintf("set git.integration_branch to a name that does not begin with %s/, and approve", existing))
}
