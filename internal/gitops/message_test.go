package gitops

import (
	"os/exec"
	"strings"
	"testing"

	"company/internal/company"
)

// hostileMessages are what an agent may be told to write, each with a word of
// the refusal.
var hostileMessages = map[string]string{
	"clear \x1b[2J the screen":               "does not show",
	"title \u202egnp.exe":                    "U+202E",
	"zero\u200bwidth":                        "U+200B",
	"tag \U000e0041 letters":                 "does not show",
	"a bell \a":                              "does not show",
	"carriage\rreturn":                       "does not show",
	"not text \xff\xfe":                      "does not show",
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
}

var harmlessMessages = []string{
	"Add @types/node and mail bob@example.org", "Fix the seventh test, see #7", "Prefix #7 is not a verb", "naïve façade, 日本語, 👩‍👩‍👧",
	"Skip ci steps that are not needed", "table[skip] and [no] index", "x\n\n\tindented", "closes the file; #7 stays open in another line\nnot this",
	"x\n\nSigned-off-by: Acme Bot <bot@acme.example>",
}

// What a message may not say is refused at the worker's push and when the host
// takes a commit, with words that help.
func TestMessagesThatSpeakToOthers(t *testing.T) {
	b := setup(t, nil)
	q := b.quarantine(t, "t1-01.1")
	me := Person{Name: "Acme Bot", Email: "bot@acme.example"}
	q.OnlyBy(Identity{Person: me})
	check := func(message string) error {
		t.Helper()
		cmd := exec.Command("git", "--git-dir=.", "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
		cmd.Dir, cmd.Env = q.Dir(), gitEnv(t.TempDir())
		tree, err := b.mirror.Tree(b.ctx, b.base.OID)
		if err != nil {
			t.Fatal(err)
		}
		who := me.Name + " <" + me.Email + "> 1700000000 +0000"
		cmd.Stdin = strings.NewReader("tree " + string(tree) + "\nparent " + string(b.base.OID) + "\nauthor " + who + "\ncommitter " + who + "\n\n" + message)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return q.checkObjects(b.ctx, nil, []company.OID{company.OID(strings.TrimSpace(string(out)))})
	}
	for message, word := range hostileMessages {
		err := check(message)
		if company.CodeOf(err) != company.EObjects || !strings.Contains(err.Error(), word) || !strings.Contains(at(err).Hint, "git commit --amend") {
			t.Errorf("%q: %v", message, err)
		}
		if err != nil && strings.ContainsFunc(err.Error(), hidden) {
			t.Errorf("%q: the refusal repeats it", message)
		}
	}
	for _, message := range harmlessMessages {
		if err := check(message); err != nil {
			t.Errorf("%q: %v", message, err)
		}
	}
}

// A message of the host's own is inert, whatever a model called the work.
func TestMessagesOfOursAreInert(t *testing.T) {
	for message := range hostileMessages {
		got := CommitMessage("t1-01", "Merge: "+message)
		if err := judgeMessage(Commit{Message: got}); err != nil {
			t.Errorf("%q: %v", got, err)
		}
	}
	if got := CommitMessage("t1-01", "Merge: Fixes #7 [skip ci] in the parser"); got != "[t1-01] Merge: Fixes (#7) skip ci in the parser\n" {
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
