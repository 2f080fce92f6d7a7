package delivery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/lib/secretscan"
	"company/internal/merger/mergertest"
)

const ownKey = "sk-office-own-key-0123456789"

func says(h company.HoldDelivery) string {
	var out []string
	for _, d := range h.Doubts {
		out = append(out, d.Says)
	}
	return strings.Join(out, "\n")
}

// branches are what the origin has beside main.
func branches(b *mergertest.Bundle, origin string) string {
	b.T.Helper()
	return b.Project.Git("--git-dir="+origin, "for-each-ref", "--format=%(refname:short)", "refs/heads/develop*")
}

// T21: nothing with a secret in it leaves before a person said so; the
// question tells where, and not what. The leave is for that secret.
func TestSecretsHoldThePush(t *testing.T) {
	t.Parallel()
	pat := "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
	b, c, _ := deliveredWith(
		t, map[string]string{"a.go": "package a\n\nvar key = \"" + ownKey + "\"\n",
			"docs/setup.md": "line\nuse " + pat + "\n"})
	dir := origin(t, b)
	c.Secrets = secretscan.New([]secretscan.Own{{Name: "THE_KEY", Value: ownKey}}, decidertest.Office)
	held, ok := b.CarryOut(c.Do, "").(company.HoldDelivery)
	if !ok || len(held.Doubts) != 2 {
		t.Fatalf("%+v", held)
	}
	for _, want := range []string{"a.go, line 3: the value of THE_KEY",
		"docs/setup.md, line 2: what looks like a secret (github-pat"} {
		if !strings.Contains(says(held), want) {
			t.Errorf("no %q in\n%s", want, says(held))
		}
	}
	if strings.Contains(fmt.Sprintf("%+v", held), ownKey) || strings.Contains(fmt.Sprintf("%+v", held), pat) {
		t.Error("the question holds the secret")
	}
	if got := branches(b, dir); got != "" {
		t.Errorf("pushed all the same: %s", got)
	}
	b.Must(held)
	for _, due := range company.Due(b.View(), time.Now(), 1) { // the question is asked
		if due.Kind == company.EffectCommand {
			b.Must(due.Command)
		}
	}
	a := b.View().OpenApprovals(mergertest.Task)
	if len(a) != 1 || a[0].Kind != company.AskHeld || strings.Contains(a[0].Question, ownKey) {
		t.Fatalf("%+v", a)
	}
	b.Must(company.Answer{Approval: a[0].ID, Option: company.OptApprove, By: "ann"})
	if _, ok := b.CarryOut(c.Do, "").(company.RecordDelivery); !ok || branches(b, dir) == "" {
		t.Error("not pushed after the leave")
	}
}

// What one commit adds and the next takes away is published as well; what the
// base holds in that file already is not published by this.
func TestSecretsOnTheWay(t *testing.T) {
	t.Parallel()
	b, c, _ := deliveredWith(t, map[string]string{"a.go": "package a\n\nvar a = 1\n"})
	dir := origin(t, b)
	c.Secrets = secretscan.New([]secretscan.Own{{Name: "THE_KEY", Value: ownKey}}, decidertest.Office)
	between := b.Project.Commit("between", map[string]string{"gone.txt": ownKey})
	news, err := c.findSecrets(t.Context(), b.Project.Mirror, b.Project.Base, between, forge.PR{})
	if err != nil || len(news) != 1 || !strings.HasPrefix(news[0].Says, "gone.txt, line 1") {
		t.Fatalf("%+v %v", news, err)
	}
	more := b.Project.Commit("between", map[string]string{"gone.txt": "more\n" + ownKey})
	if news, err = c.findSecrets(t.Context(), b.Project.Mirror, between, more, forge.PR{}); err != nil || len(news) != 0 {
		t.Errorf("what the base holds: %+v %v", news, err)
	}
	after := b.Project.Commit("between", map[string]string{"gone.txt": ""})
	if news, err = c.findSecrets(t.Context(), b.Project.Mirror, b.Project.Base, after, forge.PR{}); err != nil ||
		len(news) != 1 || !strings.Contains(news[0].Says, "in a commit before the last") {
		t.Errorf("%+v %v", news, err)
	}
	if _, ok := b.CarryOut(c.Do, "").(company.RecordDelivery); !ok || branches(b, dir) == "" {
		t.Error("a clean branch is not pushed")
	}
}

// Whatever is published is looked through, wherever a secret stands in it; the
// doubt tells where and does not repeat it.
func TestSecretsInEveryPlace(t *testing.T) {
	t.Parallel()
	pat := "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
	guess := "datadog_key = 7d3c1bb2a85f4e90c6d1f0a9b8e7c6d5a4f3e2b1\n"
	wide := "\xff\xfe" + strings.Join(strings.Split(pat, ""), "\x00") + "\x00"
	b, c, _ := delivered(t)
	c.Secrets = secretscan.New([]secretscan.Own{{Name: "THE_KEY", Value: ownKey}}, decidertest.Office)
	with := b.Project.Commit("with",
		map[string]string{"there.txt": "same\n", "keys/" + ownKey + ".txt": "x\n", "go.sum": guess})
	raw := func(author, committer, more, message string) company.OID {
		t.Helper()
		file := filepath.Join(t.TempDir(), "commit")
		text := "tree " + string(b.Project.Tree(b.Project.Base)) + "\nparent " + string(b.Project.Base) + "\nauthor " +
			author + " 1700000000 +0000\ncommitter " + committer + " 1700000000 +0000" + more + "\n\n" + message
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b.Project.Git("branch", "-f", "raw", b.Project.Git("hash-object", "-t", "commit", "-w", "--literally", file))
		return b.Project.Fetch("raw")
	}
	signed := func(body string) string {
		return "\ngpgsig -----BEGIN SSH SIGNATURE-----\n " +
			"U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgabcdefghijklmnopqrstuvwxyz0\n " + body +
			"\n -----END SSH SIGNATURE-----"
	}
	square := "EAAADZ2l0AAAAAAAAABnNoYTUxMgAAAFMAAAALc3NoLWVkMjU1MTkAAABA"
	for name, one := range map[string]struct {
		base, head company.OID
		says       string // empty: no doubt
	}{
		"a signature":             {b.Project.Base, raw("A <a@b>", "A <a@b>", signed(square), "x"), ""},
		"a secret in a signature": {b.Project.Base, raw("A <a@b>", "A <a@b>", signed(ownKey), "x"), "who made"},
		"a token in a signature":  {b.Project.Base, raw("A <a@b>", "A <a@b>", signed(pat), "x"), "who made"},
		"a header after a signature": {b.Project.Base, raw("A <a@b>", "A <a@b>", signed("AAAA")+"\nnote "+square, "x"),
			"who made"},
		"the message of a signed one": {b.Project.Base, raw("A <a@b>", "A <a@b>", signed(square), "x\n\n"+square),
			", line 3: what looks like"},
		"a name": {b.Project.Base, b.Project.Commit("n", map[string]string{ownKey + ".txt": "x\n"}),
			"the name of a file that"},
		"a name of a file that was": {b.Project.Base, b.Project.Commit("w", map[string]string{"x/" + pat: "package a\n"}),
			"the name of a file that"},
		"a name that was there": {with,
			b.Project.Commit("with", map[string]string{"keys/" + ownKey + ".txt": "y\n"}), ""},
		"a name, and what it holds": {b.Project.Base, b.Project.Commit("h", map[string]string{ownKey: ownKey + "\n"}),
			"a file whose name holds a secret, line 1"},
		"two files, one left out": {b.Project.Base,
			b.Project.Commit("t", map[string]string{"go.sum": guess, "main.txt": guess}), "main.txt, line 1"},
		"a lock file": {b.Project.Base, b.Project.Commit("l", map[string]string{"package-lock.json": pat}),
			"package-lock.json, line 1"},
		"letters of two bytes": {b.Project.Base, b.Project.Commit("u", map[string]string{"a.txt": wide}),
			"a.txt, line 1"},
		"a program": {b.Project.Base,
			b.Project.Commit("b", map[string]string{"a.out": "\x7fELF\x00\x00" + pat + "\x00"}), "a.out, line 1"},
		"an address of a submodule": {b.Project.Base,
			b.Project.Commit(
				"s", map[string]string{".gitmodules": "[submodule \"x\"]\n\turl = https://u:" + ownKey + "@example.org/x\n"}),
			".gitmodules, line 2"},
		"an author":                   {b.Project.Base, raw("A <"+ownKey+"@b>", "A <a@b>", "", "x"), "who made"},
		"a committer":                 {b.Project.Base, raw("A <a@b>", ownKey+" <a@b>", "", "x"), "who made"},
		"a header that git knows not": {b.Project.Base, raw("A <a@b>", "A <a@b>", "\nnote "+pat, "x"), "who made"},
		"a message": {b.Project.Base, raw("A <a@b>", "A <a@b>", "", "x\n\n"+pat),
			", line 3: what looks like"},
	} {
		got, err := c.findSecrets(t.Context(), b.Project.Mirror, one.base, one.head, forge.PR{})
		if err != nil {
			t.Fatal(err)
		}
		text := says(company.HoldDelivery{Doubts: got})
		if one.says == "" && text != "" || !strings.Contains(text, one.says) {
			t.Errorf("%s: no %q in %q", name, one.says, text)
		}
		if strings.Contains(text, ownKey) || strings.Contains(text, pat) {
			t.Errorf("%s: the doubt holds the secret: %s", name, text)
		}
	}
	pr := forge.PR{Title: "Add it", Body: "## Summary\n" + ownKey[:4] + "\u200b" + ownKey[4:] + " is what it is\n"}
	got, err := c.findSecrets(t.Context(), b.Project.Mirror, b.Project.Base, b.Project.Base, pr)
	if text := says(company.HoldDelivery{Doubts: got}); err != nil ||
		text != "the pull request's words, line 2: the value of THE_KEY" {
		t.Errorf("%q %v", text, err)
	}
}

// What is too costly to look through is a doubt, the same one each time; many such texts
// are one doubt. A search ends with its context.
func TestUnseenContentIsADoubt(t *testing.T) {
	t.Parallel()
	b, c, _ := delivered(t)
	c.Secrets = secretscan.New([]secretscan.Own{{Name: "THE_KEY", Value: ownKey}}, decidertest.Office)
	costly := strings.Repeat("key=", 400_000)
	head := b.Project.Commit("costly",
		map[string]string{"a.txt": costly, "b.txt": "a line\n", ownKey + ".txt": "x" + costly})
	var before string
	looks := 2
	if testing.Short() {
		looks = 1 // each takes as long as a search may
	}
	for range looks {
		got, err := c.findSecrets(t.Context(), b.Project.Mirror, b.Project.Base, head, forge.PR{})
		if err != nil || len(got) != 3 {
			t.Fatalf("%+v %v", got, err)
		}
		text := says(company.HoldDelivery{Doubts: got})
		if !strings.Contains(text, "a.txt: its last ") ||
			!strings.Contains(text, "a file whose name holds a secret: its last ") ||
			!strings.Contains(text, "not looked through for secrets") || strings.Contains(text, ownKey) {
			t.Errorf("%q", text)
		}
		if keys := fmt.Sprintf("%+v", got); before != "" && keys != before {
			t.Errorf("two looks at the same differ:\n%s\n%s", before, keys)
		}
		before = fmt.Sprintf("%+v", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.findSecrets(ended, b.Project.Mirror, b.Project.Base, head, forge.PR{}); err == nil {
		t.Error("a search does not end with its context")
	}
	var many unseen
	for i := range 3 * mostUnseen {
		many.add(secretscan.Result{Unseen: 10, Mark: fmt.Sprint(i / 2)}, fmt.Sprintf("file %d", i))
	}
	if got := many.doubts(); len(got) != 1 ||
		!strings.Contains(got[0].Says,
			"150 bytes of 15 texts are not looked through for secrets; file 0: its last 10 bytes") {
		t.Errorf("%+v", got)
	}
}

// A file under a thousand names is read once for each way in which it is read,
// and what is too much to look through is a doubt.
func TestOneFileUnderManyNames(t *testing.T) {
	t.Parallel()
	var files []gitops.NewFile
	for i := range 1000 {
		files = append(files, gitops.NewFile{Path: fmt.Sprintf("a%d.txt", i), OID: "one"},
			gitops.NewFile{Path: fmt.Sprintf("a%d.png", i), OID: "one"})
	}
	files = append(files, gitops.NewFile{Path: "b.txt", OID: "two"})
	var got []string
	for _, f := range readOnce(files) {
		got = append(got, f.Path)
	}
	if strings.Join(got, " ") != "a0.txt a0.png b.txt" {
		t.Errorf("%q", got)
	}
	b, c, _ := delivered(t)
	c.Secrets = secretscan.New(nil, decidertest.Office)
	many := map[string]string{}
	for i := range 400 {
		many[fmt.Sprintf("many/%d", i)] = "x\n"
	}
	head := b.Project.Commit("many", many)
	tree := b.Project.Git("rev-parse", string(head)+":many")
	var list strings.Builder
	for i := range 255 { // some more than are looked through: each is a file and a name
		fmt.Fprintf(&list, "040000 tree %s\t%d\n", tree, i)
	}
	file := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(file, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Project.Git("branch", "bomb",
		b.Project.Git("commit-tree", b.Project.Git("-c", "alias.mk=!git mktree <"+file, "mk"), "-p", string(head),
			"-m", "bomb"))
	doubts, err := c.findSecrets(t.Context(), b.Project.Mirror, b.Project.Base, b.Project.Fetch("bomb"), forge.PR{})
	if err != nil || len(doubts) != 1 || !strings.Contains(doubts[0].Says, "more is new than is looked through") {
		t.Errorf("%+v %v", doubts, err)
	}
}

// The base is read again before a delivery: commits that somebody removed at
// the origin are not brought back without a word, and a base that is gone is
// said to be.
func TestBaseOfTheOrigin(t *testing.T) {
	t.Parallel()
	b, c, _ := delivered(t)
	dir := origin(t, b)
	b.Project.Git("checkout", "-q", "--orphan", "again")
	b.Project.Git("commit", "-q", "-m", "history was rewritten")
	b.Project.Git("push", "-q", "-f", "origin", "again:main")
	held, ok := b.CarryOut(c.Do, "").(company.HoldDelivery)
	if !ok || len(held.Doubts) != 1 || !strings.Contains(says(held), "would be back") || branches(b, dir) != "" {
		t.Fatalf("%+v, %s", held, branches(b, dir))
	}
	b.Project.Git("push", "-q", "-f", "origin", string(b.Project.Base)+":main") // put back
	if _, ok := b.CarryOut(c.Do, "").(company.RecordDelivery); !ok {
		t.Error("not delivered to the base as it was")
	}
}

// answer has the question asked that is due, and answers it with a yes.
func answer(b *mergertest.Bundle, kind company.ApprovalKind) {
	b.T.Helper()
	for _, due := range company.Due(b.View(), time.Now(), 1) {
		if due.Kind == company.EffectCommand {
			b.Must(due.Command)
		}
	}
	a := b.View().OpenApprovals(mergertest.Task)
	if len(a) != 1 || a[0].Kind != kind {
		b.T.Fatalf("%+v", a)
	}
	b.Must(company.Answer{Approval: a[0].ID, Option: company.OptApprove, By: "ann"})
}

// A base that was renamed at the origin: its default branch is offered where that contains what the work
// began from, and the pull request is opened into it after a yes. A base that is back wins.
func TestBaseThatWasRenamed(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{false, true} {
		b, c, f := delivered(t)
		dir := origin(t, b)
		b.Project.Git("--git-dir="+dir, "branch", "-m", "main", "trunk")
		held, ok := b.CarryOut(c.Do, "").(company.HoldDelivery)
		if !ok || held.Into != "trunk" || !strings.Contains(says(held), "no branch main any more") || branches(b, dir) != "" {
			t.Fatalf("%+v, %s", held, branches(b, dir))
		}
		b.Must(held)
		answer(b, company.AskOtherBase)
		want := "trunk"
		if back {
			b.Project.Git("--git-dir="+dir, "branch", "main", "trunk")
			want = "main"
		}
		got, ok := b.CarryOut(c.Do, "").(company.RecordDelivery)
		if !ok || got.Base != want || branches(b, dir) == "" {
			t.Fatalf("%+v", got)
		}
		if rec, err := f.ReadRecord(got.Number); err != nil || rec.Base != want {
			t.Errorf("%+v, %v", rec, err)
		}
		b.Must(got)
		if tk := b.Task(mergertest.Task); tk.PR.Base != want || tk.Prepared.Base.PRBranch != want {
			t.Errorf("%+v, %+v", tk.PR, tk.Prepared.Base)
		}
	}
}

// Where no other branch would do, a person is asked, with the reason.
func TestBaseThatIsGone(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change func(b *mergertest.Bundle, dir string)
		why    string
	}{
		"another history": {func(b *mergertest.Bundle, dir string) {
			b.Project.Git("checkout", "-q", "--orphan", "again")
			b.Project.Git("commit", "-q", "-m", "history was rewritten")
			b.Project.Git("push", "-q", "origin", "again:trunk")
			b.Project.Git("--git-dir="+dir, "symbolic-ref", "HEAD", "refs/heads/trunk")
			b.Project.Git("--git-dir="+dir, "branch", "-D", "main")
		}, "default branch, trunk, does not contain"},
		"no default branch": {func(b *mergertest.Bundle, dir string) {
			b.Project.Git("--git-dir="+dir, "update-ref", "refs/heads/trunk", string(b.Project.Base))
			b.Project.Git("--git-dir="+dir, "update-ref", "-d", "refs/heads/main")
		}, "HEAD names no existing branch"},
		"a name that is none of ours": {func(b *mergertest.Bundle, dir string) {
			b.Project.Git("--git-dir="+dir, "branch", "-m", "main", "größe")
		}, "does not accept the name"},
	} {
		b, c, _ := delivered(t)
		dir := origin(t, b)
		x.change(b, dir)
		cmd, err := c.Do(t.Context(), company.Effect{Task: mergertest.Task})
		var e *company.Error
		if cmd != nil || !errors.As(err, &e) || e.Class != company.HumanRequired ||
			!strings.Contains(e.Message, `no branch "main" any more`) ||
			!strings.Contains(e.Why, x.why) || branches(b, dir) != "" {
			t.Errorf("%s: %+v %v", name, cmd, err)
		}
	}
}

// A remote that has nothing yet has no base that could be gone, nor has one that came after the work
// began. One that had the base, and has no branch at all, is a doubt.
func TestBaseOfANewRemote(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		ahead   bool // the remote lacked all commits when the work began
		remote  string
		isDoubt bool
	}{
		"a new one":                  {ahead: true, remote: "https://x.example/new"},
		"one that came later":        {},
		"one that had it is emptied": {remote: "https://x.example/old", isDoubt: true},
	} {
		b, c, _ := delivered(t)
		dir := origin(t, b)
		b.Project.Git("--git-dir="+dir, "symbolic-ref", "HEAD", "refs/heads/other")
		b.Project.Git("--git-dir="+dir, "update-ref", "-d", "refs/heads/main")
		begun := func() {
			s := b.View()
			tk := *s.Tasks[mergertest.Task]
			prepared := *tk.Prepared
			if x.ahead {
				prepared.Base.Ahead = len(strings.Fields(b.Project.Git("rev-list", string(b.Project.Base))))
			}
			tk.Prepared, tk.Project.Remote = &prepared, x.remote
			s.Tasks[mergertest.Task] = &tk
			c.Decider = shown{b, s}
		}
		begun()
		if x.isDoubt {
			cmd, err := c.Do(t.Context(), company.Effect{Task: mergertest.Task})
			held, ok := cmd.(company.HoldDelivery)
			if !ok || held.Into != "" || !strings.Contains(says(held), "no branch at all any more") || branches(b, dir) != "" {
				t.Fatalf("%s: %+v, %v", name, cmd, err)
			}
			b.Must(held)
			answer(b, company.AskHeld)
			begun()
		}
		if cmd, err := c.Do(t.Context(), company.Effect{Task: mergertest.Task}); err != nil ||
			cmd.(company.RecordDelivery).Base != "main" || branches(b, dir) == "" {
			t.Errorf("%s: not delivered: %+v, %v", name, cmd, err)
		}
	}
}

// The origin went on: that is every day's, and no doubt.
func TestBaseThatWentOn(t *testing.T) {
	t.Parallel()
	b, c, _ := delivered(t)
	origin(t, b)
	b.Project.Git("push", "-q", "origin",
		string(b.Project.Commit("theirs", map[string]string{"z.go": "package a\n"}))+":main")
	if _, ok := b.CarryOut(c.Do, "").(company.RecordDelivery); !ok {
		t.Error("not delivered")
	}
}
