package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

const uuidCode = `package calc

import "github.com/google/uuid"

// ID is a new name for a calculation.
func ID() string { return uuid.NewString() }
`

const uuidTest = `package calc

import "testing"

func TestID(t *testing.T) {
	if a, b := ID(), ID(); a == b || len(a) != 36 {
		t.Error(a, b)
	}
}
`

// addsModule is a worker that adds a Go module, in the steps in which an agent
// comes to it; first are calls that it makes before.
func addsModule(first ...scripted.Call) *staff {
	return &staff{
		manager: submitPlan(
			[]m{ticket("Name calculations", "Add ID to package calc, in id.go, with a test, using github.com/google/uuid.",
				"id.go", "id_test.go", "go.mod", "go.sum")},
			[]m{ticket("Use names", "Add Named to package calc, in named.go.", "named.go")},
		),
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{"t1-01": replyInSteps(
			call("run_command", m{"command": "go get github.com/google/uuid@v1.6.0 2>&1; true"}),
			scripted.Reply{Calls: append(first,
				scripted.Call{Tool: "add_dependency", Args: m{"ecosystem": "go", "name": "github.com/google/uuid"}})},
			call("write_file", m{"path": "id.go", "content": uuidCode}),
			call("write_file", m{"path": "id_test.go", "content": uuidTest}),
			call("run_command", m{"command": "go get github.com/google/uuid@v1.6.0 && go mod tidy && go vet ./... && go test " +
				"./..."}),
			call("run_command", m{"command": "go get golang.org/x/term@v0.30.0"}),
			call("git_commit", m{"message": "Name calculations"}),
			call("finish", m{"summary": "calculations have names"}),
		), "t1-02": replyInSteps( // its container has what the first one added
			call("write_file", m{"path": "named.go", "content": "package calc\n\n// Named is a name and a result.\nfunc " +
				"Named(n int) (string, int) { return ID(), Double(n) }\n"}),
			call("run_command", m{"command": "go test ./... && go env GOFLAGS"}),
			call("git_commit", m{"message": "Use names"}),
			call("finish", m{"summary": "names are used"}), // asks for a test, once
			call("finish", m{"summary": "names are used", "risks": "No test shows it."}),
		)}),
	}
}

// A worker adds a module of a registry: it asks, the client fetches it in the
// locked container, the gate gets an image with it and is offline all the same,
// and the pull request says what was added (T24).
func TestWorkerAddsAGoModule(t *testing.T) {
	t.Parallel()
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	registryAnswers(t, "go")
	unknown := scripted.Call{Tool: "add_dependency",
		Args: m{"ecosystem": "go", "name": "github.com/google/uuid/no-such-module"}}
	h := testenv.New(t, addsModule(unknown), calculator())
	h.LetManagerPlan()
	p := h.Start("submit", "give calculations a name")
	if sum := waitForSummary(t, p, 0); sum.Result != "COMPLETE" {
		t.Fatalf("%+v\n%s", sum, p.Tell())
	}
	said := requestText(t, h, "t1-01.1", 8) // the last request has the whole conversation
	for _, want := range []string{"GOPROXY=off", "github.com/google/uuid@v1.6.0 may be fetched now",
		`ok  \texample.com/calc`, "golang.org/x/term is not in the project's lock files"} {
		if !strings.Contains(said, want) {
			t.Errorf("the worker was not told %q", want)
		}
	}
	page := h.MustRun(patience, "pr", "show", "1").Stdout
	if !strings.Contains(page, "Added dependencies") || !strings.Contains(page, "github.com/google/uuid") {
		t.Errorf("the pull request does not say what was added:\n%s", page)
	}
	shown := h.MustRun(patience, "show", "t1").Stdout
	if !strings.Contains(shown, "added:  go github.com/google/uuid@v1.6.0") ||
		!strings.Contains(shown, "asked:  a registry for go github.com/google/uuid/no-such-module") {
		t.Errorf("show:\n%s", shown)
	}
	fetched, err := os.ReadFile(filepath.Join(h.Repo, ".company", "runtime", "runs", "t1-01.1", "fetched.log"))
	if err != nil || !strings.Contains(string(fetched), "go github.com/google/uuid@v1.6.0") ||
		!strings.Contains(string(fetched), "refused go golang.org/x/term") {
		t.Errorf("the record of the run: %v\n%s", err, fetched)
	}
	if second := requestText(t, h, "t1-02.1", 4); !strings.Contains(second, `ok  \texample.com/calc`) {
		t.Errorf("the second worker: %s", second[len(second)-1000:])
	}
	sums := h.Git(h.Origin, "show", "develop-t1-"+h.OfficeID()+":go.sum")
	if !strings.Contains(sums, "github.com/google/uuid v1.6.0") {
		t.Errorf("go.sum: %s", sums)
	}
}

// registryAnswers fails a test whose registry this host does not reach: a
// worker could not reach it either.
func registryAnswers(t *testing.T, ecosystem string) {
	t.Helper()
	ask := []string{"go", "env", "GOPROXY"}
	if ecosystem == "npm" {
		ask = []string{"npm", "config", "get", "registry"}
	}
	out, err := exec.Command(ask[0], ask[1:]...).Output()
	if err != nil {
		t.Fatalf("this host has no client of %s: %v", ecosystem, err)
	}
	address, _, _ := strings.Cut(strings.TrimSpace(string(out)), ",")
	path := map[string]string{"go": "/github.com/google/uuid/@v/v1.6.0.info", "npm": "/is-odd"}[ecosystem]
	client := &http.Client{Timeout: patience}
	defer client.CloseIdleConnections()
	resp, err := client.Get(strings.TrimRight(address, "/") + path)
	if err == nil {
		_ = resp.Body.Close()
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the %s registry of this host does not answer: %v", ecosystem, err)
	}
}

// counter is a small Node project with one locked package.
func counter() map[string]string {
	return map[string]string{
		".gitignore":   "node_modules/\n",
		"package.json": `{"name":"counter","version":"1.0.0","private":true,"scripts":{"test":"node --test"},"dependencies":{"is-number":"7.0.0"}}` + "\n",
		"package-lock.json": `{"name":"counter","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"counter","version":"1.0.0","dependencies":{"is-number":"7.0.0"}},
"node_modules/is-number":{"version":"7.0.0","resolved":"https://registry.npmjs.org/is-number/-/is-number-7.0.0.tgz","integrity":"sha512-41Cifkg6e8TylSpdtTpeLVMqvSBEVzTttHvERD741+pnZ8ANv0004MRL43QKPDlK9cGvNp6NZWZUBlbGXYxxng==","license":"MIT","engines":{"node":">=0.12.0"}}}}
`,
		"count.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\nconst isNumber = " +
			"require('is-number');\ntest('numbers', () => assert(isNumber(3)));\n",
	}
}

// tellOdd has a worker add a package to the counter by a client of npm's registry,
// with its command add. Each text of told must reach the worker. tellOdd gives the
// lock file that was delivered.
func tellOdd(
	t *testing.T, client, add, lockName string, files map[string]string, told ...string,
) (h *testenv.House, lock string) {
	t.Helper()
	brain := &staff{
		manager: submitPlan([]m{ticket("Tell odd numbers", "Add odd.js, which exports isOdd from the package is-odd, with "+
			"a test.", "odd.js", "odd.test.js", "package.json", lockName)}),
		worker: replyInSteps(
			call("run_command", m{"command": client + " test"}),
			call("run_command", m{"command": client + " " + add + " is-odd@3.0.1"}),
			call("add_dependency", m{"ecosystem": "npm", "name": "is-odd", "version": "3.0.1"}),
			call("run_command", m{"command": client + " " + add + " is-odd@3.0.1"}),
			call("write_file", m{"path": "odd.js", "content": "module.exports = require('is-odd');\n"}),
			call("write_file", m{"path": "odd.test.js", "content": "const test = require('node:test');\nconst assert = " +
				"require('node:assert');\nconst isOdd = require('./odd');\ntest('odd', () => { assert(isOdd(3)); " +
				"assert(!isOdd(4)); });\n"}),
			call("run_command", m{"command": client + " test"}),
			call("git_commit", m{"message": "Tell odd numbers"}),
			call("finish", m{"summary": "odd numbers are told"}),
		),
	}
	h = testenv.New(t, brain, files)
	p := h.Start("submit", "tell odd numbers")
	if sum := waitForSummary(t, p, 0); sum.Result != "COMPLETE" {
		t.Fatalf("%+v\n%s", sum, p.Tell())
	}
	said := requestText(t, h, "t1-01.1", 9)
	for _, want := range told {
		if !strings.Contains(said, want) {
			t.Errorf("the worker was not told %q", want)
		}
	}
	return h, h.Git(h.Origin, "show", integrationBranch(h, 1)+":"+lockName)
}

// The same with npm: the client runs in the locked container against the
// mirror, and the gate's image has what the new lock file names.
func TestWorkerAddsAnNPMPackage(t *testing.T) {
	hosttest.Long(t, "TestWorkerAddsAGoModule shows it with another client")
	t.Parallel()
	registryAnswers(t, "npm")
	h, lock := tellOdd(t, "npm", "install", "package-lock.json", counter(),
		"npm is-odd is not in the project's lock files", "npm is-odd@3.0.1 may be fetched now", "added ", "# pass 2")
	if !strings.Contains(lock, "https://registry.npmjs.org/is-odd/-/is-odd-3.0.1.tgz") ||
		strings.Contains(lock, "127.0.0.1") {
		t.Errorf("people install from the lock file, and have no mirror: %s", lock)
	}
	if page := h.MustRun(patience, "pr", "show", "1").Stdout; !strings.Contains(page, "| npm | `is-odd` | `3.0.1` |") {
		t.Errorf("the pull request:\n%s", page)
	}
	checkDelivered(t, h, 1, 1, 1)
}

// The same with pnpm: the client that the image brings serves the worker and the
// gate, and a version of itself that the manifest names is not fetched.
func TestWorkerAddsAPnpmPackage(t *testing.T) {
	hosttest.Long(t, "another client of npm's registry")
	t.Parallel()
	registryAnswers(t, "npm")
	files := counter()
	delete(files, "package-lock.json")
	files["package.json"] = strings.Replace(
		files["package.json"], `"private":true,`, `"private":true,"packageManager":"pnpm@9.1.0",`, 1)
	files["pnpm-lock.yaml"] = pnpmLock
	h, lock := tellOdd(t, "pnpm", "add", "pnpm-lock.yaml", files, "ERR_PNPM_FETCH_403", "pnpm add is-odd@3.0.1",
		"# pass 1", "# pass 2")
	if !strings.Contains(lock, "is-odd@3.0.1") || !strings.Contains(lock, "is-number@6.0.0") {
		t.Errorf("the lock file: %s", lock)
	}
	checkDelivered(t, h, 1, 1, 1)
}

// pnpmLock is what pnpm makes of the counter.
const pnpmLock = `lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .:
    dependencies:
      is-number:
        specifier: 7.0.0
        version: 7.0.0

packages:

  is-number@7.0.0:
    resolution: {integrity: sha512-41Cifkg6e8TylSpdtTpeLVMqvSBEVzTttHvERD741+pnZ8ANv0004MRL43QKPDlK9cGvNp6NZWZUBlbGXYxxng==}
    engines: {node: '>=0.12.0'}

snapshots:

  is-number@7.0.0: {}
`

// With approvals.deps: ask the president's approval comes first. A company that is
// killed while its worker waits for it goes on when it was given (STA-9).
func TestPresidentLetsADependencyIn(t *testing.T) {
	hosttest.Long(t, "TestWorkerAddsAGoModule adds a module, TestKill kills")
	t.Parallel()
	registryAnswers(t, "go")
	h := testenv.New(t, addsModule(), calculator())
	h.LetManagerPlan()
	h.Config("approvals: {deps: ask}\n")
	p := h.Start("submit", "give calculations a name")
	p.Event(patience, "approval.opened", "t1-01")
	runAndExpect(t, h, []string{"t1-01.1 wants to add the dependency go github.com/google/uuid. Let it?"}, "status")
	if text, err := os.ReadFile(
		filepath.Join(h.Repo, ".company", "runtime", "runs", "t1-01.1", "fetched.log")); err != nil ||
		strings.Contains(string(text), "uuid") {
		t.Errorf("before leave was given: %v\n%s", err, text)
	}
	p.Kill()
	p.Wait(patience)
	runAndExpect(t, h, []string{"a1: yes: let it be added"}, "approve", "a1")
	if sum := waitForSummary(t, h.Start("resume", "t1"), 0); sum.Result != "COMPLETE" {
		t.Fatalf("%+v", sum)
	}
	runAndExpect(t, h, []string{"added:  go github.com/google/uuid@v1.6.0"}, "show", "t1")
	checkDelivered(t, h, 1, 1, 2)
}

// A lock file that a worker wrote by hand, with a name that nobody asked for:
// the gate is red before anything is fetched, and says which name it is (T24).
func TestSneakedDependencyIsRed(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	registryAnswers(t, "go")
	sum := "golang.org/x/term v0.30.0 h1:PQ39fJZ+mfadBm0y5WlL4vlM7Sx1Hgf13sMIY2+QS9Y=\ngolang.org/x/term v0.30.0/go.mod " +
		"h1:NYYFdzHoI5wRh/h5tDMdMqCqPJZEuNqVR5xJLd/n67g=\n"
	brain := &staff{
		manager: submitPlan([]m{ticket("Say goodbye", "Add Bye.", "bye.go", "go.sum")}),
		worker: replyByRun(
			writeFilesAndFinish("Say goodbye", "bye.go", "package calc\n\n// Bye says goodbye.\nconst Bye = \"bye\"\n",
				"go.sum", sum),
			replyInSteps(
				call("run_command", m{"command": "git rm -q -f go.sum"}),
				call("git_commit", m{"message": "Do without"}),
				call("finish", m{"summary": "without it"}),
			),
		),
	}
	h := testenv.New(t, brain, calculator())
	if sum := waitForSummary(t, h.Start("submit", "say goodbye"), 0); sum.Result != "COMPLETE" {
		t.Fatalf("%+v", sum)
	}
	if told := requestText(t, h, "t1-01.2", 1); !strings.Contains(told, "- go golang.org/x/term@v0.30.0") ||
		!strings.Contains(told, "add_dependency") {
		t.Errorf("the second run was told %s", told)
	}
	checkDelivered(t, h, 1, 1, 1)
}
