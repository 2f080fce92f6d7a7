package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"company/internal/adapters/scripted"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
)

// TestTaskAfterAnother: a task that was submitted after another waits at no cost until the pull
// request of that is merged, also over kill -9, and then begins by itself, on what was merged.
func TestTaskAfterAnother(t *testing.T) {
	t.Parallel()
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	one := triplesInShell()
	nine := "sh triple.sh $(sh triple.sh $1)\n" // needs what the first task made
	brain := &staff{
		manager: func(x scripted.Exchange) scripted.Reply {
			if x.Header.Run.Task() == "t1" {
				return one.manager(x)
			}
			return submitPlan(
				[]m{ticket("Add nine times", "Add nine.sh, which uses triple.sh twice, with a check.", "nine.sh",
					"checks/nine.sh")})(x)
		},
		worker: func(x scripted.Exchange) scripted.Reply {
			if x.Header.Run.Task() == "t1" {
				return one.worker(x)
			}
			return writeFilesAndFinish("Add nine times", "nine.sh", nine, "checks/nine.sh", "test \"$(sh nine.sh 2)\" = 18\n")(x)
		},
	}
	h := openTinyProject(t, brain)
	waitForSummary(t, h.Start("submit", "add a function that triples"), 0)
	checkDelivered(t, h, 1, 1, 1)
	started := h.Git(h.Repo, "rev-parse", "main")

	p := h.Start("submit", "--after", "t1", "and one that multiplies by nine")
	p.Until(patience, "the submission", func(it feed.Item) bool { return it.Kind == "task.submitted" && it.Task == "t2" })
	runAndExpect(t, h, []string{"t2    waits for t1 "}, "status")
	p.Kill()
	runAndExpect(t, h, []string{"t2 is resting: it waits for t1, and no company is running: company resume t2"}, "status")
	runAndExpect(t, h, []string{"waits for: t1 (#1 is to be merged); it starts when all are merged"}, "show", "t2")
	var list struct {
		Tasks []struct {
			ID       string
			Status   string
			WaitsFor []struct{ Task string } `json:"waits_for"`
			Tokens   int
		}
	}
	h.JSON(&list, "list", "--state", "waiting")
	if len(list.Tasks) != 1 || list.Tasks[0].ID != "t2" || list.Tasks[0].Status != "waiting" ||
		list.Tasks[0].Tokens != 0 || len(list.Tasks[0].WaitsFor) != 1 || list.Tasks[0].WaitsFor[0].Task != "t1" {
		t.Errorf("the tasks that wait: %+v", list)
	}

	// A colleague merges at the remote, and the checkout is not pulled.
	p = h.Start("resume", "t2")
	p.Until(patience, "the company", func(it feed.Item) bool { return it.Kind == "office.started" })
	side := filepath.Join(h.Dir, "colleague")
	h.Git(h.Dir, "clone", "-q", h.Origin, side)
	h.Git(side, "merge", "-q", "--no-ff", "-m", "take it", "origin/"+integrationBranch(h, 1))
	h.Git(side, "push", "-q", "origin", "main")
	runAndExpect(t, h, []string{"#1 is merged"}, "pr", "merge", "1")
	sum := waitForSummary(t, p, 0)
	if sum.Task != "t2" || sum.Result != "COMPLETE" || sum.PR == nil || *sum.PR != 2 {
		t.Fatalf("summary: %+v", sum)
	}
	branch := integrationBranch(h, 2)
	if got := h.Git(h.Origin, "merge-base", "main", branch); got != h.Git(side, "rev-parse", "main") {
		t.Errorf("it began at %s, and %s was merged", got, h.Git(side, "rev-parse", "main"))
	}
	for _, file := range []string{"triple.sh", "nine.sh"} {
		h.Git(h.Origin, "cat-file", "-e", branch+":"+file)
	}
	if h.Git(h.Repo, "rev-parse", "main") != started {
		t.Error("the checkout was changed")
	}
	if text := h.MustRun(patience, "feed", "t2").Stdout; !strings.Contains(text, "it starts when t1 is merged") {
		t.Errorf("the feed:\n%s", text)
	}
}

// TestBrowserSubmitsAfter: on the page a task is submitted after another one, shows what it waits
// for, and asks when that is cancelled. A file goes with it, and one that was removed does not.
func TestBrowserSubmitsAfter(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := openTinyProject(t, triplesInShell())
	link, l := serveForBrowser(t, h)
	b := openTab(startBrowser(t), t)
	b.open(link)
	b.see("page-overview", "")
	b.submitTask(`{instruction: "triple it", budget_tokens: "1k"}`)
	waitFor(t, func() bool { return taskStatus(h, "t1") == "awaiting_input" },
		func() string { return "t1 is " + taskStatus(h, "t1") })
	b.open("http://" + l.listener.Addr().String() + "/t/t1")
	b.see("task-head", "triple it")
	b.click("task-after")
	b.until(fmt.Sprintf("document.querySelector(%q)?.value === 't1'", byID("after")))
	b.enter(byID("instruction"), "and nine times")
	b.attachFiles("input", m{"left.txt": "left out", "film.mp4": "\x00\x00"})
	b.see("attached", "left.txt")
	b.see("page-submit", "film.mp4 is not attached")
	evaluate[bool](b, axe+";true")
	if bad := evaluate[string](b,
		`axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v => [v.id, v.impact, v.nodes.map(n => n.html)])))`); bad != "[]" {
		t.Errorf("axe on the form with files: %s", bad)
	}
	b.do("remove it by the keyboard", chromedp.SendKeys(chromedp.CSS(`[aria-label="Remove left.txt"]`), "\r"))
	b.gone("attached")
	b.attachFiles("drop", m{"nine.md": "Nine is three times three, überall."})
	b.see("attached", "nine.md")
	b.attachFiles("drop", m{"<img src=x onerror=pwned=1>.svg": "<svg xmlns='http://www.w3.org/2000/svg' " +
		"onload='pwned=2'/>", "shot.png": tinyPNG})
	b.see("attached", "shot.png")
	b.click("submit")
	b.see("task-head", "waits for t1")
	b.see("task-files", "nine.md (text, 36 bytes)")
	checkTaskImages(b)
	if text := h.MustRun(patience, "show", "t2").Stdout; !strings.Contains(text, "with nine.md: text, 36 bytes") ||
		strings.Contains(text, "left.txt") {
		t.Errorf("the files of t2:\n%s", text)
	}
	b.see("waits-for", "It begins when these are merged: t1 (needs you)")
	h.MustRun(patience, "cancel", "t1")
	b.click("nav-inbox")
	b.see("question-a2", "t2 waits for t1, which was cancelled. Begin t2 without it?")
	b.click("wait-a2")
	b.gone("question-a2")
	b.open("http://" + l.listener.Addr().String() + "/t/t2")
	b.see("waits-for", "t1 (cancelled)")
	if got := taskStatus(h, "t2"); got != "waiting" {
		t.Errorf("t2 is %s", got)
	}
	b.noErrors("at the end")
}

// tinyPNG is an image of 3 by 2 pixels, for attachFiles.
const tinyPNG = "base64:iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4r6AAQQxwFgBQEgd7WfIEYAAAAABJRU5ErkJggg=="

// checkTaskImages: the images that came with an instruction are drawn on its task's page, and no
// other file is; a key makes one large.
func checkTaskImages(b *tab) {
	b.t.Helper()
	b.until("document.querySelector('[data-testid=task-images] img')?.naturalWidth === 3")
	if n := evaluate[int](b, "document.querySelectorAll('main img').length"); n != 1 {
		b.t.Errorf("%d images are drawn, want the one that is attached", n)
	}
	if evaluate[bool](b, "'pwned' in window") {
		b.t.Error("an attached file has run")
	}
	b.do("make it large by the keyboard", chromedp.SendKeys(chromedp.CSS("[data-testid=task-images] button"), "\r"))
	b.until("document.querySelector('[data-testid=task-images] button[aria-pressed=true] img.large')")
	evaluate[bool](b, axe+";true")
	if bad := evaluate[string](b,
		`axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v => [v.id, v.impact, v.nodes.map(n => n.html)])))`); bad != "[]" {
		b.t.Errorf("axe on a task with an image: %s", bad)
	}
}

// attachFiles gives the form of a submission files by their contents, as text or behind base64:,
// to its input, or dropped.
func (b *tab) attachFiles(how string, files m) {
	b.t.Helper()
	text, err := json.Marshal(files)
	if err != nil {
		b.t.Fatal(err)
	}
	evaluate[bool](b, fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		for (const [name, text] of Object.entries(%s)) {
			const base64 = text.startsWith("base64:iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4r6AAQQxwFgBQEgd7WfIEYAAAAABJRU5ErkJggg==") && atob(text.slice(7));
			data.items.add(new File([base64 ? Uint8Array.from(base64, c => c.charCodeAt(0)) : text], name));
		}
		if (%q === "drop") {
			const area = document.querySelector(%q);
			for (const kind of ["dragover", "drop"]) area.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: data}));
			return true;
		}
		const input = document.querySelector(%q);
		input.files = data.files;
		return input.dispatchEvent(new Event("change", {bubbles: true}));
	})()`, text, how, byID("drop-files"), byID("attach")))
}
