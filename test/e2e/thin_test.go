package e2e

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"company/internal/adapters/scripted"
	"company/internal/gitops"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

const canary = "canary-key-not-for-containers"

// calculator is a small Go project.
func calculator() map[string]string {
	return map[string]string{
		"go.mod": "module example.com/calc\n\ngo 1.24\n",
		"calc.go": "// Package calc calculates.\npackage calc\n\n// Double is twice n.\nfunc Double(n int) int { " +
			"return 2 * n }\n",
		"calc_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 " +
			"{\n\t\tt.Error(Double(2))\n\t}\n}\n",
	}
}

const tripleDescription = "Add Triple to package calc, in triple.go, with a test in triple_test.go. It is three " +
	"times n."

func tripleStaff() *staff {
	return &staff{
		manager: submitPlan([]m{ticket("Add Triple", tripleDescription, "triple.go", "triple_test.go")}),
		worker: replyInSteps(
			call("read_file", m{"path": "calc.go"}),
			call("write_file", m{"path": "triple.go", "content": "package calc\n\n// Triple is three times n.\nfunc Triple(n " +
				"int) int { return 3 * n }\n"}),
			call("write_file", m{"path": "triple_test.go", "content": "package calc\n\nimport \"testing\"\n\nfunc " +
				"TestTriple(t *testing.T) {\n\tif Triple(2) != 6 {\n\t\tt.Error(Triple(2))\n\t}\n}\n"}),
			call("run_command", m{"command": "go test ./..."}),
			call("git_commit", m{"message": "Add Triple"}),
			call("finish", m{"summary": "Triple is there and tested"}),
		),
	}
}

// TestThinThread walks one instruction the whole way, on real parts: submit,
// queue, container, commit, gates, review, merge, pull request (TST-2, SUB-10).
func TestThinThread(t *testing.T) {
	t.Parallel()
	brain := tripleStaff()
	working := stopAt("t1-01.1", 4) // the tests have run in the container; it is about to commit
	brain.stops = []*stop{working}
	h := testenv.New(t, brain, calculator())
	told := containerEvents(t)
	p := h.Start("submit", "Add Triple\n\n"+tripleDescription)
	defer working.release()
	working.wait(t, p)
	p.Event(patience, "task.baseline", "") // the container of the base's checks is gone
	lookInside(t, h)
	working.release()
	sum := waitForSummary(t, p, 0)
	if sum.Result != "COMPLETE" || sum.Task != "t1" || sum.PR == nil || *sum.PR != 1 ||
		sum.Next != "review the pull request: company pr show 1" {
		t.Errorf("summary: %+v", sum) // CLI-7
	}
	checkDelivered(t, h, 1, 1, 1) // FRG-1, REV-1, CTR-5
	checkPage(t, h)
	checkGit(t, h)
	checkFeed(t, p)
	checkRecords(t, h, sum)
	checkModel(t, h)
	// The ticket's own test was run without its change, once, before the
	// review: the reviewer's first message and show name it.
	checkBriefHolds(t, h, "t1-01-review.1", "Without the change these do not compile or load:", "example.com/calc")
	for _, of := range []string{"t1-01", "t1"} {
		runAndExpect(t, h, []string{"new tests: 1; red to green: 0; test files changed: 1"}, "show", of)
	}
	noCanary(t, h)
	// Every container of the office that was made was removed again, the gates'
	// and the reviewers' included; the daemon says so.
	made := func() int { return told(h.OfficeID(), "create") }
	gone := func() int { return told(h.OfficeID(), "destroy") }
	hosttest.Eventually(t, "as many containers are destroyed as were made", func() (any, bool) {
		return [2]int{made(), gone()}, made() >= 4 && made() == gone()
	})
}

// lookInside looks at the worker's container while it runs, with the docker
// command.
func lookInside(t *testing.T, h *testenv.House) {
	t.Helper()
	names := h.Containers()
	if len(names) != 1 {
		t.Fatalf("containers while the one worker works: %v", names)
	}
	var all []struct {
		Config struct {
			User   string
			Env    []string
			Labels map[string]string
		}
		Mounts     []any
		HostConfig struct {
			Binds, VolumesFrom, CapAdd, CapDrop, SecurityOpt []string
			NetworkMode                                      string
			Privileged                                       bool
			Memory, NanoCpus, PidsLimit                      int64
		}
	}
	if err := json.Unmarshal([]byte(run(t, "docker", "inspect", names[0])), &all); err != nil {
		t.Fatal(err)
	}
	c := all[0]
	if len(c.Mounts) > 0 || len(c.HostConfig.Binds) > 0 || len(c.HostConfig.VolumesFrom) > 0 {
		t.Errorf("mounts: %v %v", c.Mounts, c.HostConfig.Binds) // CTR-3, CTR-8
	}
	if c.HostConfig.NetworkMode != "none" || c.HostConfig.Privileged || len(c.HostConfig.CapAdd) > 0 ||
		!slices.Equal(c.HostConfig.CapDrop, []string{"ALL"}) {
		t.Errorf("host config: %+v", c.HostConfig)
	}
	if c.HostConfig.Memory != 4<<30 || c.HostConfig.NanoCpus > 2e9 || c.HostConfig.NanoCpus == 0 ||
		c.HostConfig.PidsLimit != 512 {
		t.Errorf("limits: %+v", c.HostConfig) // CTR-7
	}
	if c.Config.User == "" || strings.HasPrefix(c.Config.User, "0") || c.Config.User == "root" {
		t.Errorf("user %q", c.Config.User)
	}
	if c.Config.Labels["company.run"] != "t1-01.1" || c.Config.Labels["company.role"] != "worker" {
		t.Errorf("labels: %v", c.Config.Labels)
	}
	if strings.Contains(strings.Join(c.Config.Env, "\n"), canary) {
		t.Error("the key is in the container's environment") // T21
	}
	// The repository was cloned inside (CTR-3), the work is there, and nothing
	// that it can read holds a key or an ssh folder (CTR-8, T21).
	out := run(t, "docker", "exec", names[0], "sh", "-c",
		`ls /work/repo/triple_test.go; ls -a / /root /home/agent 2>/dev/null | grep -x .ssh; ls /var/run/docker.sock /run/docker.sock 2>/dev/null; env; tr '\0' '\n' </proc/1/environ; grep -rlF `+canary+` /work /home /tmp /etc /opt/repo.git 2>/dev/null; true`)
	for _, bad := range []string{".ssh\n", "docker.sock", canary, "/work/repo/.git/config"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q seen in the container:\n%s", bad, out)
		}
	}
	if !strings.HasPrefix(out, "/work/repo/triple_test.go\n") {
		t.Errorf("the work is not in the container:\n%s", out)
	}
}

// checkPage: the local forge's page says what was done and how to do it again.
func checkPage(t *testing.T, h *testenv.House) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(h.State(), "pulls/1.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{tripleDescription, "t1-01", "Add Triple", "go test", integrationBranch(h, 1),
		h.Git(h.Origin, "rev-parse", integrationBranch(h, 1)), "git fetch origin"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

// checkGit: the branch in the origin holds the change as the worker wrote it,
// under the names of GIT-2, and its tests pass in a clone.
func checkGit(t *testing.T, h *testenv.House) {
	t.Helper()
	branch := integrationBranch(h, 1)
	clone := filepath.Join(h.Dir, "clone")
	h.Git("", "clone", "-q", "-b", branch, h.Origin, clone)
	cmd := exec.Command("go", "test", "-run", "TestDouble|TestTriple", "-v", "./...")
	cmd.Dir = clone
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestTriple") {
		t.Errorf("go test on a clone: %v\n%s", err, out)
	}
	if got := h.Git(clone, "diff", "--name-status", "origin/main", "HEAD"); got != "A\ttriple.go\nA\ttriple_test.go" {
		t.Errorf("what the task changed:\n%s", got)
	}
	if got := h.Git(clone, "show", "-s", "--format=%s", "HEAD"); got != "[t1-01] Add Triple" {
		t.Errorf("the ticket's commit %q", got)
	}
	if got := h.Git(clone, "show", "-s", "--format=%(trailers:key=Ticket,valueonly)", "HEAD"); got != "t1-01" {
		t.Errorf("the commit is of the ticket %q", got) // GIT-2
	}
	if got := h.Git(clone, "rev-parse", "HEAD^"); got != h.Git(h.Origin, "rev-parse", "main") {
		t.Errorf("the first parent is %s, not main", got)
	}
	refs := strings.Fields(h.Git(h.Origin, "for-each-ref", "--format=%(refname)"))
	if !slices.Equal(refs, []string{"refs/heads/" + branch, "refs/heads/main"}) {
		t.Errorf("branches of the origin: %v", refs)
	}
}

// listEvents lists the events of a feed, whose numbers have no gap.
func listEvents(t *testing.T, p *testenv.Process) (all []feed.Item) {
	t.Helper()
	for _, it := range p.Items() {
		if it.Seq == 0 {
			continue
		}
		if n := len(all); n > 0 && it.Seq != all[n-1].Seq+1 {
			t.Errorf("event %d follows %d", it.Seq, all[n-1].Seq)
		}
		all = append(all, it)
	}
	return all
}

// checkFeed: the events come in the order of the phases (STA-5, UI-1), with
// numbers that have no gap (STA-6).
func checkFeed(t *testing.T, p *testenv.Process) {
	t.Helper()
	want := []string{"task.submitted", "task.based", "plan.accepted", "run.offered", "run.claimed", "run.ended",
		"gate.finished", "review.finished", "merge.gated", "merge.intended", "merge.done", "review.carried", "gate.finished",
		"pr.intended", "pr.opened", "task.completed"}
	for _, it := range listEvents(t, p) {
		if len(want) > 0 && it.Kind == want[0] {
			want = want[1:]
		}
	}
	if len(want) > 0 {
		t.Errorf("the feed lacks %v, in this order:\n%s", want, p.Tell())
	}
}

// checkRecords: what people and programs find in the office afterwards.
func checkRecords(t *testing.T, h *testenv.House, sum summary) {
	t.Helper()
	office := filepath.Join(h.Repo, ".company")

	// result.json of the run has every field of ART-1, and what changed as git
	// says (ART-2).
	var res map[string]any
	readJSON(t, filepath.Join(office, "runtime/runs/t1-01.1/result.json"), &res)
	for _, field := range []string{"run_id", "ticket_id", "agent_id", "status", "start_time", "end_time", "artifacts",
		"git_branch", "commits", "quality_gates", "errors", "conversation_turns", "tokens_used"} {
		if v, ok := res[field]; !ok || v == nil {
			t.Errorf("result.json lacks %s", field)
		}
	}
	if res["run_id"] != "t1-01.1" || res["ticket_id"] != "t1-01" || res["agent_id"] != "w1" ||
		res["status"] != "success" || res["git_branch"] != "agent/t1-01-add-triple" {
		t.Errorf("result.json: %v", res) // GIT-2
	}
	if n, _ := res["tokens_used"].(float64); n <= 0 {
		t.Errorf("tokens_used: %v", res["tokens_used"])
	}
	if n, _ := res["conversation_turns"].(float64); n != 6 {
		t.Errorf("conversation_turns: %v", res["conversation_turns"])
	}
	var paths []string
	for _, a := range res["artifacts"].([]any) {
		paths = append(paths, a.(map[string]any)["action"].(string)+" "+a.(map[string]any)["path"].(string))
	}
	if !slices.Equal(paths, []string{"created triple.go", "created triple_test.go"}) {
		t.Errorf("artifacts: %v", paths)
	}
	if commits := res["commits"].([]any); len(commits) != 1 ||
		commits[0] != h.Git(mirror(t, h), "rev-parse", "refs/company/tickets/t1-01") {
		t.Errorf("commits: %v", commits)
	}
	gates := res["quality_gates"].(map[string]any)
	if gates["overall"] != true || len(gates["checks"].([]any)) == 0 {
		t.Errorf("quality_gates: %v", gates) // GAT-1
	}

	// The ticket (SUB-7, SUB-9, SUB-10).
	text, err := os.ReadFile(filepath.Join(office, "workflows/backlog/t1-01.md"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitN(string(text), "---\n", 3)
	if len(parts) != 3 || parts[0] != "" {
		t.Fatalf("the ticket has no front matter:\n%s", text)
	}
	var front map[string]any
	if err := yaml.Unmarshal([]byte(parts[1]), &front); err != nil {
		t.Fatal(err)
	}
	if front["id"] != "t1-01" || front["parent_id"] != "t1" || front["status"] != "completed" ||
		front["branch"] != "agent/t1-01-add-triple" {
		t.Errorf("front matter: %v", front)
	}
	for _, want := range []string{"# Add Triple\n", tripleDescription, "## Log"} {
		if !strings.Contains(parts[2], want) {
			t.Errorf("the ticket lacks %q:\n%s", want, text)
		}
	}

	// git.log: a line per operation with its time (GIT-3).
	text, err = os.ReadFile(filepath.Join(office, "runtime/runs/t1-01.1/git.log"))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(text)) {
		var o gitops.Operation
		if err := json.Unmarshal([]byte(l), &o); err != nil || o.Op == "" || o.Time.IsZero() {
			t.Errorf("git.log: %q: %v", l, err)
		}
	}
	for _, op := range []string{"clone", "branch", "commit", "receive-pack", "fetch"} {
		if !strings.Contains(string(text), `"op":"`+op+`"`) {
			t.Errorf("git.log tells of no %s:\n%s", op, text)
		}
	}

	// What the host does for a run has its id, in the git.log of the office.
	text, err = os.ReadFile(filepath.Join(h.State(), "logs/git.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`"op":"merge-tree","task_id":"t1","run_ids":["t1-01.1"]`, `"op":"push","task_id":"t1"`} {
		if !strings.Contains(string(text), line) {
			t.Errorf("the git.log of the office lacks %s:\n%s", line, text)
		}
	}

	// The task's state as a file (STA-3).
	var st map[string]any
	readJSON(t, filepath.Join(office, "runtime/state/t1.json"), &st)
	if st["task_id"] != "t1" || st["status"] != "completed" || st["phase"] != "deliver" {
		t.Errorf("runtime/state: %v", st)
	}
	if b := st["git_branches"].(map[string]any); b[integrationBranch(h, 1)] != sum.Head ||
		b["agent/t1-01-add-triple"] == nil {
		t.Errorf("git_branches: %v", b)
	}

	// The transcript can be read, the ticket's words among them (WRK-7).
	text, err = os.ReadFile(filepath.Join(office, "runtime/runs/t1-01.1/transcript.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	said, tools := 0, []string{}
	for l := range strings.Lines(string(text)) {
		var entry struct {
			Message  *struct{ Role, Content string }
			ToolCall *struct{ Name, Result string }
		}
		if err := json.Unmarshal([]byte(l), &entry); err != nil {
			t.Fatalf("transcript: %v: %s", err, l)
		}
		if entry.Message != nil && entry.Message.Role == "user" &&
			strings.Contains(entry.Message.Content, tripleDescription) {
			said++
		}
		if entry.ToolCall != nil {
			tools = append(tools, entry.ToolCall.Name)
		}
	}
	if said != 1 || !slices.Equal(
		tools, []string{"read_file", "write_file", "write_file", "run_command", "git_commit", "finish"}) {
		t.Errorf("transcript: the ticket is said %d times, tools %v", said, tools)
	}
}

// checkModel: as many calls as the script has turns, with the instruction's words in
// the worker's and the reviewer's.
func checkModel(t *testing.T, h *testenv.House) {
	t.Helper()
	calls := h.Model.Calls()
	for run, want := range map[string]int{"t1-01.1": 6, "t1-01-review.1": 1} {
		found := false
		for id, n := range calls.ByRun {
			if string(id) == run {
				found = true
				if n != want {
					t.Errorf("%s asked the model %d times, want %d", run, n, want)
				}
			}
		}
		if !found {
			t.Errorf("%s never asked the model", run)
		}
	}
	if calls.Total != 7 {
		t.Errorf("%d calls in all: %v", calls.Total, calls.ByRun)
	}
	for _, r := range h.Model.Requests() {
		if r.Header.Subtask == "t1-01" && !strings.Contains(string(r.Body), "It is three times n.") {
			t.Errorf("%s was not told the instruction", r.Header.Run)
		}
	}
}

// noCanary: the model's key is in no file of the office and in no object of
// the origin (T21). The president's own config is not the company's to judge.
func noCanary(t *testing.T, h *testenv.House) {
	t.Helper()
	seen := 0
	for _, dir := range []string{h.Repo, filepath.Join(h.Dir, "state"), filepath.Join(h.Dir, "home"),
		filepath.Join(h.Dir, "run"), h.Origin} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			seen++
			if strings.Contains(string(text), canary) {
				t.Errorf("the key is in %s", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 20 {
		t.Errorf("only %d files looked at", seen)
	}
	if log := h.Git(h.Origin, "log", "--all", "-p"); strings.Contains(log, canary) || !strings.Contains(log, "Triple") {
		t.Errorf("the origin's history:\n%s", log)
	}
}

// containerEvents follows what the daemon tells of containers of any office,
// until the test ends. The daemon itself remembers only the newest.
func containerEvents(t *testing.T) (count func(office, action string) int) {
	t.Helper()
	cmd := exec.Command("docker", "events", "--since", time.Now().Format(time.RFC3339Nano), "--filter", "type=container",
		"--filter", "label=company.office",
		"--filter", "event=create", "--filter", "event=destroy", "--format",
		`{{.Action}} {{index .Actor.Attributes "company.office"}}`)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := map[string]int{}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			mu.Lock()
			seen[lines.Text()]++
			mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-read
		_ = cmd.Wait() // killed
	})
	return func(office, action string) int {
		mu.Lock()
		defer mu.Unlock()
		return seen[action+" "+office]
	}
}

// run runs a program to its end.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

var _ scripted.Responder = (*staff)(nil)
