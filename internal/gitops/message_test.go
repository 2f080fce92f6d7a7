package gitops

import (
	"os/exec"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// hostileMessages are what an agent may be told to write, each with a word of
// the refusal.
var hostileMessages = map[string]string{
	"clear \x1b[2J the screen":               "invisible character",
	"title \u202egnp.exe":                    "U+202E",
	"zero\u200bwidth":                        "U+200B",
	"tag \U000e0041 letters":                 "invisible character",
	"a bell \a":                              "invisible character",
	"carriage\rreturn":                       "invisible character",
	"not text \xff\xfe":                      "invisible character",
	"x [skip ci]":                            "[skip ci]",
	"x [ci skip]":                            "[ci skip]",
	"x\n\n[NO CI]":                           "[NO CI]",
	"x [skip actions]":                       "skip actions",
	"x [ skip-ci ]":                          "skip-ci",
	"x [azurepipelines skip]":                "azurepipelines",
	"x ***NO_CI***":                          "NO_CI",
	"x\n\nskip-checks: true":                 "skip-checks",
	"x\n\nskip-checks:true":                  "skip-checks",
	"Fixes #7":                               "Fixes #7",
	"it closes: #7":                          "closes: #7",
	"resolve acme/app#12":                    "acme/app#12",
	"fix GH-3":                               "GH-3",
	"Closes https://github.com/a/b/issues/3": "issues/3",
	"implements !12":                         "!12",
	"reopens\n#4":                            "#4",
	"x\n\nSigned-off-by: Linus <l@k.org>":    "Linus",
	"x\n\nReviewed-by: Ann <a@b>":            "Ann",
	"x\n\nco-authored-by: Ann <a@b>":         "Ann",

	"line\u2028separator":                          "U+2028",
	"combining\u034fjoiner":                        "U+034F",
	"bytes\U000e0101 in variations":                "invisible character",
	"a filler\u3164":                               "U+3164",
	"x [azpipelines skip]":                         "azpipelines",
	"x [travis-ci skip]":                           "travis-ci",
	"x [skip travis ci]":                           "travis",
	"x [CF-Pages-Skip]":                            "CF-Pages-Skip",
	"x [skip-cd]":                                  "skip-cd",
	"x [skipci]":                                   "skipci",
	"x ［skip ci］":                                  "skip ci",
	"x [skip\u00a0ci]":                             "skip ci",
	"x [ski\u200dp ci]":                            "skip ci",
	"Closes PROJ-12":                               "PROJ-12",
	"it\nFIXED: ABC_D-1 and more":                  "ABC_D-1",
	"closing group/sub/project#12":                 "group/sub/project#12",
	"Fixes AB#12":                                  "AB#12",
	"closes gl-7":                                  "gl-7",
	"Closes [issue:7]":                             "[issue:7]",
	"Fixes\u00a0#7":                                "#7",
	"Ｆｉｘｅｓ ＃７":                                     "#7",
	"fi\u200dxes #7":                               "#7",
	"_Fixes #7_":                                   "#7",
	"Completes ENG-3":                              "ENG-3",
	"[Delivers #12]":                               "#12",
	"fixes task #5":                                "#5",
	"Fix https://tracker.example/browse/PROJ-12":   "PROJ-12",
	"closes https://gitlab.com/a/b/-/work_items/3": "work_items/3",
	"PROJ-12 all of it #done":                      "PROJ-12",
	"#PROJ-12 Fixed":                               "PROJ-12",
	"x\n\nCo-developed-by: Ann <a@b>":              "Ann",
	"x\n\nReported-by: Ann <a@b>":                  "Ann",
	"x\n\nSuggested-by: Ann":                       "Ann",
	"x\n\nHelped-by: Ann <a@b>":                    "Ann",
	"x\n\nBlessed-by: Ann <a@b>":                   "Ann",
	"x\n\nCc: Ann <a@b>":                           "Ann",
	"x\n\nOn-behalf-of: @acme acme@example.org":    "acme",
	"x\n\nPair-programmed-with: Ann":               "Ann",
	"x\n\nSigned-off-by : Linus <l@k.org>":         "Linus",
	"x\n\nSigned-off-by：Linus <l@k.org>":           "Linus",
	"x\n\nSigned‐off‐by: Linus <l@k.org>":          "Linus",
	"x\n\nSigned-off-by:\n Linus <l@k.org>":        "Linus",
	"x\n\nSigned-off-by: Acme Bot <bot@acme.example>\n Linus <l@k.org>": "Linus",
	"x\n\nSigned-off-by: Acme Bot <bot@acme.example>, Linus <l@k.org>":  "Linus",
	"x\n\nSigned-off-by: Acme Bot <bot@acme.example> # Linus <l@k.org>": "Linus",
}

var harmlessMessages = []string{
	"Add @types/node and mail bob@example.org", "Fix the seventh test, see #7", "Prefix #7 is not a verb",
	"naïve façade, 日本語, 👩‍👩‍👧",
	"Skip ci steps that are not needed", "table[skip] and [no] index", "x\n\n\tindented",
	"closes the file; #7 stays open in another line\nnot this",
	"x\n\nSigned-off-by: Acme Bot <bot@acme.example>",
	"Fix UTF-8 in names, implement SHA-256 and RFC-3339", "Closes the file of PROJ-12", "fix page-2 of the list",
	"Fixes: 1a2b3c4d5e6f (\"area: subject\")",
	"see [no such file] and a [skip list], a[skip + 1] and [no circular imports]", "docs: mail bob@example.org",
	"x\n\nOrder-by: name\nDepends-on: the other", "fix: to: a place",
	"Describe PROJ-12 # a comment", "❤️ and ☎︎ are as they were", "x\n\n  indented: text\n  of two lines",
}

// What a message may not say is refused at the worker's push and when the host
// takes a commit, with words that help.
func TestMessagesThatSpeakToOthers(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	q := b.quarantine(t, "t1-01.1")
	q.OnlyBy(Identity{Person: Person{Name: "Acme Bot", Email: "bot@acme.example"}})
	check := func(message string) error {
		t.Helper()
		return b.checkRaw(t, q, "author "+ours+"\ncommitter "+ours, message)
	}
	for message, word := range hostileMessages {
		err := check(message)
		if company.CodeOf(err) != company.EObjects || !strings.Contains(err.Error(), word) ||
			!strings.Contains(at(err).Hint, "git commit --amend") {
			t.Errorf("%q: %v", message, err)
		}
		if err != nil && strings.ContainsFunc(err.Error(), isHiddenRune) {
			t.Errorf("%q: the refusal repeats it", message)
		}
	}
	for _, message := range harmlessMessages {
		if err := check(message); err != nil {
			t.Errorf("%q: %v", message, err)
		}
	}
}

// ours is a run's author as a commit has it.
const ours = "Acme Bot <bot@acme.example> 1700000000 +0000"

// checkRaw writes a commit on the base with these lines before its message,
// and judges it as a push would be.
func (b *bundle) checkRaw(t *testing.T, q *Quarantine, lines, message string) error {
	t.Helper()
	cmd := exec.Command("git", "--git-dir=.", "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
	cmd.Dir, cmd.Env = q.Dir(), gitexectest.Env(t.TempDir())
	tree, err := b.mirror.Tree(b.ctx, b.base.OID)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = strings.NewReader(
		"tree " + string(tree) + "\nparent " + string(b.base.OID) + "\n" + lines + "\n\n" + message)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return q.checkObjects(b.ctx, nil, []company.OID{company.OID(strings.TrimSpace(string(out)))})
}

// What stands before a message is what git writes by itself: no second author
// who counts for some, no letters that only some decode, no text that nobody
// looks at.
func TestHeadersOfCommits(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	q := b.quarantine(t, "t1-01.1")
	q.OnlyBy(Identity{Person: Person{Name: "Acme Bot", Email: "bot@acme.example"}})
	who := "author " + ours + "\ncommitter " + ours
	const theirs = "Linus <l@k.org> 1700000000 +0000"
	if err := b.checkRaw(t, q, who, "x"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][2]string{
		"a stranger who wrote it":     {"author " + theirs + "\ncommitter " + ours, `the author "Linus <l@k.org>"`},
		"a stranger who committed it": {"author " + ours + "\ncommitter " + theirs, `the committer "Linus <l@k.org>"`},
		"two who wrote it": {"author " + ours + "\nauthor " + theirs + "\ncommitter " + ours,
			"before its message"},
		"a stranger and then the worker": {"author " + theirs + "\ncommitter " + theirs + "\n" + who, "before its message"},
		"letters of another encoding":    {who + "\nencoding UTF-7", "before its message"},
		"a signature that is none": {who +
			"\ngpgsig -----BEGIN SSH SIGNATURE-----\n any text\n -----END SSH SIGNATURE-----", "before its message"},
		"a tag that was merged": {who + "\nmergetag object " + string(b.base.OID) + "\n type commit\n tag v1\n tagger " +
			theirs + "\n \n any text", "before its message"},
		"a line that nobody knows": {who + "\nnote any text", "before its message"},
		"two addresses": {"author Acme Bot <bot@acme.example> <l@k.org> 1700000000 +0000\ncommitter " + ours,
			"before its message"},
		"a bell in the name": {"author Acme \aBot <bot@acme.example> 1700000000 +0000\ncommitter " + ours,
			"invisible character"},
		"a reset in the address": {"author " + ours + "\ncommitter Acme Bot <\x1bbot@acme.example> 1700000000 +0000",
			"invisible character"},
	} {
		err := b.checkRaw(t, q, c[0], "x")
		if company.CodeOf(err) != company.EObjects || !strings.Contains(err.Error(), c[1]) || at(err).Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.ContainsFunc(err.Error(), isHiddenRune) {
			t.Errorf("%s: the refusal repeats it", name)
		}
	}
}

// A message of the host's own is inert, whatever a model called the work.
func TestMessagesOfOursAreInert(t *testing.T) {
	t.Parallel()
	for message := range hostileMessages {
		got := CommitMessage("t1-01", "Merge: "+message)
		if err := judgeMessage(Commit{Message: got}); err != nil {
			t.Errorf("%q: %v", got, err)
		}
	}
	if got := CommitMessage("t1-01",
		"Merge: Fixes #7 [skip ci] in the parser"); got != "[t1-01] Merge: Fixes (#7) skip ci in the parser\n" {
		t.Errorf("%q", got)
	}
}

func FuzzInertMessage(f *testing.F) {
	for m := range hostileMessages {
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := CommitMessage("t1-01", s)
		if err := judgeMessage(Commit{Message: got}); err != nil {
			t.Errorf("%q: %v", got, err)
		}
	})
}
