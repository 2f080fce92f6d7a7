package attack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// officeKey is a key that is not a word, as those of offices are.
const officeKey = "sk-office-0aB1cD2eF3gH4iJ5kL6m"

// tokens are secrets of others, one for each place that publish.sh puts one in:
// a header, a file, a name, two bytes, a program, a lock file, a message.
var tokens = func() []string {
	var out []string
	for _, tail := range []string{
		"wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINU1", "bQ7mR2tY9uI4oP6aS8dF1gH3jK5lZ0xC2vB1",
		"nM3qW8eR5tY2uI9oP4aS7dF6gH1jK0lZ3xC1", "vB6nM1qW4eR9tY7uI2oP5aS3dF8gH0jK6lZ1",
		"xC4vB9nM2qW6eR1tY8uI3oP7aS5dF0gH4jK1", "lZ7xC2vB5nM8qW3eR6tY1uI4oP9aS0dF2gH1",
		"jK5lZ8xC3vB6nM9qW1eR4tY7uI2oP0aS5dF1",
	} {
		out = append(out, "ghp_"+tail)
	}
	return out
}()

// refusals are the tries of publish.sh that no push may bring in, each with a
// word of the refusal.
var refusals = map[string]string{
	"closes": "Closes #1", "closes elsewhere": "owner/repo#3", "closes a key": "PROJ-12",
	"closes in wide letters": "Fixes #4", "closes by address": "issues/5",
	"skips": "[skip ci]", "skips by trailer": "skip-checks", "signs off": "Signed-off-by", "co-author": "Co-authored-by",
	"co-developer": "Co-developed-by",
	"reporter":     "Reported-by", "on two lines": "Tested-by", "steers": "invisible character",
	"author": "the author", "user": "Ada", "variables": "Ada", "two authors": "before its message",
	"header": "before its message", "encoding": "before its message",
}

// never are the tries that nothing brings in, whatever is taken out.
var never = map[string]bool{"submodule": true, "tag": true}

// doubts are what the question before the push names.
var doubts = []string{
	"conf/own.txt, line 1: the value of TEST_MODEL_KEY",
	"conf/later.txt (in a commit before the last), line 1: what looks like a secret (github-pat",
	"the name of a file that ", "conf/wide.txt, line 1: what looks like", "conf/program, line 1: what looks like",
	"package-lock.json, line 1: what looks like", "the message of ",
}

// TestNothingHostileIsPublished: a worker says to forges, servers and readers
// what is not its own to say, under names of others, and puts secrets into
// every place that is pushed. With what is asked of commits, and with the look
// before the push, nothing of it reaches the origin; without these two parts
// the same worker has all of it published.
func TestNothingHostileIsPublished(t *testing.T) {
	t.Run("with the defence", func(t *testing.T) {
		h, got, p := publishAll(t, "")
		for name, word := range refusals {
			if try := got[name]; try.code != "1" || !strings.Contains(try.words, word) {
				t.Errorf("%s: exit %q, %q; want a refusal with %q", name, try.code, try.words, word)
			}
		}
		if r := p.Wait(patience); r.Code != 2 {
			t.Errorf("exit %d\n%s", r.Code, p.Tell())
		}
		question := h.MustRun(patience, "show", "a1").Stdout
		for _, want := range doubts {
			if !strings.Contains(question, want) {
				t.Errorf("the question does not name %q:\n%s", want, question)
			}
		}
		for _, secret := range append(tokens, officeKey) {
			if strings.Contains(question, secret) {
				t.Errorf("the question holds the secret %s…", secret[:8])
			}
		}
		if refs := h.Git(h.Origin, "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" {
			t.Errorf("at the origin before anybody said so:\n%s", refs)
		}
	})
	t.Run("without it", func(t *testing.T) {
		overlay := takeOut(t,
			part{"internal/gitops/check.go", "if err := q.judgeCommit(commit); err != nil {",
				"if err := error(nil); err != nil {"},
			part{"internal/delivery/pushdoubts.go", "if c.Secrets == nil {", "if c != nil {"})
		hosttest.Long(t, "a company without the defence is built, to see that the attack is one")
		h, got, p := publishAll(t, buildWith(t, overlay))
		for name := range refusals {
			if got[name].code != "0" {
				t.Errorf("%s does not even succeed without the defence: %+v", name, got[name])
			}
		}
		if r := p.Wait(patience); r.Code != 0 {
			t.Fatalf("exit %d\n%s", r.Code, p.Tell())
		}
		branch := "develop-t1-" + h.OfficeID()
		published := h.Git(h.Origin, "log", "--format=%an %ae %cn%n%B", branch) +
			h.Git(h.Origin, "log", "-p", "-a", "--format=", branch)
		for _, want := range append(
			[]string{"Closes #1", "Closes PROJ-12", "[skip ci]", "Signed-off-by: Linus", "Co-developed-by: Ada",
				"Ada ada@people.example Ada", officeKey},
			tokens[1], tokens[2], tokens[4], tokens[5], tokens[6]) {
			if !strings.Contains(published, want) {
				t.Errorf("%q is not at the origin: the attack does not even succeed without the defence", want)
			}
		}
		if refs := h.Git(h.Origin, "for-each-ref", "--format=%(refname)"); refs != "refs/heads/"+branch+"\nrefs/heads/main" {
			t.Errorf("a name of a branch or a tag left the machine:\n%s", refs)
		}
	})
}

// publishAll has one worker try all of publish.sh in a company (empty: as it is),
// and gives what came of each try.
func publishAll(t *testing.T, bin string) (*testenv.House, map[string]try, *testenv.Process) {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("testdata", "publish.sh"))
	if err != nil {
		t.Fatal(err)
	}
	staff := &crew{}
	h := newHouse(
		t, staff,
		map[string]string{"README.md": "# Published\n", "check.sh": "test -s README.md\n",
			"attack/publish.sh": string(script)})
	if bin != "" {
		h.Bin = bin
	}
	h.Env = append(h.Env, "TEST_MODEL_KEY="+officeKey)
	h.Config("git: {history: keep}\nworkers: {max: 1, memory: 1536m}\ngates: {lint: none, test: sh ./check.sh}\n")
	const run company.RunID = "t1-01.1"
	staff.assignTickets(ticket{title: "Write it down", writeSet: "conf/** package-lock.json", runs: [][]step{{
		runScript("bash attack/publish.sh " + officeKey + " " + strings.Join(tokens, " ")),
		do("write_file", args{"path": "conf/done.txt", "content": "done\n"}),
		do("git_commit", args{"message": "Write it down"}),
		do("finish", args{"summary": "it is written down"}),
	}}})
	p := h.Start("submit", "--no-input", "write it down")
	p.Wait(patience)
	out := staff.toolAnswers(run, 0)
	got := readTries(out)
	if got["says control"].code != "0" || got["own key in a file"].code != "0" || got["token in a message"].code != "0" ||
		got["branch"].code != "0" {
		t.Fatalf("what an honest worker may do fails: %+v\n%s\n%s", got, out, p.Tell())
	}
	for name := range never {
		if got[name].code == "0" || got[name].code == "" {
			t.Errorf("%s: %+v", name, got[name])
		}
	}
	return h, got, p
}
