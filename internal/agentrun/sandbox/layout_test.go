package sandbox_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/gitopstest"
	"company/internal/lib/hosttest"
	"company/internal/toolbox/toolproto"
	"company/test/safebuffer"
)

// patience is how long a container may take to start on a busy machine.
const patience = time.Minute

// warmHouse is a factory whose images have the history of a project, and the tools that
// were called in its containers.
type warmHouse struct {
	*sandbox.Factory
	cells *cells
	spec  sandbox.Spec
	log   safebuffer.Buffer

	mu    sync.Mutex
	tools []string
}

func newWarmHouse(t *testing.T) *warmHouse {
	t.Helper()
	p := gitopstest.New(t, map[string]string{"a.txt": "one\n", "sub/b.txt": "b\n"})
	baked := filepath.Join(t.TempDir(), "baked.git")
	gitexectest.Git(t, filepath.Dir(baked), "init", "-q", "--bare", "-b", "main", baked)
	gitexectest.Git(t, baked, "--git-dir=.", "fetch", "-q", p.Mirror.Dir(), string(p.Base)+":refs/heads/main")
	h := &warmHouse{cells: newCells(t)}
	h.Factory = &sandbox.Factory{Config: sandbox.Config{Runtime: h.cells, Git: p.Store, Office: "abcd",
		Author: gitops.Person{Name: "a", Email: "a@b"}, Logger: slog.New(slog.NewTextHandler(&h.log, nil))}}
	h.ServeOn(h.cells.port)
	h.BakeIn(baked)
	h.spec = sandbox.Spec{Mirror: p.Mirror, Run: "t1-01.1", Role: company.Worker, Epoch: 1, Fence: 1, Image: "any",
		Base: p.Base, Start: p.Base, Branch: "agent/t1-01-x"}
	h.cells.starve = func(tool string) bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.tools = append(h.tools, tool)
		return false
	}
	t.Cleanup(h.Close)
	return h
}

func (h *warmHouse) warm(layOut bool) {
	h.Warm(1, map[string]sandbox.Warmth{"any": {Containers: 1, LayOut: layOut}})
}

// called are the tools that were called so far.
func (h *warmHouse) called() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.tools)
}

// requireWorkspace opens a sandbox and finds the tree of its commit in it.
func (h *warmHouse) requireWorkspace(t *testing.T) {
	t.Helper()
	b, err := h.Open(t.Context(), h.spec)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close(t.Context())
	got, err := b.Tools.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "sub/b.txt"})
	if err != nil || string(got.Content) != "b\n" {
		t.Errorf("sub/b.txt is %q (%v)", got.Content, err)
	}
	if status, err := b.Tools.GitStatus(t.Context()); err != nil || status.Head != string(h.spec.Start) || !status.Clean {
		t.Errorf("the workspace is %+v (%v)", status, err)
	}
}

// TestWarmContainerHasTheTree: where it is asked for, the tree of the image's commit lies in a
// warm container before a run takes it.
func TestWarmContainerHasTheTree(t *testing.T) {
	for _, layOut := range []bool{true, false} {
		h := newWarmHouse(t)
		h.warm(layOut)
		h.requireWorkspace(t)
		calls := h.called()
		if at := slices.Index(calls, "lay_out"); layOut && (at < 0 || at > slices.Index(calls, "prepare")) ||
			!layOut && slices.Contains(calls[:slices.Index(calls, "prepare")], "lay_out") {
			t.Errorf("laid out: %v, and called was %v", layOut, calls)
		}
		if all := h.cells.started(); len(all) > 2 || all[0].Labels.Role != "pool" { // two: the next warm one
			t.Errorf("%d containers were started, the first for %q", len(all), all[0].Labels.Role)
		}
	}
}

// requireWarm has a warm container started that has no tree.
func (h *warmHouse) requireWarm(t *testing.T) {
	t.Helper()
	h.warm(true)
	hosttest.Eventually(t, "a container is warm", func() (any, bool) { return h.log.String(), h.Warmed() > 0 })
	if !strings.Contains(h.log.String(), "no work tree in a warm container") ||
		strings.Contains(h.log.String(), "level=WARN") {
		t.Errorf("the log has\n%s", h.log.String())
	}
}

// TestTreeThatIsNotLaidOut: a container in which git cannot make the tree serves a run all the
// same; one that is lost over it does not, and the run has its own.
func TestTreeThatIsNotLaidOut(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		h := newWarmHouse(t)
		broken := filepath.Join(t.TempDir(), "broken.git")
		gitexectest.Git(t, filepath.Dir(broken), "init", "-q", "--bare", "-b", "main", broken)
		if err := os.WriteFile(filepath.Join(broken, "refs/heads/main"), []byte(strings.Repeat("1", 40)+"\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
		h.BakeIn(broken)
		h.requireWarm(t)
	})
	t.Run("lost", func(t *testing.T) {
		h := newWarmHouse(t)
		count := h.cells.starve
		h.cells.starve = func(tool string) bool { return count(tool) || tool == "lay_out" }
		h.warm(true)
		h.requireWorkspace(t)
		if !strings.Contains(h.log.String(), "no warm container") {
			t.Errorf("the log has\n%s", h.log.String())
		}
	})
}

// TestTreeOfADiscardedContainer: a warm container that is not wanted any more is ended while
// its tree is being made.
func TestTreeOfADiscardedContainer(t *testing.T) {
	h := newWarmHouse(t)
	begun := make(chan struct{})
	h.cells.lose = func(tool string) bool {
		if tool == "lay_out" {
			close(begun)
		}
		return tool == "lay_out"
	}
	h.warm(true)
	<-begun
	h.Close() // or it would wait for as long as git may take
	if strings.Contains(h.log.String(), "level=WARN") {
		t.Errorf("the log has\n%s", h.log.String())
	}
}
