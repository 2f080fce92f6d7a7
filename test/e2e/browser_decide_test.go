package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// submitTask submits over the API with the tab's token, as the form does.
func (b *tab) submitTask(fields string) {
	b.t.Helper()
	status := evaluate[int](b, fmt.Sprintf(`fetch("/api/v1/submissions", {method: "POST", body: JSON.stringify(%s),
		headers: {"Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID(), Authorization: "Bearer " + sessionStorage.getItem("company.token")}}).then(r => r.status)`, fields))
	if status/100 != 2 {
		b.t.Fatalf("%s: %d", fields, status)
	}
}

// confirm answers a dialog. words are typed first, where there are some.
func (b *tab) confirm(field, words string) {
	b.t.Helper()
	b.see("dialog", "")
	if words != "" {
		b.enter(byID("dialog")+" "+field, words)
	}
	b.until(fmt.Sprintf("!document.querySelector(%q)?.disabled", byID("dialog-confirm")))
	b.click("dialog-confirm")
	b.gone("dialog")
}

// decides is a staff for two tasks: the worker of t1 needs help once, t2 adds a farewell with
// a minor finding.
func decides(stops ...*stop) *staff {
	farewell := writeFilesAndFinish(
		"Add a farewell", "farewell.sh", "#!/bin/sh\necho Goodbye\n", "checks/farewell.sh", "test -n \"$(sh farewell.sh)\"\n")
	lower := writeFilesAndFinish("In lower case", "farewell.sh", "#!/bin/sh\necho goodbye\n")
	return &staff{
		manager: replyAlways(call("give_up", m{"reason": "nobody here knows English"})),
		worker: perTask(
			replyByRun(escalateFor("which English?"), writeFilesAndFinish("Add English", "english.sh", "echo hi\n")),
			replyByRun(farewell, lower)),
		reviewer: func(x scripted.Exchange) scripted.Reply {
			r := approve(x)
			if x.Header.Subtask == "t2-01" {
				r.Calls[0].Args.(m)["findings"] = []m{
					{"severity": company.Minor, "file": "farewell.sh", "line": 2, "what": "the word is in upper case",
						"why": "greet.sh has lower case"}}
			}
			return r
		},
		stops: stops,
	}
}

// commentByKeys comments on the first line of farewell.sh without a mouse: Tab leads from the
// fold button over the box "seen" and the change to its first line, arrows to the others and back.
func commentByKeys(b *tab) {
	b.t.Helper()
	press := func(keys ...string) {
		for _, k := range keys {
			b.do("press a key", chromedp.KeyEvent(k))
		}
	}
	evaluate[bool](b, "document.querySelector(\"[id='file-farewell.sh'] button[data-row]\").focus(), true")
	press(kb.Tab, kb.Tab, kb.Tab)
	b.until("document.activeElement.dataset.line === 'farewell.sh:1'")
	press(kb.ArrowDown)
	b.until("document.activeElement.dataset.line === 'farewell.sh:2'")
	press(kb.Enter)
	b.until("document.activeElement.matches('[id=\"file-farewell.sh\"] textarea')")
	press("no", kb.Escape)
	b.until("document.activeElement.dataset.line === 'farewell.sh:2'")
	press(kb.Home, kb.Enter)
	b.until("document.activeElement.matches('[id=\"file-farewell.sh\"] textarea')")
	press("say which shell", kb.Tab, kb.Enter)
	b.until("document.activeElement.dataset.line === 'farewell.sh:1'")
	b.see("decide", "1 comment at lines")
}

// giveUpTogether submits tasks whose first call passes their budgets, and refuses both raises
// with one press. Each ends a task, which is confirmed.
func giveUpTogether(t *testing.T, h *testenv.House, b *tab, tasks ...string) {
	t.Helper()
	for _, task := range tasks { // each asks before the next one, so that the questions have this order
		b.submitTask(`{instruction: "greet in Latin", budget_tokens: "1k"}`)
		waitFor(t, func() bool { return taskStatus(h, task) == "awaiting_input" },
			func() string { return task + " is " + taskStatus(h, task) })
	}
	b.click("nav-inbox")
	b.see("several-budget", "all 2")
	b.click("all-budget")
	b.see("several-budget", "No to 2")
	b.click("reject-several-budget")
	for _, task := range tasks {
		b.see("dialog", "This ends "+task)
		b.enter(byID("dialog")+" input", task)
		b.click("dialog-confirm")
		b.until(fmt.Sprintf("!document.querySelector(%q)?.innerText.includes(%q)", byID("dialog"), "This ends "+task))
	}
	b.gone("several-budget")
	for _, task := range tasks {
		waitFor(t, func() bool { s := taskStatus(h, task); return s == "failed" || s == "cancelled" },
			func() string { return task + " is " + taskStatus(h, task) })
	}
}

// TestBrowserDecides: in a real browser the president raises a used up budget, gives a task
// up and has its failed subtask tried again; sees a finding at its line, comments on a line
// by keyboard and requests changes, tells the worker, pauses the task and lets it go on, stops the
// office and resumes it, and approves; refuses two questions at once; then closes a pull request (UI-2, UI-8).
func TestBrowserDecides(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	first, again := stopAt("t2-01.1", 0), stopAt("t2-01.2", 1)
	h := openTinyProject(t, decides(first, again))
	t.Cleanup(first.release)
	t.Cleanup(again.release)
	link, l := serveForBrowser(t, h)
	base := "http://" + l.listener.Addr().String() + "/"
	b := openTab(startBrowser(t), t)
	b.holdRequests("*/api/v1/events*") // as a proxy does that holds streams back
	b.open(link)
	b.see("page-overview", "")

	// A budget that the first call would pass.
	b.submitTask(`{instruction: "greet in English", budget_tokens: "1k"}`)
	b.see("page-overview", "greet in English")
	b.releaseRequests()
	b.click("nav-inbox")
	b.see("question-a1", "Raise the cap?")
	b.enter(byID("question-a1")+" input", "2Mtokens")
	b.click("approve-a1")
	b.gone("question-a1")
	var shown struct {
		Task struct {
			CapTokens int64 `json:"cap_tokens"`
		}
	}
	if h.JSON(&shown, "show", "t1"); shown.Task.CapTokens != 2_001_000 {
		t.Errorf("the cap is %d tokens", shown.Task.CapTokens)
	}
	b.submitTask(`{instruction: "say goodbye", approve: ["merge"]}`)

	// A no that ends the task asks once more; its subtask is tried again.
	b.see("question-a2", "which English?")
	b.click("reject-a2")
	b.confirm("input", "t1")
	b.gone("question-a2")
	b.open(base + "t/t1?s=t1-01")
	b.see("task-head", "failed")
	b.click("retry-subtask")
	b.confirm("", "")
	b.until(fmt.Sprintf("!document.querySelector(%q)?.innerText.includes('failed')", byID("task-head")))

	// A slow diff moves nothing: the buttons come after it, and the column keeps its place.
	first.release()
	b.click("nav-inbox")
	b.see("question-a3", "")
	column := "document.querySelector('.columns.side-right').lastElementChild"
	b.holdRequests("*/api/v1/diffs/*")
	b.open(base + "review/t2-01")
	b.until(column + "?.innerText.includes('Gates')")
	left := evaluate[float64](b, column+".getBoundingClientRect().left")
	if evaluate[bool](b, fmt.Sprintf("!!document.querySelector(%q)", byID("approve"))) {
		t.Error("a change can be approved before its diff is there")
	}
	b.releaseRequests()
	b.see("decide", "a3")
	if now := evaluate[float64](b, column+".getBoundingClientRect().left"); now != left {
		t.Errorf("the diff moved the column of the buttons from %v to %v pixels from the left", left, now)
	}

	// A finding at its line; a comment on another line goes back to the worker.
	b.click("nav-inbox")
	b.see("question-a3", "")
	b.do("look at the diff", chromedp.Click(chromedp.CSS(byID("question-a3")+" a.button")))
	b.see("page-review", "t2-01")
	b.see("finding", "the word is in upper case")
	b.until(fmt.Sprintf("document.querySelector(%q).previousElementSibling.innerText.includes('echo Goodbye')",
		byID("finding")))
	b.click("show-finding")
	commentByKeys(b)
	b.enter(byID("decide")+" textarea", "lower case, please")
	b.click("request-changes")
	b.gone("decide")
	b.noErrors("after the changes were requested")

	// A word to the worker at work, a pause, and the end of the pause.
	select {
	case <-again.reached:
	case <-time.After(patience):
		t.Fatalf("no worker is at work:\n%s", b.text())
	}
	checkBriefHolds(t, h, "t2-01.2", "lower case, please", "farewell.sh:1: say which shell")
	b.open(base + "r/t2-01.2")
	b.click("tell")
	b.confirm("textarea", "keep it short")
	b.see("run-head", "keep it short")
	b.open(base + "t/t2")
	b.click("pause")
	b.confirm("", "")
	b.see("task-head", "paused")
	again.release()
	b.click("pause")
	b.until(fmt.Sprintf("!document.querySelector(%q).innerText.includes('paused')", byID("task-head")))

	// The office stops and goes on, and the change is approved.
	b.click("nav-inbox")
	b.see("question-a4", "")
	b.click("stop-office")
	b.confirm("input", "stop")
	b.see("office-state", "STOPPED")
	b.click("resume-office")
	b.see("office-state", "idle")
	b.open(base + "review/t2-01")
	b.see("decide", "a4")
	b.click("approve")
	// another page would cut the request
	b.until(fmt.Sprintf("!document.querySelector(%q)?.innerText.includes('a4')", byID("decide")))
	for _, task := range []string{"t1", "t2"} {
		b.open(base + "t/" + task)
		b.see("task-head", " open")
		if s := taskStatus(h, task); s != "completed" {
			t.Errorf("%s is %s in the ledger", task, s)
		}
	}
	giveUpTogether(t, h, b, "t3", "t4")

	// The forge is asked, and a pull request is closed without a merge.
	b.open(base + "prs")
	b.click("sync")
	b.see("notices", "nothing new of 2 open pull requests")
	number := "1"
	if pulls := h.MustRun(patience, "pr", "list").Stdout; strings.Contains(pulls, "#2  open    t1") {
		number = "2"
	}
	b.click("close-" + number)
	b.confirm("input", "not now")
	b.see("pr-"+number, "closed")
	b.gone("close-" + number)
	runAndExpect(t, h, []string{"#" + number + "  closed  t1"}, "pr", "list")
	b.noErrors("at the end")
	told := 0
	for _, r := range h.Model.Requests() {
		if r.Header.Run == "t2-01.2" && strings.Contains(string(r.Body), "keep it short") {
			told++
		}
	}
	if told == 0 {
		t.Error("the worker was not told")
	}
	if got := h.Git(h.Origin, "show", integrationBranch(h, 2)+":farewell.sh"); !strings.Contains(got, "echo goodbye") {
		t.Errorf("merged: %q", got)
	}
	mainUnmoved(t, h)
}
