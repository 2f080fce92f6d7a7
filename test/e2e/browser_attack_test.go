package e2e

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// hostile is text that a model, a stranger or a repository may write.
const hostile = "<img src=x onerror=pwned=1> </script><script>pwned=2</script> [x](javascript:pwned=3) <a " +
	"href=javascript:pwned=4>a</a> \u202egnp.exe\u202c \x1b[31mred\x1b[0m end"

// hostileTyped is the part of it that a keyboard has.
const hostileTyped = "Add <img src=x onerror=pwned=1> </script><script>pwned=2</script> javascript:pwned=3"

// hostileName is a file's name that is markup.
const hostileName = "<img src=x onerror=pwned=5>.sh"

//go:embed testdata/axe/axe-4.14.1.min.js
var axe string

// pagesOf lists the pages of an office with a finished task.
var pagesOf = []struct{ path, id, shows string }{
	{"", "page-overview", "t1"}, {"inbox", "waiting-prs", "#1"}, {"submit", "page-submit", "What shall be done"},
	{"prs", "page-prs", "#1"},
	{"prs?pr=t1", "pr-text", "How it was checked"},
	{"costs", "page-costs", "tokens"}, {"doctor", "page-doctor", "docker"}, {"settings", "page-settings", "serve.listen"},
	{"t/t1", "page-task", "t1-01"}, {"t/t1?tab=time", "page-task", "t1-01.1"}, {"t/t1?tab=feed", "page-task", "t1"},
	{"t/t1?tab=gates", "page-task", "gates passed"},
	{"r/t1-01.1", "page-run", "odd.txt"}, {"review/t1", "page-review", "odd.txt"},
	{"t/t3/review", "page-unknown", "There is no page"},
}

// evaluate gives the value of an expression in the page.
func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// checkHostileText: markup of strangers stays text on every page, and what turns text round
// is shown by its number.
func checkHostileText(b *tab, base string) {
	b.t.Helper()
	for _, p := range pagesOf {
		b.open(base + p.path)
		b.see(p.id, p.shows)
		if evaluate[bool](b, "'pwned' in window || [...document.querySelectorAll('a')].some(a => a.protocol === "+
			"'javascript:') || !!document.querySelector('#root img[src=x], #root script')") {
			b.t.Errorf("%s: text of a stranger became markup", p.path)
		}
		if evaluate[bool](b, `/[\u202a-\u202e\u001b]/.test(document.body.innerText)`) {
			b.t.Errorf("%s: a character that turns text round is there", p.path)
		}
	}
	for path, text := range map[string]string{"r/t1-01.1": "<U+202E>", "review/t1": "<U+202E>",
		"t/t1": "</script><script>", "prs?pr=t1": "</script><script>"} {
		b.open(base + path)
		// Folded parts are opened: hidden text is not part of innerText.
		b.until(fmt.Sprintf("(document.querySelectorAll('.markdown details').forEach((d) => (d.open = true)), true) && "+
			"document.body.innerText.includes(%q) && document.body.innerText.includes('<img src=x onerror=pwned')", text))
	}
	b.noErrors("with hostile text")
}

// checkAccessible: axe finds nothing serious on any page, in light and in dark.
func checkAccessible(b *tab, base string) {
	b.t.Helper()
	for _, p := range pagesOf {
		b.open(base + p.path)
		b.see(p.id, p.shows)
		if n := evaluate[int](b, "document.querySelectorAll('h1').length"); n != 1 {
			b.t.Errorf("/%s has %d headings of the first level", p.path, n)
		}
		evaluate[bool](b, axe+";true")
		for _, theme := range []string{"light", "dark"} {
			found := evaluate[[]string](b, fmt.Sprintf(`(async () => {
				document.documentElement.dataset.theme = %q;
				await Promise.allSettled(document.getAnimations().map(a => a.finished));
				const r = await axe.run(document, {resultTypes: ["violations"]});
				return r.violations.filter(v => v.impact === "serious" || v.impact === "critical")
					.map(v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).join(" | "));
			})()`, theme))
			if len(found) > 0 {
				b.t.Errorf("/%s in %s:\n%s", p.path, theme, strings.Join(found, "\n"))
			}
		}
	}
	b.noErrors("under axe")
}

// strangePage tries to use an office from another origin.
const strangePage = `<!doctype html><title>strange</title><body><iframe name=form></iframe><iframe id=office src="BASE"></iframe><script>
(async () => {
	const r = {};
	const attempt = async (name, f) => { try { r[name] = await f(); } catch (e) { r[name] = "refused"; } };
	const command = JSON.stringify({kind: "stop", command: {Why: "strange"}});
	await attempt("read", async () => (await fetch("BASEapi/v1/overview")).status + "");
	await attempt("send", async () => (await fetch("BASEapi/v1/commands", {method: "POST", headers: {"Content-Type": "application/json", Authorization: "Bearer x"}, body: command})).status + "");
	await attempt("simple", async () => (await fetch("BASEapi/v1/commands", {method: "POST", mode: "no-cors", credentials: "include", body: command})).type);
	await attempt("submit", async () => (await fetch("BASEapi/v1/submissions", {method: "POST", mode: "no-cors", body: JSON.stringify({instruction: "strange"})})).type);
	await attempt("stream", () => new Promise((yes, no) => { const s = new EventSource("BASEapi/v1/events"); s.onopen = () => yes("open"); s.onerror = () => { s.close(); no(); }; }));
	const f = document.createElement("form");
	Object.assign(f, {method: "POST", action: "BASEapi/v1/submissions", enctype: "text/plain", target: "form"});
	f.append(Object.assign(document.createElement("input"), {name: '{"instruction":"strange","x":"', value: '"}'}));
	document.body.append(f);
	await attempt("form", () => new Promise(yes => { document.querySelector("[name=form]").onload = () => yes("answered"); f.submit(); }));
	window.result = JSON.stringify(r);
})();
</script>`

// checkStrangePage: a page of another origin reads nothing, frames nothing, and leaves the
// ledger as it is.
func checkStrangePage(browser context.Context, t *testing.T, b *tab, base string) {
	t.Helper()
	const newest = `fetch("/api/v1/work", {headers: {Authorization: "Bearer " + sessionStorage.getItem("company.token")}}).then(r => r.json()).then(w => w.seq)`
	b.open(base)
	b.see("page-overview", "t1")
	before := evaluate[int](b, newest)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, strings.ReplaceAll(strangePage, "BASE", base))
	}))
	defer srv.Close()
	s := openTab(browser, t)
	s.open(srv.URL)
	s.until("window.result")
	var r map[string]string
	if err := json.Unmarshal([]byte(evaluate[string](s, "window.result")), &r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"read", "send", "stream"} {
		if r[name] != "refused" {
			t.Errorf("another origin may %s: %q", name, r[name])
		}
	}
	said := strings.Join(s.takeErrors(), "\n")
	if !strings.Contains(said, "frame-ancestors") && !strings.Contains(said, "X-Frame-Options") {
		t.Errorf("another origin may frame the page; the browser says:\n%s", said)
	}
	if before == 0 || evaluate[int](b, newest) != before {
		t.Errorf("another origin has an effect on the ledger: it had %d events, results %v", before, r)
	}
}
