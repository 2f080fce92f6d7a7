package main

import (
	"encoding/json"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/company"
)

const someChanges = `diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+zwei
 three
@@ -9,2 +9,3 @@
 nine
+nine and a half
 ten
diff --git a/new/b.txt b/new/b.txt
new file mode 100644
--- /dev/null
+++ b/new/b.txt
@@ -0,0 +1,2 @@
+first
+--- second
`

// exchangeOf is the request after so many replies.
func exchangeOf(role company.Role, run company.RunID, turn int, msgs ...adapters.Message) scripted.Exchange {
	return scripted.Exchange{Header: adapters.Header{Role: role, Run: run}, HasHeader: true, Turn: turn, Messages: msgs}
}

// A case's conversation makes its solution with the tools that the company gives.
func TestCasesAreRecorded(t *testing.T) {
	p, err := recordCase(Case{Name: "x", Run: "make test", Solution: []byte(someChanges)})
	if err != nil {
		t.Fatal(err)
	}
	var did []string
	for turn := range len(p.worker) {
		c := p.reply(exchangeOf(company.Worker, "r", turn)).Calls[0]
		var args struct{ Path, Old, New, Content string }
		if err := json.Unmarshal([]byte(c.Raw), &args); err != nil {
			t.Fatal(err)
		}
		did = append(did, strings.Join(strings.Fields(c.Tool+" "+args.Path), " "))
		switch {
		case c.Tool == "write_file" && args.Content != "first\n--- second\n",
			c.Tool == "edit_file" && strings.HasPrefix(args.Old, "one") &&
				(args.Old != "one\ntwo\nthree\n" || args.New != "one\nzwei\nthree\n"):
			t.Errorf("%+v", args)
		}
	}
	if got, want := strings.Join(did, ", "),
		"list_files, run_command, read_file a.txt, run_command, edit_file a.txt, edit_file a.txt, read_file a.txt, "+
			"write_file new/b.txt, read_file new/b.txt, run_command, run_command, git_commit, finish"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	brief := adapters.Message{Role: adapters.User, Content: "x\n\n## Acceptance criteria\n- one\n- two\n"}
	verdict := p.reply(exchangeOf(company.Reviewer, "r", len(p.look), brief)).Calls[0].Raw
	if strings.Count(verdict, "`make test` passes") != 2 {
		t.Errorf("the verdict is %s", verdict)
	}
	if r := p.reply(exchangeOf(company.Worker, "r", 99, brief)); !strings.Contains(r.Err, "13 replies of the worker") {
		t.Errorf("after the end: %+v", r)
	}
	if _, err := recordCase(Case{Name: "x"}); err == nil {
		t.Error("a case without a solution is recorded")
	}
}

// Tokens are counted as servers see them: tools and messages, and the prefix that the
// request before has had.
func TestRequestsAreCounted(t *testing.T) {
	model := newCountingModel(play{worker: []scripted.Reply{runCommand("true"), runCommand("true")}}.reply)
	x := exchangeOf(company.Worker, "r1", 0, adapters.Message{Role: adapters.System, Content: strings.Repeat("s", 8000)},
		adapters.Message{Role: adapters.User, Content: "do"})
	x.Tools = []adapters.Tool{{Name: "t", Description: strings.Repeat("d", 397)}}
	first := model.Reply(x)
	x.Turn, x.Messages = 1, append(
		x.Messages, adapters.Message{Role: adapters.ToolRole, Content: strings.Repeat("r", 4000)})
	second := model.Reply(x)
	if first.Usage.CachedTokens != 0 || second.Usage.CachedTokens != 2048 ||
		second.Usage.InputTokens-first.Usage.InputTokens < 1000 {
		t.Errorf("%+v, then %+v", first.Usage, second.Usage)
	}
	other := exchangeOf(company.Worker, "r2", 0, x.Messages[0])
	other.Tools = x.Tools
	if got := model.Reply(other).Usage.CachedTokens; got != 2048 {
		t.Errorf("another conversation with the same beginning has %d tokens of it from the cache", got)
	}
	c := model.takeCounts()[company.Worker]
	if c.Requests != 3 || c.Tools != 300 || c.System < 4000 || c.First <= int64(first.Usage.InputTokens) ||
		c.Input != c.First+int64(second.Usage.InputTokens) || c.Billed() != float64(c.Input-4096)+409.6 {
		t.Errorf("%+v", c)
	}
	if len(model.takeCounts()) != 0 {
		t.Error("counts are not taken away")
	}
}

func TestTokensReport(t *testing.T) {
	r := TokensReport{Total: Count{Requests: 2, Input: 1400, Cached: 1000}, Cases: []TokensCase{
		{Name: "a", Count: Count{Requests: 2, Input: 1400, Cached: 1000}}, {Name: "b", Fault: "it failed\x1b"},
	}}
	got := r.RenderText()
	for _, want := range []string{"a         2   1400    71 %     500", "b was not finished: it failed"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Error(got)
	}
}
