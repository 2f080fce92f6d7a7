package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container/docker"
	"company/internal/lib/hosttest"
	"company/test/goroutines"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// testBuilder is a builder for one test. It shares the layers base, go and gostd
// with the product, on purpose: they take a minute to make. Everything above
// is the test's own, because the toolbox in it carries the test's name, and is
// removed at its end. Tests run beside each other where each of them waits, for a
// client or for archives, and no two of them make the same layer.
type testBuilder struct {
	*Builder
	unguarded *client.Client // unguarded, to look from outside

	mu            sync.Mutex
	progressLines []string
}

func newTestBuilder(t *testing.T) *testBuilder {
	t.Helper()
	return newRacedBuilder(t)
}

// newRacedBuilder is a builder for a test that is raced: many callers at once, an end
// in the middle, a registry that is served to a container or to a go command.
func newRacedBuilder(t *testing.T) *testBuilder {
	t.Helper()
	hosttest.NeedsDocker(t)
	be := &testBuilder{}
	rt, err := docker.Open(newContext(t), docker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	b, err := New(Config{
		Runtime: rt,
		Progress: func(line string) {
			t.Log(line)
			be.mu.Lock()
			defer be.mu.Unlock()
			be.progressLines = append(be.progressLines, line)
		},
		Toolbox: func(string) ([]byte, error) { return []byte("#!/bin/sh\n# " + t.Name() + "\nexec \"$@\"\n"), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.resolved = t.TempDir()
	be.Builder = b
	t.Cleanup(b.Close)
	be.unguarded, err = client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = be.unguarded.Close() })
	return be
}

// countProgress tells how many lines of progress contain a text.
func (be *testBuilder) countProgress(text string) int {
	be.mu.Lock()
	defer be.mu.Unlock()
	n := 0
	for _, line := range be.progressLines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func newContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// ownLayers are the layers of a request that belong to a test alone.
func (be *testBuilder) ownLayers(t *testing.T, req Request, base baseSource) []layerStep {
	t.Helper()
	steps, _, err := be.planLayers(context.Background(), req, base)
	if err != nil {
		t.Fatal(err)
	}
	var own []layerStep
	fetched := false // a version of a toolchain is for the test, and what lies above it
	for _, s := range steps {
		if fetched = fetched || s.fetched; fetched {
			own = append(own, s)
			continue
		}
		if s.kind == "base" && !base.pulled || slices.Contains([]string{"go", "gostd", "debian", "node", "rust"}, s.kind) {
			continue
		}
		own = append(own, s)
	}
	return own
}

// dropAtEnd removes what a request makes beyond the shared layers, together
// with its locks.
func (be *testBuilder) dropAtEnd(t *testing.T, req Request, base baseSource) {
	own := be.ownLayers(t, req, base)
	t.Cleanup(func() { be.dropLayers(t, own) })
}

func (be *testBuilder) dropLayers(t *testing.T, own []layerStep) {
	t.Helper()
	for _, layer := range slices.Backward(own) {
		_, err := be.unguarded.ImageRemove(context.Background(), layer.imageTag(), imageRemove)
		if err != nil && !cerrdefs.IsNotFound(err) {
			t.Errorf("remove %s: %v", layer.imageTag(), err)
		}
		_ = os.Remove(filepath.Join(be.dir, "locks", layer.uniqueName()))
	}
}

func (be *testBuilder) mustEnsure(t *testing.T, req Request) Image {
	t.Helper()
	be.dropAtEnd(t, req, newBuiltBase())
	img, err := be.Ensure(newContext(t), req)
	if err != nil {
		var e *company.Error
		if errors.As(err, &e) && e.Details != "" {
			t.Log(e.Details)
		}
		t.Fatal(err)
	}
	return img
}

// mustRun runs a script in a container with a worker's policy: no network, no
// capabilities, a read-only root, sized work space, the agent's uid.
func (be *testBuilder) mustRun(t *testing.T, img Image, script string) string {
	t.Helper()
	ctx := newContext(t)
	pids := int64(512)
	tmpfs := "rw,exec,nosuid,nodev,size=512m,uid=65532,gid=65532,mode=0755"
	made, err := be.unguarded.ContainerCreate(ctx,
		// One stream: the daemon does not keep the order of two.
		&container.Config{Image: img.ID, Cmd: []string{"/bin/sh", "-c", "exec 2>&1; " + script}, AttachStdout: true,
			AttachStderr: true},
		&container.HostConfig{
			NetworkMode: "none", CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"}, ReadonlyRootfs: true,
			LogConfig: container.LogConfig{Type: "none"},
			Tmpfs: map[string]string{"/work": tmpfs, "/home/agent": tmpfs,
				"/tmp": "rw,exec,nosuid,nodev,size=512m,mode=1777"},
			Resources: container.Resources{Memory: 3 << 30, MemorySwap: 3 << 30, PidsLimit: &pids},
		}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := be.unguarded.ContainerRemove(
			context.Background(), made.ID, container.RemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
			t.Errorf("remove a test's container: %v", err)
		}
	}()
	att, err := be.unguarded.ContainerAttach(
		ctx, made.ID, container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		t.Fatal(err)
	}
	defer att.Close()
	ended, failed := be.unguarded.ContainerWait(ctx, made.ID, container.WaitConditionNextExit)
	if err := be.unguarded.ContainerStart(ctx, made.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := stdcopy.StdCopy(&out, &out, att.Reader); err != nil {
		t.Fatal(err)
	}
	select {
	case r := <-ended:
		if r.StatusCode != 0 {
			t.Fatalf("exit code %d of\n%s\n%s", r.StatusCode, script, out.String())
		}
	case err := <-failed:
		t.Fatal(err)
	}
	return out.String()
}

// eachFile calls each for every file of an image.
func (be *testBuilder) eachFile(t *testing.T, img Image, each func(h *tar.Header, r io.Reader)) {
	t.Helper()
	ctx := newContext(t)
	made, err := be.unguarded.ContainerCreate(
		ctx, &container.Config{Image: img.ID, Cmd: []string{"/bin/true"}}, &container.HostConfig{NetworkMode: "none"},
		nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := be.unguarded.ContainerRemove(
			context.Background(), made.ID, container.RemoveOptions{Force: true}); err != nil {
			t.Errorf("remove a test's container: %v", err)
		}
	}()
	body, err := be.unguarded.ContainerExport(ctx, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	for tr := tar.NewReader(body); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		each(h, tr)
	}
}

// project is a real repository with a bare mirror.
type project struct {
	t         *testing.T
	dir, bare string
}

func newProject(t *testing.T) *project {
	t.Helper()
	return newProjectNamed(t, "mirror")
}

// newProjectNamed makes a project of a name, after which a store names its mirror.
func newProjectNamed(t *testing.T, name string) *project {
	t.Helper()
	dir := t.TempDir()
	p := &project{t: t, dir: filepath.Join(dir, "work"), bare: filepath.Join(dir, name+".git")}
	p.git("init", "-q", "-b", "main", p.dir)
	p.git("init", "-q", "--bare", "-b", "main", p.bare)
	return p
}

func (p *project) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	if _, err := os.Stat(p.dir); err == nil {
		cmd.Dir = p.dir
	}
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t",
		"GIT_AUTHOR_EMAIL=t@t",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files, commits them and brings all branches to the mirror.
func (p *project) commit(files map[string]string) *Repo {
	p.t.Helper()
	for name, text := range files {
		host := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(host), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(host, []byte(text), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	p.git("add", "-A")
	p.git("commit", "-q", "-m", fmt.Sprintf("commit of %d files", len(files)))
	p.git("push", "-q", p.bare, "--all")
	return &Repo{MirrorDir: p.bare, Commit: company.OID(p.git("rev-parse", "HEAD")), Ref: "main"}
}

func requireCode(t *testing.T, err error, code company.Code, words ...string) {
	t.Helper()
	if err == nil || company.CodeOf(err) != code {
		t.Fatalf("error %v, want one with code %s", err, code)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}
