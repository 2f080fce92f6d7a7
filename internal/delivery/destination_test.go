package delivery

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/forge"
	"company/internal/forge/local"
	"company/internal/lib/secretscan"
	"company/internal/merger/mergertest"
)

const branchT1 = "develop-t1-" + decidertest.Office

// bare is an empty repository beside the origin.
func bare(t *testing.T, b *mergertest.Bundle) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "other.git")
	b.Project.Git("init", "-q", "--bare", "-b", "main", dir)
	return dir
}

func refsOf(b *mergertest.Bundle, dir string) string {
	b.T.Helper()
	return b.Project.Git("--git-dir="+dir, "for-each-ref", "--format=%(refname:short) %(objectname)")
}

func pageOf(t *testing.T, f *local.Forge, number int) string {
	t.Helper()
	text, err := os.ReadFile(f.FullPagePath(number))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A push address that is none forbids pushes: nothing reaches the origin, and the task ends as without a remote, with
// the setting named.
func TestNoPushAddress(t *testing.T) {
	t.Parallel()
	b, c, f := delivered(t)
	dir := origin(t, b)
	before := refsOf(b, dir)
	b.Project.Git("remote", "set-url", "--push", "origin", "no_push")
	b.Must(b.CarryOut(c.Do, ""))
	if after := refsOf(b, dir); after != before {
		t.Fatalf("the origin has\n%s", after)
	}
	task := b.Task(mergertest.Task)
	if task.Status != company.StatusCompleted {
		t.Fatalf("%s", task.Status)
	}
	for _, want := range []string{`remote.origin.pushurl`, "no_push", "git push <address>", "company diff t1 | git apply"} {
		if page := pageOf(t, f, 1); !strings.Contains(strings.ReplaceAll(page, `\`, ""), want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// What is recorded of a delivery that was not pushed: its place in words. The branch is not looked for at the remote,
// and what was not published is searched for secrets once a push is allowed.
func TestAfterNoPush(t *testing.T) {
	t.Parallel()
	b, c, f, id := followed(t)
	b.Project.Git("remote", "set-url", "--push", "origin", "DISABLED")
	b.Project.Git("push", "-q", b.Project.Git("remote", "get-url", "origin"), ":refs/heads/"+branchT1)
	s := c.Decider.View()
	lead := *s.Tasks[mergertest.Task]
	pr := *lead.PR
	pr.Unpushed, lead.PR = true, &pr
	s.Tasks[mergertest.Task] = &lead
	got, err := c.Do(t.Context(), company.Effect{Task: id})
	record, ok := got.(company.RecordDelivery)
	if err != nil || !ok || !record.Unpushed || !strings.Contains(record.Note, `remote.origin.pushurl is "DISABLED"`) {
		t.Fatalf("%#v, %v", got, err)
	}
	poller, err := NewFeedbackPoller(decidertest.Office, b.Project, oneForge{f})
	if err != nil {
		t.Fatal(err)
	}
	for _, pushURL := range []string{"DISABLED", ""} { // the person allows pushes later
		if pushURL == "" {
			b.Project.Git("config", "--unset", "remote.origin.pushurl")
		}
		news, _, err := poller.Poll(t.Context(),
			company.Pull{PullRequest: pr, Lead: &lead, Tasks: []*company.Task{&lead}})
		if err != nil || news.Branch != nil || news.State != company.PROpen {
			t.Errorf("%q: %+v, %v", pushURL, news, err)
		}
	}
	c.Secrets = secretscan.New([]secretscan.Own{{Name: "THE_KEY", Value: "var a = 1"}}, decidertest.Office)
	if held, err := c.Do(t.Context(), company.Effect{Task: id}); err != nil {
		t.Error(err)
	} else if _, ok := held.(company.HoldDelivery); !ok {
		t.Errorf("what the lead made is published unseen: %#v", held)
	}
}

// A pull request that is open on a forge cannot be brought up to date where nothing may be pushed: a question.
func TestNoPushForAnOpenPullRequest(t *testing.T) {
	t.Parallel()
	b, c, _, id := followed(t)
	b.Project.Git("remote", "set-url", "--push", "origin", "no_push")
	s := c.Decider.View()
	lead := *s.Tasks[mergertest.Task]
	pr := *lead.PR
	pr.URL, lead.PR = "https://github.com/acme/app/pull/1", &pr
	s.Tasks[mergertest.Task] = &lead
	cmd, err := c.Do(t.Context(), company.Effect{Task: id})
	var e *company.Error
	if cmd != nil || !errors.As(err, &e) || e.Class != company.HumanRequired ||
		!strings.Contains(e.Why, "remote.origin.pushurl") || !strings.Contains(e.Hint, "approve") {
		t.Errorf("%#v, %v", cmd, err)
	}
}

// A push address that is another repository gets the branch, and the origin none. Without a forge that can open a pull
// request from there, the page says where it is.
func TestPushToAFork(t *testing.T) {
	t.Parallel()
	for name, configure := range map[string]func(b *mergertest.Bundle, fork string){
		"pushurl": func(b *mergertest.Bundle, fork string) {
			b.Project.Git("remote", "set-url", "--push", "origin", fork)
		},
		"pushInsteadOf": func(b *mergertest.Bundle, fork string) {
			b.Project.Git("config", "url."+fork+".pushInsteadOf", b.Project.Git("remote", "get-url", "origin"))
		},
		"pushDefault": func(b *mergertest.Bundle, fork string) {
			b.Project.Git("remote", "add", "mine", fork)
			b.Project.Git("config", "remote.pushDefault", "mine")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, c, f := delivered(t)
			dir, fork := origin(t, b), bare(t, b)
			before := refsOf(b, dir)
			configure(b, fork)
			c.Forges = &forge.Selector{Local: f, Settings: forge.Settings{Kind: forge.LocalKind}}
			b.Must(b.CarryOut(c.Do, ""))
			if after := refsOf(b, dir); after != before {
				t.Errorf("the origin has\n%s", after)
			}
			head := string(b.Task(mergertest.Task).Head)
			if at := refsOf(b, fork); at != branchT1+" "+head {
				t.Errorf("the fork has %q", at)
			}
			if page := pageOf(t, f, 1); !strings.Contains(page, "git fetch "+fork+" "+branchT1) {
				t.Errorf("%s", page)
			}
			b.Project.Git("--git-dir="+fork, "update-ref", "refs/heads/"+branchT1, string(b.Project.Base))
			poller, err := NewFeedbackPoller(decidertest.Office, b.Project, c.Forges)
			if err != nil {
				t.Fatal(err)
			}
			news, _, err := poller.Poll(t.Context(), b.View().Pulls()[0])
			if err != nil || news.Branch != nil && news.Branch.Kind == company.BranchGone {
				t.Errorf("the branch is not looked at where it is: %+v, %v", news.Branch, err)
			}
		})
	}
}

// Several push addresses all get the branch, as from git push.
func TestPushToSeveral(t *testing.T) {
	t.Parallel()
	b, c, _ := delivered(t)
	dir, fork := origin(t, b), bare(t, b)
	b.Project.Git("remote", "set-url", "--add", "--push", "origin", fork)
	b.Project.Git("remote", "set-url", "--add", "--push", "origin", dir)
	for range 2 { // the second finds all done
		if _, ok := b.CarryOut(c.Do, "").(company.RecordDelivery); !ok {
			t.Fatal("not delivered")
		}
	}
	head := string(b.Task(mergertest.Task).Head)
	for _, at := range []string{dir, fork} {
		if !strings.Contains(refsOf(b, at), branchT1+" "+head) {
			t.Errorf("%s has %s", at, refsOf(b, at))
		}
	}
}

// A remote that takes other names refuses with the key. Once that is set, approve delivers the same work under the new
// name, and the ledger knows it by that.
func TestRefusedNameIsDeliveredUnderAnother(t *testing.T) {
	t.Parallel()
	b, c, f := delivered(t)
	dir := origin(t, b)
	hook := filepath.Join(dir, "hooks", "update")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ncase $1 in refs/heads/feature/*) exit 0;; esac\n"+
		"echo 'GitLab: Branch name does not follow the pattern ^feature/'\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	prefix := "develop"
	c.Prefix = func(context.Context, *company.Task) (string, error) { return prefix, nil }
	_, err := c.Do(t.Context(), company.Effect{Task: mergertest.Task})
	var e *company.Error
	if !errors.As(err, &e) || e.Class != company.HumanRequired || !strings.Contains(e.Hint, "git.integration_branch") {
		t.Fatalf("%v", err)
	}
	head := b.Task(mergertest.Task).Head
	prefix = "feature/company"
	rename := b.CarryOut(c.Do, "")
	if got, ok := rename.(company.RenameDelivery); !ok || got.Branch != "feature/company-t1-"+decidertest.Office {
		t.Fatalf("%#v", rename)
	}
	b.Must(rename)
	b.Must(b.CarryOut(c.Do, ""))
	task := b.Task(mergertest.Task)
	want := "feature/company-t1-" + decidertest.Office
	if task.Status != company.StatusCompleted || task.PR.Branch != want || task.IntegrationBranch() != want ||
		task.PR.Head != head {
		t.Errorf("%+v", task.PR)
	}
	if got := refsOf(b, dir); !strings.HasPrefix(got, want+" "+string(head)) || strings.Contains(got, "develop") {
		t.Errorf("the origin has\n%s", got)
	}
	if rec, err := f.ReadRecord(1); err != nil || rec.Branch != want {
		t.Errorf("%+v, %v", rec, err)
	}
	if at, err := b.Project.Mirror.Ref(t.Context(), "refs/heads/"+want); err != nil || at != head {
		t.Errorf("here it is at %s, %v", at, err)
	}
}

// A branch that was pushed before a kill keeps its name, whatever the setting is by then.
func TestPushedBranchKeepsItsName(t *testing.T) {
	t.Parallel()
	b, c, _ := delivered(t)
	origin(t, b)
	if _, ok := b.CarryOut(c.Do, "").(company.RecordDelivery); !ok {
		t.Fatal("not delivered")
	}
	c.Prefix = func(context.Context, *company.Task) (string, error) { return "feature/company", nil }
	if cmd, ok := b.CarryOut(c.Do, "").(company.RecordDelivery); !ok {
		t.Errorf("%#v", cmd)
	}
	b.Project.Git("push", "-q", "-f", "origin", "main:refs/heads/"+branchT1) // another's branch of that name
	if cmd, ok := b.CarryOut(c.Do, "").(company.RenameDelivery); !ok {
		t.Errorf("%#v", cmd)
	}
}
