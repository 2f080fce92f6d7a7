package demo

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/demo/check"
	"company/test/demo/director"
	"company/test/goroutines"
	"company/test/testenv"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// play runs a demo to its end and returns what its checks say. watch and then,
// when not nil, are the demo's own.
func play(t *testing.T, seed uint64, brain scripted.Responder, watch func(string), then func(Outcome)) Outcome {
	t.Helper()
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour) // for a busy machine, no measure
	defer cancel()
	var feed, said bytes.Buffer
	out, err := Run(ctx, Options{
		Seed: seed, Root: root, Company: testenv.Binary(t), Dir: filepath.Join(t.TempDir(), "demo"), Out: &said, Feed: &feed,
		Brain: brain, Watch: watch, Then: then,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, feed.String())
	}
	t.Logf("company took %s, all of it %s\n%s", out.Ran, out.Took, said.String())
	if t.Failed() {
		t.Log(feed.String())
	}
	return out
}

// failed names the checks that did not pass.
func failed(results []check.Result) []string {
	var out []string
	for _, r := range results {
		if r.Err != nil {
			out = append(out, r.Name)
		}
	}
	return out
}

// TestDemo runs the demo once, served, as make demo WATCH=1 does; every check passes, and
// each of them notices when the world is made different from what it should be (TST-2).
// TestMutatedRunFails has demos that are not served.
func TestDemo(t *testing.T) {
	hosttest.NeedsDocker(t)
	w := &watcher{t: t}
	out := play(t, 11, nil, func(link string) { w.first = link }, func(o Outcome) {
		w.checkWatched(o)
		tamper(t, o.Place)
	})
	w.checkEnded(out)
	for _, r := range out.Result {
		if r.Err != nil {
			t.Error(r)
		}
	}
	if len(out.Result) != 8 {
		t.Errorf("%d checks ran, not 8", len(out.Result))
	}
	next := out.Next("bin/company")
	page := regexp.MustCompile(`(?m)page: (\S+)$`).FindStringSubmatch(next)
	if page == nil {
		t.Fatalf("no page in %s", next)
	}
	if text, err := os.ReadFile(page[1]); err != nil || !strings.Contains(string(text), "Reservations") {
		t.Errorf("the page that the demo names: %v\n%s", err, text)
	}
}

// tamper changes one thing at a time, asks for the check that is about it, and
// takes the change back.
func tamper(t *testing.T, p check.Place) {
	ctx := context.Background()
	git := func(args ...string) string {
		t.Helper()
		out, err := output(exec.Command("git", append([]string{"-C", p.Origin}, args...)...))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	ref := git("for-each-ref", "--format=%(refname)", "refs/heads/develop-*")
	head := git("rev-parse", ref)
	fails := func(why string, names ...string) {
		t.Helper()
		got := check.Run(ctx, p, nil, names...)
		if len(got) != len(names) {
			t.Fatalf("%d checks ran, not %d", len(got), len(names))
		}
		for _, r := range got {
			if r.Err == nil {
				t.Errorf("%s: the check %q passes: %s", why, r.Name, r.Seen)
			} else {
				t.Logf("%s: %s", why, r)
			}
		}
	}

	git("update-ref", "refs/heads/main", head)
	fails("main was moved", check.Unmoved)
	git("update-ref", "refs/heads/main", p.Main)

	if err := os.WriteFile(filepath.Join(p.Repo, "stray.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	fails("the checkout was written to", check.Unmoved)
	if err := os.Remove(filepath.Join(p.Repo, "stray.txt")); err != nil {
		t.Fatal(err)
	}

	// The first commit of the discounts, whose test fails, is part of what was
	// pushed.
	broken := git("log", "--format=%H", "--grep=Give volume discounts", ref)
	git("update-ref", ref, broken)
	fails("another commit was pushed", check.Tested, check.Passes, check.Conflict, check.Reviewed)
	git("update-ref", ref, head)

	office := ref[strings.LastIndex(ref, "-")+1:]
	image, err := output(exec.Command("docker", "inspect", "--format", "{{.Image}}", p.Bystander))
	if err != nil {
		t.Fatal(err)
	}
	left, err := output(exec.Command("docker", "create", "--label", "company.office="+office, image))
	if err != nil {
		t.Fatal(err)
	}
	fails("a container of the office was left", check.Containers)
	if _, err := output(exec.Command("docker", "rm", left)); err != nil {
		t.Fatal(err)
	}
	if _, err := output(exec.Command("docker", "stop", "-t", "0", p.Bystander)); err != nil {
		t.Fatal(err)
	}
	fails("the foreign container was stopped", check.Containers)

	events := filepath.Join(p.Dir, check.EventsFile)
	text, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	without := func(what string) {
		var kept []byte
		for line := range bytes.Lines(text) {
			if !bytes.Contains(line, []byte(what)) {
				kept = append(kept, line...)
			}
		}
		if err := os.WriteFile(events, kept, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	without(`"company.run":"t1-03.1"`)
	fails("the third worker was not there", check.Parallel)
	without(`"company.run":"t1-01"`)
	fails("there was no red gate", check.Gate)
	if err := os.WriteFile(events, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// mutant is a brain that differs from the director in one place.
type mutant struct {
	hit    chan struct{} // told when the place is reached
	change func(x scripted.Exchange) (scripted.Reply, bool)
}

func (m mutant) Reply(x scripted.Exchange) scripted.Reply {
	if r, ok := m.change(x); ok {
		select {
		case m.hit <- struct{}{}:
		default:
		}
		return r
	}
	return director.Brain.Reply(x)
}

// calls says whether the director's reply calls the tool on the file.
func calls(r scripted.Reply, tool, path string) bool {
	return slices.ContainsFunc(r.Calls, func(c scripted.Call) bool {
		args, _ := c.Args.(director.Args)
		return c.Tool == tool && args["path"] == path
	})
}

func edit(path, old, new string) scripted.Reply {
	return scripted.Reply{Calls: []scripted.Call{
		{Tool: "read_file", Args: map[string]any{"path": path}},
		{Tool: "edit_file", Args: map[string]any{"path": path, "old": old, "new": new}},
	}}
}

// TestMutatedRunFails changes one thing in what goes between the company and
// its model, each something that company itself lets pass, and the run fails
// at the check that is about it, and at no other.
func TestMutatedRunFails(t *testing.T) {
	hosttest.Long(t, "a whole demo for each check")
	hosttest.NeedsDocker(t)
	n := NamesOf(12)
	for _, tc := range []struct {
		name   string
		change func(x scripted.Exchange) (scripted.Reply, bool)
		check  string
	}{
		{"the merger sees one side of a test", func(x scripted.Exchange) (scripted.Reply, bool) {
			if x.Header.Role != company.Merger || x.Turn != 1 {
				return scripted.Reply{}, false
			}
			x.Messages = slices.Clone(x.Messages)
			for i, m := range x.Messages {
				if m.Role == adapters.ToolRole && strings.Contains(m.Content, "TestCommands") {
					x.Messages[i].Content = regexp.MustCompile(`(?s)\n=======\n.*\n(>>>>>>> )`).ReplaceAllString(
						m.Content, "\n=======\n$1")
					return director.Brain.Reply(x), true
				}
			}
			return scripted.Reply{}, false
		}, check.Conflict},
		{"the finding is talked away", func(x scripted.Exchange) (scripted.Reply, bool) {
			r := director.Brain.Reply(x)
			const file = "internal/stock/reserve.go"
			if x.Header.Run != "t1-02.2" || !calls(r, "edit_file", file) {
				return r, false
			}
			line := "\t_ = l.record(Movement{Hold, sku, qty, who})"
			return edit(file, line, "\t// A journal that cannot be written is not a reason to turn a customer away.\n"+line), true
		}, check.Reviewed},
		{"the test is mended instead of the work", func(x scripted.Exchange) (scripted.Reply, bool) {
			r := director.Brain.Reply(x)
			if x.Header.Run != "t1-01.2" || !calls(r, "edit_file", "internal/pricing/volume.go") {
				return r, false
			}
			// Both edges are left out; what remains passes.
			return scripted.Reply{
				Calls: []scripted.Call{{Tool: "run_command", Args: map[string]any{"command": "sed -i -E '/^\t\t\\{(" +
					itoa(n.From[0]) + "|" + itoa(n.From[1]) + "), /d' internal/pricing/volume_test.go"}}}}, true
		}, check.Gate},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.check != check.Gate { // TestDemo has the others fail
				hosttest.Long(t, "a whole demo for one more check")
			}
			t.Parallel()
			m := mutant{hit: make(chan struct{}, 1), change: tc.change}
			out := play(t, 12, m, nil, nil)
			select {
			case <-m.hit:
			default:
				t.Error("the place of the change was never reached")
			}
			if got := failed(out.Result); !slices.Equal(got, []string{tc.check}) {
				t.Errorf("the checks that fail are %q, want %q alone", got, tc.check)
			}
		})
	}
}
