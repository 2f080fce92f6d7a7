// Package e2e runs the company as a user does, from outside: real Docker, real
// git, the embedded bus, and a model that is a server with a program behind
// it. It holds the walks from an instruction to a pull request, with all that
// can go wrong on the way.
package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/test/testenv"
)

const patience = testenv.Patience

// TestMain lets three walks go at a time where nothing else is asked for: much
// of each is waiting, for containers, for leases, for a disk.
func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		if err := flag.Set("test.parallel", "3"); err != nil {
			panic(err) // the testing package has this flag
		}
	}
	hearSignals()
	os.Exit(m.Run())
}

// hearSignals lets the programs under test receive the signals that tests send.
// A child inherits ignored signals (nohup and a shell's background jobs ignore
// them), but not caught ones.
func hearSignals() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// staff is a scripted model: one function per role. A reply depends on nothing
// but the request, so that a run that is begun again gets the same replies.
type staff struct {
	manager, worker, reviewer, merger func(scripted.Exchange) scripted.Reply
	// stops are places where a reply waits for the test.
	stops []*stop
}

func (s *staff) Reply(x scripted.Exchange) scripted.Reply {
	for _, st := range s.stops {
		st.pass(x)
	}
	do := map[company.Role]func(scripted.Exchange) scripted.Reply{
		company.Manager: s.manager, company.Worker: s.worker, company.Reviewer: s.reviewer, company.Merger: s.merger,
	}[x.Header.Role]
	if do == nil && x.Header.Role == company.Reviewer {
		do = approve
	}
	if do == nil {
		return scripted.Reply{Err: "nobody was expected to ask for " + string(x.Header.Run)}
	}
	return do(x)
}

// stop holds back the first reply that it fits.
type stop struct {
	run     company.RunID
	turn    int
	once    sync.Once
	reached chan struct{} // closed when the request is there
	on      chan struct{} // closed to let the reply go
	gone    sync.Once
}

// stopAt is a stop at the reply of a turn (from 0) of a run.
func stopAt(run company.RunID, turn int) *stop {
	return &stop{run: run, turn: turn, reached: make(chan struct{}), on: make(chan struct{})}
}

func (s *stop) pass(x scripted.Exchange) {
	if x.Header.Run != s.run || x.Turn != s.turn {
		return
	}
	s.once.Do(func() {
		close(s.reached)
		<-s.on
	})
}

func (s *stop) release() { s.gone.Do(func() { close(s.on) }) }

// wait waits until the reply is due.
func (s *stop) wait(t testing.TB, p *testenv.Process) {
	t.Helper()
	select {
	case <-s.reached:
	case <-time.After(patience):
		t.Fatalf("%s never came to turn %d:\n%s", s.run, s.turn, p.Tell())
	}
}

func call(tool string, args any) scripted.Reply {
	return scripted.Reply{Calls: []scripted.Call{{Tool: tool, Args: args}}}
}

type m = map[string]any

// replyInSteps answers turn by turn. A conversation that goes on after the last is an
// error of the script.
func replyInSteps(replies ...scripted.Reply) func(scripted.Exchange) scripted.Reply {
	return func(x scripted.Exchange) scripted.Reply {
		if x.Turn >= len(replies) {
			return scripted.Reply{Err: fmt.Sprintf(
				"%s goes on after its last step: %.300s", x.Header.Run, x.Messages[len(x.Messages)-1].Content)}
		}
		return replies[x.Turn]
	}
}

// replyAlways gives the same reply.
func replyAlways(r scripted.Reply) func(scripted.Exchange) scripted.Reply {
	return func(scripted.Exchange) scripted.Reply { return r }
}

// replyByRun answers the n-th run of a ticket with the n-th function, and sticks to
// the last.
func replyByRun(each ...func(scripted.Exchange) scripted.Reply) func(scripted.Exchange) scripted.Reply {
	return func(x scripted.Exchange) scripted.Reply {
		_, _, _, n, err := x.Header.Run.Split()
		if err != nil {
			return scripted.Reply{Err: err.Error()}
		}
		return each[min(n, len(each))-1](x)
	}
}

// replyByTicket answers by the subtask of the request.
func replyByTicket(
	by map[company.SubtaskID]func(scripted.Exchange) scripted.Reply,
) func(scripted.Exchange) scripted.Reply {
	return func(x scripted.Exchange) scripted.Reply {
		if do := by[x.Header.Subtask]; do != nil {
			return do(x)
		}
		return scripted.Reply{Err: "no script for " + string(x.Header.Run)}
	}
}

// ticket is a subtask of a plan.
func ticket(title, description string, writes ...string) m {
	return m{"title": title, "description": description, "acceptance_criteria": []string{"the checks pass"},
		"write_set": writes, "effort": "small"}
}

// submitPlan submits a plan of these waves, and submits it again where code asks for a
// second look at it.
func submitPlan(waves ...[]m) func(scripted.Exchange) scripted.Reply {
	list := make([]m, len(waves))
	for i, w := range waves {
		list[i] = m{"subtasks": w}
	}
	plan := call("submit_plan", m{"waves": list, "why": "the parts touch different files"})
	return replyInSteps(plan, plan)
}

// writeFilesAndFinish is a worker that writes files, commits and finishes, each in a turn. A
// file that is there must be read before it is written.
func writeFilesAndFinish(message string, files ...string) func(scripted.Exchange) scripted.Reply {
	var replies []scripted.Reply
	for i := 0; i < len(files); i += 2 {
		replies = append(replies, scripted.Reply{Calls: []scripted.Call{
			{Tool: "read_file", Args: m{"path": files[i]}},
			{Tool: "write_file", Args: m{"path": files[i], "content": files[i+1]}},
		}})
	}
	commit, finish := call("git_commit", m{"message": message}), call("finish", m{"summary": message})
	inOrder := replyInSteps(append(replies, commit, finish)...)
	return func(x scripted.Exchange) scripted.Reply {
		// A commit that came to nothing (a full disk, a restart) is made again.
		if x.Turn > len(replies)+1 && x.Turn < len(replies)+8 {
			if said, _ := x.LastResult("finish"); x.Messages[len(x.Messages)-1].Content == said {
				return commit
			}
			return finish
		}
		return inOrder(x)
	}
}

// approve is a reviewer who is content.
func approve(x scripted.Exchange) scripted.Reply {
	return call(
		"submit_review",
		m{"verdict": "approve", "findings": []m{}, "evidence": citeEvidence(x, "the checks ran, and the diff has it")})
}

// approveAfter is a reviewer who runs a command and is content.
func approveAfter(command string) func(scripted.Exchange) scripted.Reply {
	return func(x scripted.Exchange) scripted.Reply {
		if x.Turn == 0 {
			return call("run_command", m{"command": command})
		}
		return approve(x)
	}
}

// citeEvidence names the same evidence for each criterion of a review.
func citeEvidence(x scripted.Exchange, by string) []string {
	var out []string
	for range x.Listed("Acceptance criteria") {
		out = append(out, by)
	}
	return out
}

// objectTo is a reviewer with one blocking finding.
func objectTo(file string, line int, what string) func(scripted.Exchange) scripted.Reply {
	return replyInSteps(call("submit_review", m{"verdict": "request_changes", "evidence": []string{},
		"findings": []m{{"severity": "blocking", "file": file, "line": line, "what": what, "why": "it was asked for"}}}))
}

// tinyProject is a project whose gate needs nothing but a shell.
func tinyProject() map[string]string {
	return map[string]string{
		"test.sh": "set -e\nfor check in checks/*.sh; do sh \"$check\" || { echo \"FAIL $check\"; exit 1; }; " +
			"done\necho ok\n",
		"greet.sh":        "echo hello\n",
		"checks/greet.sh": "test \"$(sh greet.sh)\" = hello\n",
		"README.md":       "# Greetings\n\nScripts that greet.\n",
	}
}

// tinyGates is the config of tiny.
const tinyGates = "gates: {lint: none, test: \"sh ./test.sh\"}\n"

// openTinyProject opens an office for the tiny project.
func openTinyProject(t *testing.T, brain scripted.Responder, opts ...scripted.Option) *testenv.House {
	t.Helper()
	h := testenv.New(t, brain, tinyProject(), opts...)
	h.Config(tinyGates)
	return h
}

// triplesInShell is the staff that adds a script with its check to the tiny project, in
// as many turns as tripleStaff takes.
func triplesInShell() *staff {
	return &staff{
		manager: submitPlan([]m{ticket("Add Triple", "Add triple.sh, with a check in checks/triple.sh. It prints three "+
			"times its argument.", "triple.sh", "checks/triple.sh")}),
		worker: replyInSteps(
			call("read_file", m{"path": "greet.sh"}),
			call("write_file", m{"path": "triple.sh", "content": "echo $((3 * $1))\n"}),
			call("write_file", m{"path": "checks/triple.sh", "content": "test \"$(sh triple.sh 2)\" = 6\n"}),
			call("run_command", m{"command": "sh test.sh"}),
			call("git_commit", m{"message": "Add Triple"}),
			call("finish", m{"summary": "Triple is there and checked"}),
		),
	}
}

// openFarewells is the tiny project with the staff that adds a farewell. What is
// held back still at the test's end is let go before the model's server closes.
func openFarewells(t *testing.T, stops ...*stop) *testenv.House {
	t.Helper()
	h := openTinyProject(t, farewells(stops...))
	for _, s := range stops {
		t.Cleanup(s.release)
	}
	return h
}

// submitFarewell submits there, and waits until the reply of a turn of a run is
// held back.
func submitFarewell(t *testing.T, run company.RunID, turn int) (*testenv.House, *testenv.Process, *stop) {
	t.Helper()
	hold := stopAt(run, turn)
	h := openFarewells(t, hold)
	p := h.Start("submit", "say goodbye")
	hold.wait(t, p)
	return h, p, hold
}

// addsTwo is the staff that adds a file for each of the tasks t1 and t2.
func addsTwo(stops ...*stop) *staff {
	add := func(name string) []m { return []m{ticket("Add "+name, "Add "+name+".sh", name+".sh")} }
	return &staff{
		manager: perTask(submitPlan(add("one")), submitPlan(add("two"))),
		worker: perTask(writeFilesAndFinish("Add one", "one.sh", "echo one\n"),
			writeFilesAndFinish("Add two", "two.sh", "echo two\n")),
		stops: stops,
	}
}

// farewellTicket is one ticket for tiny, and the worker who does it.
func farewellTicket() []m {
	return []m{ticket("Add a farewell", "Add farewell.sh, which prints goodbye, and checks/farewell.sh.", "farewell.sh",
		"checks/farewell.sh")}
}

// englishTicket is a second ticket, which touches nothing of the first.
func englishTicket() m { return ticket("Greet in English", "Add english.sh", "english.sh") }

func saysGoodbye() func(scripted.Exchange) scripted.Reply {
	return writeFilesAndFinish("Add a farewell", "farewell.sh", "echo goodbye\n", "checks/farewell.sh",
		"test \"$(sh farewell.sh)\" = goodbye\n")
}

// summary is what submit and resume print at their end.
type summary struct {
	Result, Task, Status, Next, Why, Hint string
	PR                                    *int
	Head                                  string
	Unverified                            []string
	Tokens                                int64
}

// waitForSummary waits for the end of a process and reads its summary.
func waitForSummary(t testing.TB, p *testenv.Process, code int) summary {
	t.Helper()
	r := p.Wait(patience)
	if r.Code != code {
		t.Fatalf("exit %d (signal %v), want %d\n%s\n%s", r.Code, r.Signal, code, r.Stdout, p.Tell())
	}
	return summaryOf(t, r)
}

func summaryOf(t testing.TB, r testenv.Result) summary {
	t.Helper()
	var s summary
	if err := json.Unmarshal([]byte(r.Stdout), &s); err != nil {
		t.Fatalf("no summary: %v\n%s\n%s", err, r.Stdout, r.Stderr)
	}
	return s
}

// checkDelivered checks what a task that is complete must have left: one pull
// request of that number, its branch in the origin at the head, main where it
// was, a commit for each subtask and no more, no container.
func checkDelivered(t testing.TB, h *testenv.House, task, pr, subtasks int) {
	t.Helper()
	branch := integrationBranch(h, task)
	head := h.Git(h.Origin, "rev-parse", "refs/heads/"+branch)
	var record struct {
		Number                          int
		Task, Branch, Base, Head, Title string
	}
	readJSON(t, fmt.Sprintf("%s/pulls/%d.json", h.State(), pr), &record)
	if record.Number != pr || record.Task != fmt.Sprintf("t%d", task) || record.Branch != branch ||
		record.Base != "main" || record.Head != head {
		t.Errorf("the pull request's record: %+v; the branch is at %s", record, head)
	}
	if merges := strings.Fields(h.Git(h.Origin, "rev-list", "--no-merges", "main.."+branch)); len(merges) != subtasks {
		t.Errorf("%d commits for %d subtasks", len(merges), subtasks)
	}
	mainUnmoved(t, h)
	if left := h.Containers(); len(left) > 0 {
		t.Errorf("containers left: %v", left) // CTR-5
	}
}

// mainUnmoved: no agent and no company ever moves main (REV-1), and the
// president's checkout is as it was.
func mainUnmoved(t testing.TB, h *testenv.House) {
	t.Helper()
	if n := h.Git(h.Origin, "rev-list", "--count", "main"); n != "1" {
		t.Errorf("main of the origin has %s commits; it had one", n)
	}
	if a, b := h.Git(h.Origin, "rev-parse", "main"), h.Git(h.Repo, "rev-parse", "HEAD"); a != b {
		t.Errorf("main of the origin is at %s, the checkout at %s", a, b)
	}
	if dirty := h.Git(h.Repo, "status", "--porcelain"); dirty != "" {
		t.Errorf("the checkout was touched:\n%s", dirty)
	}
}

func integrationBranch(h *testenv.House, task int) string {
	return fmt.Sprintf("develop-t%d-%s", task, h.OfficeID())
}

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}
