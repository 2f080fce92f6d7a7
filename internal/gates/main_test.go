package gates_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/docker"
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/lib/hosttest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// workerImage is the image without a toolchain: a Debian with a shell, and the
// toolbox. It is the product's own and stays in its cache.
var workerImage = sync.OnceValues(func() (string, error) {
	b, err := image.New(image.Config{})
	if err != nil {
		return "", err
	}
	defer b.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	img, err := b.Ensure(ctx, image.Request{})
	return img.ID, err
})

// bundle is a runner on the real daemon, with a project in a real mirror.
type bundle struct {
	ctx     context.Context
	t       *testing.T
	office  string // nobody else's: its containers are this test's
	dir     string // the checkout
	mirror  *gitops.Mirror
	rt      *countingRuntime
	runner  *gates.Runner
	blobs   map[company.Hash][]byte
	image   string
	keeping sync.Mutex // of blobs: a gate and its canary run beside each other
}

// countingRuntime counts starts, and tells of each, and each container how many were
// started before it.
type countingRuntime struct {
	container.Runtime
	mu      sync.Mutex
	specs   []container.Spec
	ids     []string
	started func(container.Container)
}

func (c *countingRuntime) Start(ctx context.Context, s container.Spec) (container.Container, error) {
	c.mu.Lock()
	before := len(c.ids)
	c.mu.Unlock()
	numbered := s
	numbered.Env = append(slices.Clone(s.Env), fmt.Sprint("STARTED_BEFORE=", before))
	box, err := c.Runtime.Start(ctx, numbered)
	if err == nil {
		c.mu.Lock()
		c.specs, c.ids = append(c.specs, s), append(c.ids, box.ID())
		c.mu.Unlock()
		if c.started != nil {
			c.started(box)
		}
	}
	return box, err
}

// setup commits what build leaves in an empty folder.
func setup(t *testing.T, build func(dir string)) *bundle {
	t.Helper()
	b := &bundle{t: t, office: strings.ToLower(rand.Text()[:8]), dir: filepath.Join(t.TempDir(), "project"),
		blobs: map[company.Hash][]byte{}}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	t.Cleanup(cancel)
	b.ctx = ctx
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.git("init", "-q", "-b", "main")
	b.writeFiles(map[string]string{"README": "a project\n"})
	if build != nil {
		build(b.dir)
	}
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "first")
	store, err := gitops.Open(gitops.Config{Root: filepath.Join(t.TempDir(), "git")})
	if err != nil {
		t.Fatal(err)
	}
	if b.mirror, err = store.Mirror(ctx, "project", b.dir); err != nil {
		t.Fatal(err)
	}
	return b
}

// withDocker adds the runner.
func (b *bundle) withDocker() *bundle {
	b.t.Helper()
	hosttest.NeedsDocker(b.t)
	var err error
	if b.image, err = workerImage(); err != nil {
		b.t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	rt, err := docker.Open(b.ctx, docker.Options{Log: log})
	if err != nil {
		b.t.Fatal(err)
	}
	b.rt = &countingRuntime{Runtime: rt}
	b.t.Cleanup(func() {
		left, err := rt.List(context.Background(), b.office)
		if err != nil || len(left) > 0 {
			b.t.Errorf("containers left: %v, %v", left, err)
		}
		if err := rt.Close(); err != nil {
			b.t.Error(err)
		}
	})
	b.runner = &gates.Runner{
		Runtime: b.rt, Office: b.office, Limits: container.Limits{MemoryBytes: 3 * container.GiB / 2}, Logger: log,
		Blobs: b,
	}
	return b
}

func (b *bundle) PutBlob(_ context.Context, out []byte) (company.Hash, error) {
	sum := sha256.Sum256(out)
	h := company.Hash(hex.EncodeToString(sum[:]))
	b.keeping.Lock()
	defer b.keeping.Unlock()
	b.blobs[h] = slices.Clone(out)
	return h, nil
}

func (b *bundle) GetBlob(_ context.Context, h company.Hash) ([]byte, error) {
	b.keeping.Lock()
	defer b.keeping.Unlock()
	return b.blobs[h], nil
}

func (b *bundle) git(args ...string) string {
	b.t.Helper()
	return gitexectest.Git(b.t, b.dir, args...)
}

func (b *bundle) writeFiles(files map[string]string) {
	b.t.Helper()
	for name, text := range files {
		p := filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

// commit brings a branch of the checkout into the mirror.
func (b *bundle) commit(branch string) company.OID {
	b.t.Helper()
	info, err := b.mirror.FetchBase(b.ctx, nil, gitops.Source{Path: b.dir}, branch)
	if err != nil {
		b.t.Fatal(err)
	}
	return info.OID
}

// job judges the head of main by these commands, as lint and test.
func (b *bundle) job(lint, test string) gates.Job {
	b.t.Helper()
	tree, err := b.mirror.Tree(b.ctx, b.commit("main"))
	if err != nil {
		b.t.Fatal(err)
	}
	cmds := commands(lint, test)
	return gates.Job{Mirror: b.mirror, Tree: tree, Gates: cmds, Hash: gates.HashGates(cmds),
		Image: gates.ImageByID(b.image), Label: "t1-01", Epoch: 1}
}

func commands(lint, test string) []company.GateCommand {
	var cmds []company.GateCommand
	if lint != "" {
		cmds = append(cmds, company.GateCommand{Name: gates.Lint, Command: lint})
	}
	return append(cmds, company.GateCommand{Name: gates.Test, Command: test})
}

func (b *bundle) mustRun(j gates.Job) company.GateResult {
	b.t.Helper()
	res, err := b.runner.Run(b.ctx, j)
	if err != nil {
		b.t.Fatal(err)
	}
	if res.Tree != j.Tree || res.GateHash != j.Hash || res.Image != j.Image.Key || res.Cached || res.Untested {
		b.t.Errorf("a verdict of something else: %+v", res)
	}
	return res
}
