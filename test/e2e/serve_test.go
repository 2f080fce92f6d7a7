package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

// startServing starts company serve and waits until it answers.
func startServing(t testing.TB, h *testenv.House) *testenv.Process {
	t.Helper()
	p := h.Start("serve")
	p.Until(patience, "its office", func(it feed.Item) bool {
		return it.Kind == "note" && strings.Contains(it.Text, "serves the office")
	})
	return p
}

// endServing ends a company as a supervisor does.
func endServing(t testing.TB, p *testenv.Process) {
	t.Helper()
	p.Signal(syscall.SIGTERM)
	r := p.Wait(patience)
	if r.Code != 0 {
		t.Fatalf("serve ended with %d, signal %v\n%s", r.Code, r.Signal, p.Tell())
	}
}

// TestServe: a company that serves takes task after task, stays when they are
// done, closes pull requests and asks about them over its API, lets no second one in, and
// ends when it is told to. Ctrl-C at a submission that it works on ends the following
// and nothing else. It notices by itself that people merged a pull request.
func TestServe(t *testing.T) {
	t.Parallel()
	held := stopAt("t2-01.1", 1)
	h := openFarewells(t, held)
	h.Env = append(h.Env, "COMPANY_FORGE_POLL=5s")
	p := startServing(t, h)
	if sum := waitForSummary(t, h.Start("submit", "say goodbye"), 0); sum.Task != "t1" {
		t.Errorf("summary: %+v", sum)
	}
	follower := h.Start("submit", "say goodbye again")
	held.wait(t, follower)
	follower.Signal(syscall.SIGINT)
	if r := follower.Wait(patience); r.Code != 130 ||
		!strings.Contains(follower.Tell(), "the work goes on: company feed --follow t2 shows it") {
		t.Fatalf("exit %d\n%s", r.Code, follower.Tell())
	}
	held.release()
	p.Until(patience, "the end of t2", func(it feed.Item) bool { return it.Kind == "task.completed" && it.Task == "t2" })
	checkDelivered(t, h, 1, 1, 1)
	checkDelivered(t, h, 2, 2, 1)
	runAndExpect(t, h, []string{"running (pid "}, "status")
	runRefused(t, h, 1, "E_CONFLICT", "serve")
	at, token := enterByLink(t, h.MustRun(patience, "open").Stdout)
	for _, c := range [][3]string{
		{"prs/sync", `{"pull_requests":["1"]}`, `"number":1,"task":"t1","state":"open"`},
		{"prs/2/close", `{"why":"squashed"}`, `"kind":"pr.settled","data":{"state":"closed","why":"squashed"}`},
		{"prs/sync", `{}`, `{"pull_requests":[{"number":1,`},
	} {
		if status, text := callAddress(t, "POST", at+"/api/v1/"+c[0], token, c[1]); status != 200 ||
			!strings.Contains(text, c[2]) {
			t.Errorf("%s %s: %d %s", c[0], c[1], status, text)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	runAndExpect(t, h, []string{"#1  open", "#2  closed"}, "pr", "list")
	h.Git(h.Repo, "fetch", "-q", "origin", integrationBranch(h, 1))
	h.Git(h.Repo, "merge", "-q", "--no-ff", "-m", "take it", "FETCH_HEAD")
	h.Git(h.Repo, "push", "-q", "origin", "main")
	p.Until(patience, "the merge", func(it feed.Item) bool { return it.Kind == "pr.settled" && it.Task == "t1" })
	runAndExpect(t, h, []string{"#1  merged", "#2  closed"}, "pr", "list")
	endServing(t, p)
	var out struct {
		Office string
		Open   int `json:"open_tasks"`
	}
	if err := json.Unmarshal([]byte(p.Wait(patience).Stdout), &out); err != nil || out.Open != 0 ||
		out.Office != h.OfficeID() {
		t.Errorf("%v: %s", err, p.Wait(patience).Stdout)
	}
	runAndExpect(t, h, []string{"no company is running here"}, "agents")
}

// TestServeGoesOn: SIGTERM in the middle of a run puts it away and tells what
// is unfinished; kill -9 says nothing; either way the next serve goes on with
// the same run, and nobody has to ask.
func TestServeGoesOn(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	for name, end := range map[string]func(testing.TB, *testenv.Process){
		"terminated": endServing,
		"killed":     func(_ testing.TB, p *testenv.Process) { p.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "killed" {
				hosttest.Long(t, "TestServeTwice serves after a kill")
			}
			t.Parallel()
			held := stopAt("t1-01.1", 1)
			h := openFarewells(t, held)
			p := startServing(t, h)
			h.MustRun(patience, "submit", "--detach", "say goodbye")
			held.wait(t, p)
			end(t, p)
			if name == "terminated" {
				if left := h.Containers(); len(left) > 0 {
					t.Errorf("containers left: %v", left)
				}
				if out := p.Wait(patience).Stdout; !strings.Contains(out, `"open_tasks":1`) {
					t.Errorf("it does not say what is unfinished: %s", out)
				}
			}
			held.release()
			p = startServing(t, h)
			p.Event(patience, "task.completed", "")
			checkDelivered(t, h, 1, 1, 1)
			if n := h.Model.Calls().ByRun["t1-01.2"]; n != 0 {
				t.Errorf("the run was started again: %d calls of t1-01.2", n)
			}
			endServing(t, p)
		})
	}
}

// TestPauseOneWorker: of two subtasks that are under way, one is paused by itself. Its
// container goes, and the other is merged meanwhile; a company that takes over after a
// kill leaves it alone; when its pause is lifted it goes on where it was.
func TestPauseOneWorker(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	one, two := stopAt("t1-01.1", 1), stopAt("t1-02.1", 1)
	h := openTinyProject(t, &staff{
		manager: submitPlan(append(farewellTicket(), englishTicket())),
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
			"t1-01": saysGoodbye(),
			"t1-02": writeFilesAndFinish("Greet in English", "english.sh", "echo hello\n"),
		}),
		stops: []*stop{one, two},
	})
	h.LetManagerPlan()
	t.Cleanup(one.release)
	t.Cleanup(two.release)
	p := startServing(t, h)
	h.MustRun(patience, "submit", "--detach", "Say goodbye. Greet in English too.")
	one.wait(t, p)
	two.wait(t, p)
	runAndExpect(t, h, []string{"t1-01 paused; continue with: company resume t1-01\n"}, "pause", "t1-01")
	one.release() // a pause lets the turn end
	waitFor(t, func() bool { return len(h.Containers()) == 1 }, func() string { return "the paused run is not put away" })
	two.release()
	p.Until(patience, "the merge of t1-02",
		func(it feed.Item) bool { return it.Kind == "merge.done" && it.Subtask == "t1-02" })
	runAndExpect(t, h, []string{"NEEDS YOU\n  ~ t1-01 is paused: company resume t1-01\n"}, "status")
	runRefused(t, h, 1, "E_CONFLICT", "pause", "t1-02")
	runRefused(t, h, 1, "E_NOT_FOUND", "pause", "t1-09")
	p.Signal(syscall.SIGKILL)
	p.Wait(patience)
	p = startServing(t, h)
	if sum := waitForSummary(t, h.Start("wait", "t1"), 2); sum.Why != "t1-01 is paused, 1 of 2 subtasks merged" ||
		sum.Next != "company resume t1-01" {
		t.Errorf("summary: %+v", sum)
	}
	if up := h.Containers(); len(up) > 0 {
		t.Errorf("containers while nothing is to be done: %v", up)
	}
	if sum := waitForSummary(t, h.Start("resume", "t1-01"), 0); sum.Task != "t1" {
		t.Errorf("summary: %+v", sum)
	}
	endServing(t, p)
	if n := h.Model.Calls().ByRun["t1-01.2"]; n != 0 {
		t.Errorf("the paused run was started again: %d calls of t1-01.2", n)
	}
	checkDelivered(t, h, 1, 1, 2)
}

// TestHireAndFire: the number of workers changes while they work; a worker who
// is let go by name hands the run back, and nothing of it is lost; who is let
// go by number ends the run in hand. All of it is in the ledger, and outlives
// the company (SUB-15).
func TestHireAndFire(t *testing.T) {
	t.Parallel()
	var plan []m
	work := map[string]func(scripted.Exchange) scripted.Reply{}
	for _, n := range []string{"one", "two", "three"} {
		tk := ticket("Add "+n, "Add "+n+".sh", n+".sh")
		tk["effort"] = "medium" // many small tickets are refused
		plan = append(plan, tk)
		work[n] = writeFilesAndFinish("Add "+n, n+".sh", "echo "+n+"\n")
	}
	brain := &staff{manager: submitPlan(plan), worker: func(x scripted.Exchange) scripted.Reply {
		return work[map[string]string{"t1-01": "one", "t1-02": "two", "t1-03": "three"}[string(x.Header.Subtask)]](x)
	}}
	stops := []*stop{stopAt("t1-01.1", 1), stopAt("t1-02.1", 1), stopAt("t1-03.1", 1)}
	brain.stops = stops
	h := openTinyProject(t, brain)
	h.LetManagerPlan()
	for _, s := range stops {
		t.Cleanup(s.release)
	}
	h.Env = append(h.Env, "COMPANY_WORKERS_MAX=1")
	runRefused(t, h, 1, "E_NOT_FOUND", "hire")
	p := startServing(t, h)
	h.MustRun(patience, "submit", "--detach", "add three")
	reached := func(n int) {
		t.Helper()
		waitFor(t, func() bool {
			got := 0
			for _, s := range stops {
				select {
				case <-s.reached:
					got++
				default:
				}
			}
			return got == n
		}, func() string { return "not so many runs:\n" + p.Tell() })
	}
	reached(1)
	runAndExpect(t, h, []string{"1 worker, 2 runs wait"}, "agents")
	runAndExpect(t, h, []string{"3 workers from now on"}, "hire", "2")
	reached(3)
	runRefused(t, h, 64, "E_USAGE", "hire", "none")
	runRefused(t, h, 1, "E_CONFLICT", "hire", "62")
	runRefused(t, h, 1, "E_CONFLICT", "fire", "3")
	runRefused(t, h, 1, "E_NOT_FOUND", "fire", "w9")

	var fired struct {
		Workers int
		Handed  []string `json:"handed_back"`
	}
	h.JSON(&fired, "fire", "w2")
	if fired.Workers != 2 || len(fired.Handed) != 1 {
		t.Errorf("fired: %+v", fired)
	}
	waitFor(t, func() bool { return len(h.Containers()) == 2 }, func() string { return "its container is not put away" })
	runAndExpect(t, h, []string{"2 workers (1 hired), 1 run waits"}, "agents")
	runAndExpect(t, h, []string{"1 worker from now on"}, "fire")
	for _, s := range stops {
		s.release()
	}
	p.Event(patience, "task.completed", "")
	checkDelivered(t, h, 1, 1, 3)
	for run, n := range h.Model.Calls().ByRun {
		if strings.HasSuffix(string(run), ".2") && n > 0 {
			t.Errorf("%s: a run was started again", run)
		}
	}
	endServing(t, p)

	runAndExpect(t, h, []string{"2 workers from now on"}, "hire") // nobody is at work; it counts all the same
	p = startServing(t, h)
	runAndExpect(t, h, []string{"2 workers (1 hired)"}, "agents")
	endServing(t, p)
}

// TestAgents: everybody at work is shown with what they do, and how many there are (WRK-8).
func TestAgents(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h, p, held := atWork(t)
	var v struct {
		Open                  bool
		Workers, Active, Idle int
		Waiting               int
		Runtime               string `json:"container_runtime"`
		Agents                []struct {
			Agent, Role, Model, Run, Title, Doing string
			ReportsTo                             string `json:"reports_to"`
			Turn                                  int
			DurationMS                            int `json:"duration_ms"`
			ReservedTokens                        int `json:"reserved_tokens"`
		}
	}
	h.JSON(&v, "agents")
	if !v.Open || len(v.Agents) != 3 {
		t.Fatalf("%+v", v)
	}
	if v.Workers != 3 || v.Active != 1 || v.Idle != 2 || v.Waiting != 0 || v.Runtime != "dod" {
		t.Errorf("%+v", v)
	}
	w := v.Agents[0]
	if w.Agent != "w1" || w.Role != "worker" || w.ReportsTo != "manager" || w.Model != "default" || w.Run != "t1-01.1" ||
		w.Turn != 3 || w.Title != "add a farewell" ||
		w.Doing != "thinks" || w.DurationMS <= 0 || w.ReservedTokens <= 0 {
		t.Errorf("%+v", w)
	}
	if v.Agents[1].Doing != "idle" || v.Agents[1].Run != "" {
		t.Errorf("%+v", v.Agents[1])
	}
	held.release()
	waitForSummary(t, p, 0)
}

// makeOtherRepo makes a second repository with an origin of its own, and gates of
// its own in a company.yaml that git does not track.
func makeOtherRepo(t testing.TB, h *testenv.House) (repo, origin string) {
	t.Helper()
	repo, origin = filepath.Join(h.Dir, "web"), filepath.Join(h.Dir, "web.git")
	h.Git("", "init", "-q", "--bare", "-b", "main", origin)
	h.Git("", "init", "-q", "-b", "main", repo)
	for name, text := range map[string]string{
		"index.html": "<p>hello</p>\n", "judge.sh": "test ! -e bad.html\n",
		"company.yaml": "gates: {test: \"sh ./judge.sh\"}\nworkers: {max: 1}\n",
	} {
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h.Git(repo, "add", "index.html", "judge.sh")
	h.Git(repo, "commit", "-q", "-m", "first commit")
	h.Git(repo, "remote", "add", "origin", origin)
	h.Git(repo, "push", "-q", "origin", "main")
	return repo, origin
}

// TestTwoProjects: one company works on two repositories at once. Each has its
// mirror, its image, its gates and its pull request at its own origin; many
// tickets of one do not keep the other waiting; one is cancelled and the other
// does not notice (SUB-4).
func TestTwoProjects(t *testing.T) {
	t.Parallel()
	var plan []m
	work := map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
		"t2-01": writeFilesAndFinish("Add a page", "page.html", "<p>page</p>\n"),
		"t3-01": writeFilesAndFinish("Add a page", "other.html", "<p>other</p>\n"),
	}
	for i, n := range []string{"one", "two", "three", "four"} {
		tk := ticket("Add "+n, "Add "+n+".sh", n+".sh")
		tk["effort"] = "medium"
		plan = append(plan, tk)
		work[company.NewSubtaskID("t1", i+1)] = writeFilesAndFinish("Add "+n, n+".sh", "echo "+n+"\n")
	}
	brain := &staff{
		manager: func(x scripted.Exchange) scripted.Reply {
			switch x.Header.Task {
			case "t1":
				return submitPlan(plan)(x)
			case "t2":
				return submitPlan([]m{ticket("Add a page", "Add page.html", "page.html")})(x)
			}
			return submitPlan([]m{ticket("Add a page", "Add other.html", "other.html")})(x)
		},
		worker: replyByTicket(work),
	}
	first, page := stopAt("t1-01.1", 1), stopAt("t2-01.1", 1)
	third := stopAt("t3-01.1", 1)
	brain.stops = []*stop{first, page, third}
	h := openTinyProject(t, brain)
	h.LetManagerPlan()
	for _, s := range brain.stops {
		t.Cleanup(s.release)
	}
	h.Env = append(h.Env, "COMPANY_WORKERS_MAX=1")
	web, webOrigin := makeOtherRepo(t, h)
	p := startServing(t, h)

	runAndExpect(t, h, []string{"web added: " + web}, "project", "add", web)
	h.MustRun(patience, "submit", "--detach", "add four scripts")
	first.wait(t, p)
	h.MustRun(patience, "submit", "--detach", "--project", "web", "add a page")
	runRefused(t, h, 1, "E_NOT_FOUND", "submit", "--project", "nothing", "add a page")
	runRefused(t, h, 64, "E_USAGE", "submit", "--project", "web", "--repo", web, "add a page")
	for _, kind := range []string{"plan.accepted", "task.baseline"} { // then it is to be worked on
		p.Until(patience, "the "+kind+" of t2", func(it feed.Item) bool { return it.Kind == kind && it.Task == "t2" })
	}
	first.release()
	page.wait(t, p) // the second run of the one worker, though three tickets of t1 waited for longer
	for _, it := range p.Items() {
		if it.Kind == "run.claimed" && strings.HasPrefix(string(it.Run), "t1-0") && it.Worker == "w1" && it.Run != "t1-01.1" {
			t.Errorf("%s came before the other project", it.Run)
		}
	}
	page.release()
	done := func(id company.TaskID) {
		t.Helper()
		p.Until(patience, "the end of "+string(id),
			func(it feed.Item) bool { return it.Kind == "task.completed" && it.Task == id })
	}
	done("t2")
	done("t1")

	// A third task, of the second project by its path; it is cancelled while
	// one of the first project goes on. (Its branch is made before that.)
	h.MustRun(patience, "submit", "--detach", "--project", web, "add another page")
	third.wait(t, p)
	runAndExpect(t, h, []string{"t3 is cancelled"}, "cancel", "t3")
	endServing(t, p)

	branch := integrationBranch(h, 2)
	if got := h.Git(webOrigin, "ls-tree", "--name-only", branch); got != "index.html\njudge.sh\npage.html" {
		t.Errorf("t2 at its origin: %s", got)
	}
	if all := h.Git(webOrigin, "for-each-ref", "--format=%(refname:short)"); all != branch+"\nmain" {
		t.Errorf("refs of the second origin: %s", all)
	}
	if all := h.Git(h.Origin, "for-each-ref", "--format=%(refname:short)"); all != integrationBranch(h, 1)+"\nmain" {
		t.Errorf("refs of the first origin: %s", all)
	}
	mainUnmoved(t, h)
	if dirty := h.Git(web, "status", "--porcelain"); dirty != "?? company.yaml" {
		t.Errorf("the second checkout was touched:\n%s", dirty)
	}
	gates := map[string]string{}
	for _, it := range p.Items() {
		if it.Kind == "task.based" {
			gates[string(it.Task)] = it.Text
		}
	}
	if !strings.Contains(gates["t1"], "sh ./test.sh") || !strings.Contains(gates["t2"], "sh ./judge.sh") {
		t.Errorf("gates: %v", gates)
	}
	var list struct {
		Projects []company.ProjectRecord
	}
	h.JSON(&list, "project", "list")
	if len(list.Projects) != 2 || list.Projects[0].Name != "web" || list.Projects[0].Tasks != 2 ||
		list.Projects[1].WorkDir != h.Repo {
		t.Errorf("%+v", list.Projects)
	}
	runAndExpect(t, h, []string{"#1", "#2"}, "pr", "list")
	runAndExpect(t, h, []string{"removed web from the list"}, "project", "remove", "web")
	runAndExpect(t, h, []string{"repo"}, "project", "list")
}

// TestServeTwice: of two that start at once one serves and the other says so;
// of many who hire at once none is lost; a second serve after a kill takes the
// office over, whatever the first left lying about. Where somebody follows a task when it
// is killed, that process takes over, and a third serve waits until that task is done.
func TestServeTwice(t *testing.T) {
	t.Parallel()
	held := stopAt("t1-01.1", 1)
	h := openFarewells(t, held)
	both := []*testenv.Process{h.Start("serve"), h.Start("serve")}
	var up *testenv.Process
	waitFor(t, func() bool {
		for _, p := range both {
			if strings.Contains(p.Tell(), "serves the office") {
				up = p
			}
		}
		return up != nil
	}, func() string { return both[0].Tell() + both[1].Tell() })
	for _, p := range both {
		if p != up {
			if r := p.Wait(patience); r.Code != 1 || !strings.Contains(r.Stderr, "E_CONFLICT") {
				t.Errorf("the second: exit %d\n%s", r.Code, r.Stderr)
			}
		}
	}
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if r := h.Run(patience, "hire"); r.Code != 0 {
				t.Errorf("hire: exit %d\n%s", r.Code, r.Stderr)
			}
		})
	}
	wg.Wait()
	runAndExpect(t, h, []string{"8 workers (5 hired)"}, "agents")
	up.Kill()
	p := startServing(t, h)
	runAndExpect(t, h, []string{"8 workers (5 hired)"}, "agents")
	follower := h.Start("submit", "say goodbye")
	held.wait(t, follower)
	p.Kill()
	follower.Until(patience, "its own epoch", func(it feed.Item) bool { return it.Kind == "office.started" })
	p = h.Start("serve")
	p.Until(patience, "that it waits", func(it feed.Item) bool {
		return it.Kind == "note" && strings.Contains(it.Text, "waiting for process")
	})
	held.release()
	if sum := waitForSummary(t, follower, 0); sum.Task != "t1" || sum.Result != "COMPLETE" {
		t.Errorf("summary: %+v", sum)
	}
	follower.Event(patience, "task.completed", "") // no event is missed when the office changes its holder
	p.Until(patience, "its office", func(it feed.Item) bool { return strings.Contains(it.Text, "serves the office") })
	runAndExpect(t, h, []string{"8 workers (5 hired)"}, "agents")
	endServing(t, p)
	checkDelivered(t, h, 1, 1, 1)
}

// With recovery: ask, a company that is killed and opened again does not go on
// by itself; with resume it does, from where it was.
func TestRecoveryAsks(t *testing.T) {
	t.Parallel()
	hold := stopAt("t1-01.1", 1)
	h := openFarewells(t, hold)
	h.Config(tinyGates + "recovery: ask\n")
	p := startServing(t, h)
	h.MustRun(patience, "submit", "--detach", "say goodbye")
	hold.wait(t, p)
	p.Kill()
	hold.release()
	p = h.Start("serve")
	p.Until(patience, "its words", func(it feed.Item) bool {
		return it.Kind == "note" && strings.Contains(it.Text, "t1 is unfinished and paused; continue with: company resume")
	})
	p.Until(patience, "its office", func(it feed.Item) bool {
		return it.Kind == "note" && strings.Contains(it.Text, "serves the office")
	})
	runAndExpect(t, h, []string{"  paused  "}, "status")
	if sum := waitForSummary(t, h.Start("resume"), 0); sum.Task != "t1" {
		t.Errorf("summary: %+v", sum)
	}
	endServing(t, p)
	checkDelivered(t, h, 1, 1, 1)
}
