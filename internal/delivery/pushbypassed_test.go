package delivery

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/lib/secretscan"
	"company/internal/merger/mergertest"
)

// hold puts the question about a held push, and returns it.
func hold(t *testing.T, b *mergertest.Bundle, command company.Command) *company.Approval {
	t.Helper()
	held, ok := command.(company.HoldDelivery)
	if !ok {
		t.Fatalf("not held: %+v", command)
	}
	b.Must(held)
	for _, due := range company.Due(b.View(), time.Now(), 1) {
		if due.Kind == company.EffectCommand {
			b.Must(due.Command)
		}
	}
	open := b.View().OpenApprovals(mergertest.Task)
	if len(open) != 1 || open[0].Kind != company.AskHeld {
		t.Fatalf("%+v", open)
	}
	return open[0]
}

// A file that a filter should have sealed stays here until a person lets it go, and goes nowhere if the person does
// not. Large files are named in the pull request and pushed.
func TestUnsealedFileHoldsThePush(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{company.OptApprove, company.OptReject} {
		b, c, _ := deliveredOn(t, map[string]string{
			".gitattributes":   "secrets/** filter=git-crypt diff=git-crypt\n.gitattributes !filter\n*.bin filter=lfs\n",
			"secrets/prod.yml": "\x00GITCRYPT\x00\x01",
		}, map[string]string{
			"secrets/prod.yml": "user: me\n", "secrets/new/b.yml": "user: you\n", "big.bin": "big\n",
		})
		dir := origin(t, b)
		asked := hold(t, b, b.CarryOut(c.Do, ""))
		for _, want := range []string{"secrets/new/b.yml, secrets/prod.yml (filter=git-crypt)", "seals files"} {
			if !strings.Contains(asked.Question, want) {
				t.Errorf("no %q in %s", want, asked.Question)
			}
		}
		if strings.Contains(asked.Question, "big.bin") {
			t.Errorf("asked about a large file: %s", asked.Question)
		}
		if got := branches(b, dir); got != "" {
			t.Fatalf("pushed before the answer: %s", got)
		}
		b.Must(company.Answer{Approval: asked.ID, Option: answer, By: "ann"})
		if answer == company.OptReject {
			for _, due := range company.Due(b.View(), time.Now(), 1) {
				if due.Kind == company.EffectDeliver {
					t.Errorf("delivered after a reject: %+v", due)
				}
			}
			continue
		}
		if _, ok := b.CarryOut(c.Do, "").(company.RecordDelivery); !ok || branches(b, dir) == "" {
			t.Error("not pushed after the permission")
		}
	}
}

// Every commit of a push counts, whatever the last one holds. A permission is for the contents that were asked about.
func TestUnsealedOnTheWay(t *testing.T) {
	t.Parallel()
	b, c, _ := deliveredOn(t, map[string]string{".gitattributes": "secrets/** filter=company-x\n"},
		map[string]string{"a.go": "package a\n\nvar a = 1\n"})
	c.Secrets = secretscan.New(nil, decidertest.Office)
	base := b.Project.Base
	b.Project.Commit("work", map[string]string{"secrets/a.yml": "one\n"})
	after := b.Project.Commit("work", map[string]string{"secrets/a.yml": ""})
	first, err := c.findBypassed(t.Context(), b.Project.Mirror, base, after)
	if err != nil || len(first) != 1 || !strings.Contains(first[0].Says, "secrets/a.yml (filter=company-x): what this") {
		t.Fatalf("%+v %v", first, err)
	}
	again := b.Project.Commit("work", map[string]string{"secrets/a.yml": "two\n"})
	second, err := c.findBypassed(t.Context(), b.Project.Mirror, base, again)
	if err != nil || len(second) != 1 || second[0].Key == first[0].Key {
		t.Errorf("%+v %v", second, err)
	}
	if none, err := c.findBypassed(t.Context(), b.Project.Mirror, again, again); err != nil || len(none) != 0 {
		t.Errorf("what is there already: %+v %v", none, err)
	}
}
