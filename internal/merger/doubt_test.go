package merger

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/company/desktest"
	"company/internal/leak"
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
func branches(b *bundle, origin string) string {
	b.t.Helper()
	return b.p.Git("--git-dir="+origin, "for-each-ref", "--format=%(refname:short)", "refs/heads/develop*")
}

// T21: nothing with a secret in it leaves before a person said so; the
// question tells where, and not what. The leave is for that secret.
func TestSecretsHoldThePush(t *testing.T) {
	pat := "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
	b, c, _ := deliveredWith(t, map[string]string{"a.go": "package a\n\nvar key = \"" + ownKey + "\"\n", "docs/setup.md": "line\nuse " + pat + "\n"})
	dir := origin(t, b)
	c.Secrets = leak.New([]leak.Own{{Name: "THE_KEY", Value: ownKey}}, desktest.Office)
	held, ok := b.do(c.Do, "").(company.HoldDelivery)
	if !ok || len(held.Doubts) != 2 {
		t.Fatalf("%+v", held)
	}
	for _, want := range []string{"a.go, line 3: the value of THE_KEY", "docs/setup.md, line 2: what looks like a secret (github-pat"} {
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
		if due.Kind == company.DoNote {
			b.Must(due.Then)
		}
	}
	a := b.View().OpenApprovals(task)
	if len(a) != 1 || a[0].Kind != company.AskHeld || strings.Contains(a[0].Question, ownKey) {
		t.Fatalf("%+v", a)
	}
	b.Must(company.Answer{Approval: a[0].ID, Option: company.OptApprove, By: "ann"})
	if _, ok := b.do(c.Do, "").(company.Delivered); !ok || branches(b, dir) == "" {
		t.Error("not pushed after the leave")
	}
}

// What one commit adds and the next takes away is published as well; what the
// base holds in that file already is not published by this.
func TestSecretsOnTheWay(t *testing.T) {
	b, c, _ := deliveredWith(t, map[string]string{"a.go": "package a\n\nvar a = 1\n"})
	dir := origin(t, b)
	c.Secrets = leak.New([]leak.Own{{Name: "THE_KEY", Value: ownKey}}, desktest.Office)
	between := b.p.Commit("between", map[string]string{"gone.txt": ownKey})
	news, err := c.secrets(t.Context(), b.p.Mirror, b.p.Base, between)
	if err != nil || len(news) != 1 || !strings.HasPrefix(news[0].Says, "gone.txt, line 1") {
		t.Fatalf("%+v %v", news, err)
	}
	more := b.p.Commit("between", map[string]string{"gone.txt": "more\n" + ownKey})
	if news, err = c.secrets(t.Context(), b.p.Mirror, between, more); err != nil || len(news) != 0 {
		t.Errorf("what the base holds: %+v %v", news, err)
	}
	after := b.p.Commit("between", map[string]string{"gone.txt": ""})
	if news, err = c.secrets(t.Context(), b.p.Mirror, b.p.Base, after); err != nil || len(news) != 1 || !strings.Contains(news[0].Says, "in a commit before the last") {
		t.Errorf("%+v %v", news, err)
	}
	if _, ok := b.do(c.Do, "").(company.Delivered); !ok || branches(b, dir) == "" {
		t.Error("a clean branch is not pushed")
	}
}

// The base is read anew before a delivery: commits that somebody removed at
// the origin are not brought back without a word, and a base that is gone is
// said to be.
func TestBaseOfTheOrigin(t *testing.T) {
	b, c, _ := delivered(t)
	dir := origin(t, b)
	b.p.Git("checkout", "-q", "--orphan", "anew")
	b.p.Git("commit", "-q", "-m", "history was rewritten")
	b.p.Git("push", "-q", "-f", "origin", "anew:main")
	held, ok := b.do(c.Do, "").(company.HoldDelivery)
	if !ok || len(held.Doubts) != 1 || !strings.Contains(says(held), "would be back") || branches(b, dir) != "" {
		t.Fatalf("%+v, %s", held, branches(b, dir))
	}
	b.p.Git("push", "-q", "-f", "origin", string(b.p.Base)+":main") // put back
	if _, ok := b.do(c.Do, "").(company.Delivered); !ok {
		t.Error("not delivered to the base as it was")
	}
	b, c, _ = delivered(t)
	dir = origin(t, b)
	b.p.Git("--git-dir="+dir, "branch", "-m", "main", "trunk")
	cmd, err := c.Do(t.Context(), company.Effect{Task: task})
	var e *company.Error
	if cmd != nil || !errors.As(err, &e) || e.Class != company.HumanRequired || !strings.Contains(e.Message, `no branch "main" any more`) || branches(b, dir) != "" {
		t.Errorf("%+v %v", cmd, err)
	}
}

// A remote that has nothing yet has no base that could be gone.
func TestBaseOfANewRemote(t *testing.T) {
	b, c, _ := delivered(t)
	dir := origin(t, b)
	b.p.Git("--git-dir="+dir, "symbolic-ref", "HEAD", "refs/heads/other")
	b.p.Git("--git-dir="+dir, "update-ref", "-d", "refs/heads/main")
	if _, ok := b.do(c.Do, "").(company.Delivered); !ok || branches(b, dir) == "" {
		t.Error("not delivered")
	}
}

// The origin went on: that is every day's, and no doubt.
func TestBaseThatWentOn(t *testing.T) {
	b, c, _ := delivered(t)
	origin(t, b)
	b.p.Git("push", "-q", "origin", string(b.p.Commit("theirs", map[string]string{"z.go": "package a\n"}))+":main")
	if _, ok := b.do(c.Do, "").(company.Delivered); !ok {
		t.Error("not delivered")
	}
}
