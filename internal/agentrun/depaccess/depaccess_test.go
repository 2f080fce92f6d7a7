package depaccess

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
	"company/internal/gitops"
	"company/internal/lib/hosttest"
	"company/internal/lib/safedir/foldertest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// bench is a run at work on a repository whose lock file names "locked", with a
// registry that knows a few packages.
type bench struct {
	t       *testing.T
	decider *decidertest.Decider
	office  *Service
	order   Order
	mirror  *gitops.Mirror
	dir     string

	mu    sync.Mutex
	asked []string
}

func newBench(t *testing.T, deps company.Mode) *bench {
	t.Helper()
	b := &bench{t: t, decider: decidertest.New(t), dir: t.TempDir()}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.asked = append(b.asked, r.URL.Path)
		b.mu.Unlock()
		name := strings.TrimPrefix(r.URL.Path, "/")
		if !strings.HasPrefix(name, "p") && name != "locked" {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(name, ".tgz") {
			_, _ = w.Write([]byte("a tarball"))
			return
		}
		_, _ = fmt.Fprintf(
			w, `{"name":%q,"dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":%q,"version":"1.0.0","dist":{"shasum":"846530ea61600296d244c44b156680e0c67403ef","tarball":"http://%s/p.tgz"}}}}`, name, name, r.Host)
	}))
	t.Cleanup(srv.Close)
	store, err := depproxy.Open(filepath.Join(b.dir, "cache"),
		depproxy.Upstreams{
			Registries: map[string]ecosystem.Upstream{ecosystem.NPM: ecosystem.At(ecosystem.Endpoint{URL: srv.URL})}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	repo := filepath.Join(b.dir, "repo")
	for name, text := range map[string]string{
		"package-lock.json":                `{"packages":{"node_modules/locked":{"version":"1.0.0"}}}`,
		"node_modules/x/package-lock.json": `{"packages":{"node_modules/copied":{"version":"1.0.0"}}}`,
	} {
		p := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.git("init", "-q", "-b", "main")
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "x")
	git, err := gitops.Open(gitops.Config{Root: filepath.Join(b.dir, "git")})
	if err != nil {
		t.Fatal(err)
	}
	if b.mirror, err = git.Mirror(t.Context(), "project", repo); err != nil {
		t.Fatal(err)
	}
	info, err := b.mirror.FetchBase(t.Context(), nil, gitops.Source{}, "")
	if err != nil {
		t.Fatal(err)
	}
	id := b.decider.Must(
		company.Submit{Instruction: "x", Project: company.Project{ID: "project", Path: repo},
			Settings: company.Settings{Deps: deps}})[0].Task
	b.decider.Prepare(id, info.OID, company.GateCommand{Name: "test", Command: "true"})
	b.decider.Plan(id, company.Plan{Why: "one", Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{{
		Title: "x", Description: "x", AcceptanceCriteria: []string{"y"}, WriteSet: []string{"a/**"}, Effort: "small"}}}}})
	run := company.NewRunID(id, company.NewSubtaskID(id, 1), company.Worker, 1)
	b.decider.Must(company.Offer{Run: run})
	fence := b.decider.Claim(run, "")
	b.office, err = New(Config{
		Stores: depproxy.NewSingleStore(store), Coordinator: company.CoordinatorOf(b.decider),
		Runs:   foldertest.Open(t, filepath.Join(b.dir, "runs")),
		Logger: slog.New(slog.DiscardHandler), AnswerTimeout: 5 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.order = Order{Task: b.decider.Task(id), Run: run, Fence: fence, Mirror: b.mirror, Base: "http://127.0.0.1:1"}
	return b
}

func (b *bench) git(args ...string) {
	b.t.Helper()
	cmd := exec.Command(
		"git", append([]string{"-C", filepath.Join(b.dir, "repo"), "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
	if args[0] == "init" {
		cmd = exec.Command("git", append(args, filepath.Join(b.dir, "repo"))...)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (b *bench) open() *Run {
	b.t.Helper()
	r, err := b.office.Open(b.t.Context(), b.order)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { r.Close(context.Background()) })
	return r
}

func (b *bench) requests() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.asked)
}

// requireAnswer adds a package and looks at what the agent is told.
func requireAnswer(t *testing.T, r *Run, name, version string, refused bool, words string) {
	t.Helper()
	a, err := r.Add(t.Context(), company.Dependency{Ecosystem: "npm", Name: name, Version: version})
	if err != nil || a.Refused != refused || !strings.Contains(a.Text, words) {
		t.Errorf("%s: refused %v: %s %v; want %q", name, a.Refused, a.Text, err, words)
	}
}

func get(t *testing.T, r *Run, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler(func(string) {}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8377"+path, nil))
	return w.Code, w.Body.String()
}

// T24: what leaves this host is what the lock file names and what the ledger
// has; a name that breaks the grammar, or comes after the fifth, asks nobody.
func TestAddDependency(t *testing.T) {
	b := newBench(t, company.Auto)
	r := b.open()
	if code, _ := get(t, r, "/npm/locked"); code != http.StatusOK {
		t.Errorf("what is locked: %d", code)
	}
	before := b.requests()
	for _, name := range []string{"p1", "copied", "secret-data"} {
		if code, text := get(t, r, "/npm/"+name); code != http.StatusForbidden || !strings.Contains(text, "add_dependency") {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	requireAnswer(t, r, "../x", "", true, "not the name of an npm package")
	requireAnswer(t, r, "p1", "latest", true, "not an exact version")
	if a, err := r.Add(t.Context(), company.Dependency{Ecosystem: "pypi", Name: "six"}); err != nil || !a.Refused {
		t.Errorf("an ecosystem without a registry: %+v %v", a, err)
	}
	if n := b.requests(); n != before {
		t.Errorf("%d requests went out", n-before)
	}
	requireAnswer(t, r, "unknown", "", true, "does not know")
	requireAnswer(t, r, "p1", "9.9.9", true, "the newest version is 1.0.0")
	requireAnswer(t, r, "p1", "", false, "npm install p1@1.0.0")
	requireAnswer(t, r, "p1", "1.0.0", false, "npm install p1@1.0.0")
	if code, _ := get(t, r, "/npm/p1"); code != http.StatusOK {
		t.Errorf("what was added: %d", code)
	}
	for i := 2; i <= company.MaxDependencies; i++ {
		requireAnswer(t, r, fmt.Sprint("p", i), "", false, "may be fetched now")
	}
	before = b.requests()
	requireAnswer(t, r, "p6", "", true, "which is the limit")
	if n := b.requests(); n != before {
		t.Error("the sixth name went out")
	}
	if got := b.decider.Task(b.order.Task.ID).Dependencies; len(got) != company.MaxDependencies ||
		got[0].String() != "npm p1@1.0.0" {
		t.Errorf("in the ledger: %v", got)
	}
	if got := b.decider.Task(b.order.Task.ID).LookedUp; len(got) != company.MaxDependencies+1 || got[0].Name != "unknown" {
		t.Errorf("names that went out: %v", got)
	}
	text, err := os.ReadFile(filepath.Join(b.dir, "runs", string(b.order.Run), "fetched.log"))
	if err != nil || !strings.Contains(string(text), "added npm p1@1.0.0") ||
		!strings.Contains(string(text), "refused npm secret-data") {
		t.Errorf("the record: %v\n%s", err, text)
	}
	// What was fetched is in the run's journal, once.
	var journal []Fetched
	r.order.Record = func(_ context.Context, kind string, data any) (int, error) {
		if kind != "fetched" {
			t.Errorf("a record %q", kind)
		}
		journal = append(journal, data.([]Fetched)...)
		return 1, nil
	}
	if code, text := get(t, r, "/npm/p1/-/p1-1.0.0.tgz"); code != http.StatusOK {
		t.Errorf("the file: %d %s", code, text)
	}
	r.Close(t.Context())
	r.Close(t.Context())
	if len(journal) != 1 || journal[0].String() != "npm p1@1.0.0" || journal[0].Bytes != 9 {
		t.Errorf("the journal's record: %+v", journal)
	}
	// The next run of the task has it from the start.
	b.order.Task = b.decider.Task(b.order.Task.ID)
	if code, _ := get(t, b.open(), "/npm/p3"); code != http.StatusOK {
		t.Errorf("in the next run: %d", code)
	}
}

// The president is asked before the name goes out, the run waits on nobody's
// time, and each answer is one that the agent can go on with.
func TestPresidentIsAsked(t *testing.T) {
	b := newBench(t, company.Ask)
	waits := 0
	b.order.Waits = func(wait func()) { waits++; wait() }
	r := b.open()
	answer := func(option, text string) {
		t.Helper()
		go func() {
			hosttest.WaitUntil(func() (any, bool) {
				for _, a := range b.decider.View().OpenApprovals("") {
					_, _ = b.decider.Do(t.Context(), company.President,
						company.Answer{Approval: a.ID, Option: option, Text: text})
					return nil, true
				}
				return nil, false
			})
		}()
	}
	answer(company.OptReject, "use the standard library")
	requireAnswer(t, r, "p1", "", true, "use the standard library")
	if n := b.requests(); n != 0 || waits != 1 {
		t.Errorf("%d requests before leave was given, %d waits", n, waits)
	}
	requireAnswer(t, r, "p1", "", true, "refuses")
	answer(company.OptApprove, "")
	requireAnswer(t, r, "p2", "", false, "npm install p2@1.0.0")

	b.office.AnswerTimeout = 50 * time.Millisecond
	requireAnswer(t, r, "p3", "", true, "has not answered yet (question a3)")
	b.decider.Must(company.Answer{Approval: "a3", Option: company.OptApprove})
	requireAnswer(t, r, "p3", "", false, "npm install p3@1.0.0")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Add(ctx, company.Dependency{Ecosystem: "npm", Name: "p4"}); err == nil {
		t.Error("a run that was cut off goes on")
	}
	// Who has lost the run adds nothing.
	b.order.Fence--
	if _, err := b.open().Add(t.Context(), company.Dependency{Ecosystem: "npm", Name: "p5"}); company.CodeOf(
		err) != company.EStale {
		t.Errorf("an old fence: %v", err)
	}
}

// container.deps: off.
func TestOff(t *testing.T) {
	var o *Service
	r, err := o.Open(t.Context(), Order{})
	if err != nil || r.Handler(nil) != nil || r.Environment() != nil || r.Prepared() != "" {
		t.Errorf("%+v %v", r, err)
	}
	requireAnswer(t, r, "p1", "", true, "container.deps: off")
	r.Close(t.Context())
}

func TestChanged(t *testing.T) {
	b := newBench(t, company.Auto)
	base := b.order.Task.Prepared.Base.OID
	change := func(name, text string) company.OID {
		t.Helper()
		if err := os.WriteFile(filepath.Join(b.dir, "repo", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		b.git("add", "-A")
		b.git("commit", "-q", "-m", name)
		info, err := b.mirror.FetchBase(t.Context(), nil, gitops.Source{Path: filepath.Join(b.dir, "repo")}, "")
		if err != nil {
			t.Fatal(err)
		}
		return info.OID
	}
	for _, c := range []struct {
		name, text string
		want       bool
	}{{"README", "x", false}, {"node_modules/x/package-lock.json", "{}", false},
		{"requirements.txt", "six==1.16.0\n", true}} {
		at := change(c.name, c.text)
		if got, err := Changed(t.Context(), b.mirror, base, at); err != nil || got != c.want {
			t.Errorf("%s: %v %v", c.name, got, err)
		}
	}
}
