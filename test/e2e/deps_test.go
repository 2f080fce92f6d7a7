package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/test/house"
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

func addsModule() *staff {
	return &staff{
		manager: planned([]m{ticket("Name calculations", "Add ID to package calc, in id.go, with a test, using github.com/google/uuid.", "id.go", "id_test.go", "go.mod", "go.sum")}),
		worker: steps(
			call("run_command", m{"command": "go get github.com/google/uuid@v1.6.0 2>&1; true"}),
			call("add_dependency", m{"ecosystem": "go", "name": "github.com/google/uuid"}),
			call("write_file", m{"path": "id.go", "content": uuidCode}),
			call("write_file", m{"path": "id_test.go", "content": uuidTest}),
			call("run_command", m{"command": "go get github.com/google/uuid@v1.6.0 && go mod tidy && go vet ./... && go test ./..."}),
			call("run_command", m{"command": "go get golang.org/x/term@v0.30.0"}),
			call("git_commit", m{"message": "Name calculations"}),
			call("finish", m{"summary": "calculations have names"}),
		),
	}
}

// A worker adds a module of a registry: it asks, the client fetches it in the
// locked container, the gate gets an image with it and is offline all the
// same, and the pull request says what was added (DESIGN §5, T24).
func TestWorkerAddsAGoModule(t *testing.T) {
	t.Parallel()
	registryAnswers(t, "go")
	h := house.New(t, addsModule(), calculator())
	p := h.Start("submit", "give calculations a name")
	if sum := ends(t, p, 0); sum.Result != "COMPLETE" {
		t.Fatalf("%+v\n%s", sum, p.Tell())
	}
	said := asked(t, h, "t1-01.1", 8) // the last request has the whole conversation
	for _, want := range []string{"GOPROXY=off", "github.com/google/uuid@v1.6.0 may be fetched now", `ok  \texample.com/calc`, "golang.org/x/term is not in the project's lock files"} {
		if !strings.Contains(said, want) {
			t.Errorf("the worker was not told %q", want)
		}
	}
	page := h.MustRun(time.Minute, "pr", "show", "1").Stdout
	if !strings.Contains(page, "Added dependencies") || !strings.Contains(page, "github.com/google/uuid") {
		t.Errorf("the pull request does not say what was added:\n%s", page)
	}
	shown := h.MustRun(time.Minute, "show", "t1").Stdout
	if !strings.Contains(shown, "added:  go github.com/google/uuid@v1.6.0") {
		t.Errorf("show:\n%s", shown)
	}
	fetched, err := os.ReadFile(filepath.Join(h.Repo, ".company", "runtime", "runs", "t1-01.1", "fetched.log"))
	if err != nil || !strings.Contains(string(fetched), "go github.com/google/uuid@v1.6.0") || !strings.Contains(string(fetched), "refused go golang.org/x/term") {
		t.Errorf("the record of the run: %v\n%s", err, fetched)
	}
	sums := h.Git(h.Origin, "show", "develop-t1-"+h.OfficeID()+":go.sum")
	if !strings.Contains(sums, "github.com/google/uuid v1.6.0") {
		t.Errorf("go.sum: %s", sums)
	}
}

// registryAnswers skips a test whose registry this host does not reach.
func registryAnswers(t *testing.T, ecosystem string) {
	t.Helper()
	ask := []string{"go", "env", "GOPROXY"}
	if ecosystem == "npm" {
		ask = []string{"npm", "config", "get", "registry"}
	}
	out, err := exec.Command(ask[0], ask[1:]...).Output()
	if err != nil {
		t.Skipf("this host has no client of %s: %v", ecosystem, err)
	}
	address, _, _ := strings.Cut(strings.TrimSpace(string(out)), ",")
	path := map[string]string{"go": "/github.com/google/uuid/@v/v1.6.0.info", "npm": "/is-odd"}[ecosystem]
	client := &http.Client{Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Get(strings.TrimRight(address, "/") + path)
	if err == nil {
		_ = resp.Body.Close()
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		if os.Getenv("CI") != "" {
			t.Fatalf("the %s registry does not answer: %v", ecosystem, err)
		}
		t.Skipf("the %s registry of this host does not answer: %v", ecosystem, err)
	}
}
