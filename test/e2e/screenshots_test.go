package e2e

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/demo"
	"company/test/demo/director"
	"company/test/safebuffer"
	"company/test/testenv"
)

// screenshots is the folder that TestScreenshots writes to; empty: one that is removed.
var screenshots = flag.String("screenshots", "", "folder for the pictures of the page (make screenshots)")

// maxPictures bounds all pictures together, in bytes: they are in the repository.
const maxPictures = 4 << 20

// picture is a page that is shown in docs/img.
type picture struct{ name, path, id, shows string }

// picturesAtWork are taken while the demo's workers are held, and two other tasks ask.
var picturesAtWork = []picture{
	{"overview", "", "page-overview", "t1-02"}, {"inbox", "inbox", "page-inbox", "a2"},
	{"submit", "submit", "page-submit", "What shall be done"},
	{"task", "t/t1?s=t1-02", "page-task", "t1-04"}, {"run", "r/t1-02.1", "entry-tool", ""},
	{"review", "review/t1-02", "finding", "is dropped"},
	{"doctor", "doctor", "page-doctor", "docker"}, {"settings", "settings", "page-settings", "serve.listen"},
}

// picturesAfterwards are taken when the demo is done.
var picturesAfterwards = []picture{
	{"pulls", "prs", "page-prs", "#1"}, {"pull", "prs?pr=t1", "pr-text", "What was asked"},
	{"costs", "costs", "page-costs", "tokens"}, {"timeline", "t/t1?tab=time", "page-task", "t1-04.1"},
}

// TestScreenshots: every page of the office that make demo WATCH=1 serves is drawn, wide and
// narrow, in light and in dark; the pictures of docs/img are made by it (UI-2).
func TestScreenshots(t *testing.T) {
	hosttest.Long(t, "a whole demo, held while pictures are taken")
	hosttest.NeedsDocker(t)
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := *screenshots
	if dir == "" {
		dir = t.TempDir()
	} else if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	held := []*stop{stopAt("t1-01.2", 1), stopAt("t1-02.2", 1)}
	for _, s := range held {
		t.Cleanup(s.release)
	}
	link, done, leave := make(chan string, 1), make(chan error, 1), make(chan struct{})
	var told safebuffer.Buffer
	// The folder that make demo SEED=7 has: pictures show its path.
	const place = "/tmp/company-demo-7"
	t.Cleanup(func() { _ = os.RemoveAll(place) })
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	finished := make(chan struct{})
	go func() {
		_, err := demo.Run(ctx, demo.Options{
			Seed: 7, Root: root, Company: testenv.Binary(t), Dir: place, Out: &told, Feed: &told, Brain: poser{held},
			Watch: func(l string) { link <- l },
			Then:  func(demo.Outcome) { close(finished); <-leave },
		})
		done <- err
	}()
	p := &photographer{t: t, dir: dir}
	p.b = openTab(startBrowser(t), t)
	select {
	case l := <-link:
		p.base, _, _ = strings.Cut(l, "#")
		p.b.open(l)
	case err := <-done:
		t.Fatalf("%v\n%s", err, told.String())
	}
	p.b.see("page-overview", "")
	for _, s := range held {
		select {
		case <-s.reached:
		case err := <-done:
			t.Fatalf("%s: %v\n%s", s.run, err, told.String())
		}
	}
	p.b.submitTask(
		`{instruction: "List what is below its reorder level on the command line", approve: ["plan"], priority: "high"}`)
	p.b.submitTask(`{instruction: "Round every price to five cents", tags: ["prices"]}`)
	p.b.see("needs-count", "2")
	for _, x := range picturesAtWork {
		p.take(x)
	}
	for _, s := range held {
		s.release()
	}
	select {
	case <-finished:
	case err := <-done:
		t.Fatalf("%v\n%s", err, told.String())
	}
	for _, x := range picturesAfterwards {
		p.take(x)
	}
	p.b.noErrors("while pictures were taken")
	close(leave) // the office ends
	if err := <-done; err != nil {
		t.Errorf("%v\n%s", err, told.String())
	}
	if p.bytes > maxPictures {
		t.Errorf("the pictures have %d bytes; %d are allowed", p.bytes, maxPictures)
	}
}

// poser is the demo's model, which holds two workers, and plays two more tasks that need the
// president.
type poser struct{ held []*stop }

// Reply answers for t1 as the director does.
func (p poser) Reply(x scripted.Exchange) scripted.Reply {
	for _, s := range p.held {
		s.pass(x)
	}
	switch {
	case x.Header.Task == "t1":
		return director.Brain.Reply(x)
	case x.Header.Role == company.Worker:
		return call("escalate", m{"reason": "Prices in pricing_test.go end in odd cents. Shall the rounded price be shown " +
			"alone, or booked as well?"})
	case x.Header.Task == "t2":
		return submitPlan([]m{
			ticket("The list of what is low", "internal/app/low.go lists items below their ReorderAt.", "internal/app/low.go"),
			ticket("Its words in the manual", "README.md names the command low.", "README.md"),
		})(x)
	case !x.Offers("submit_plan"):
		return call("give_up", m{"reason": "only the president knows how prices are booked"})
	}
	return submitPlan([]m{ticket("Round to five cents", "internal/money rounds to five cents.", "internal/money/**")})(x)
}

// photographer takes pictures of pages.
type photographer struct {
	t     *testing.T
	b     *tab
	base  string
	dir   string
	bytes int
}

// take takes the four pictures of a page: its top, and as much below as is useful.
func (p *photographer) take(x picture) {
	p.t.Helper()
	for _, size := range []struct{ width, least, most int64 }{{1440, 900, 1200}, {390, 844, 1500}} {
		p.b.do("set the size", chromedp.EmulateViewport(size.width, size.least))
		p.b.open(p.base + x.path)
		p.b.see(x.id, x.shows)
		p.b.until("!document.querySelector('.skeleton')")
		if over := evaluate[int64](p.b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			p.t.Errorf("/%s is %d px too wide for %d", x.path, over, size.width)
		}
		height := min(max(evaluate[int64](p.b, "document.documentElement.scrollHeight"), size.least), size.most)
		p.b.do("set the height", chromedp.EmulateViewport(size.width, height))
		// the review's finding is far below
		evaluate[bool](p.b, "document.querySelector('[data-testid=show-finding]')?.click(), true")
		for _, theme := range []string{"light", "dark"} {
			p.b.do("choose the theme", emulateTheme(theme))
			evaluate[bool](p.b, "new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => f(true))))")
			p.keep(fmt.Sprintf("%s-%d-%s.png", x.name, size.width, theme))
		}
	}
}

// emulateTheme sets light or dark as the system's, and has nothing move.
func emulateTheme(theme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
			}})
		return err
	})
}

// keep writes what the tab shows.
func (p *photographer) keep(name string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.b.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	shown, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, reduceColors(shown)); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, name), small.Bytes(), 0o644); err != nil {
		p.t.Fatal(err)
	}
	p.bytes += small.Len()
}

// reduceColors draws an image with its 256 most frequent colours. A page has few, and
// shades at the edges of letters: those that are left out have a near one.
func reduceColors(from image.Image) *image.Paletted {
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA {
		r, g, b, _ := from.At(x, y).RGBA()
		return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}
	}
	area := from.Bounds()
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		if n := count[b] - count[a]; n != 0 {
			return n
		}
		return (int(a.R)<<16 | int(a.G)<<8 | int(a.B)) - (int(b.R)<<16 | int(b.G)<<8 | int(b.B))
	})
	palette := make(color.Palette, 0, 256)
	for _, c := range all[:min(256, len(all))] {
		palette = append(palette, c)
	}
	near := map[color.RGBA]uint8{}
	for _, c := range all {
		near[c] = uint8(palette.Index(c))
	}
	to := image.NewPaletted(area, palette)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			to.SetColorIndex(x, y, near[at(x, y)])
		}
	}
	return to
}
