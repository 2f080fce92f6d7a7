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
	"company/test/goroutines"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// bench is a builder for one test. It shares the layers base, go and gostd
// with the product, on purpose: they take a minute to make. Everything above
// is the test's own, because the toolbox in it carries the test's name, and is
// removed at its end.
type bench struct {
	*Builder
	raw *client.Client // unguarded, to look from outside

	mu   sync.Mutex
	said []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	be := &bench{}
	b, err := New(Config{
		Progress: func(line string) {
			t.Log(line)
			be.mu.Lock()
			defer be.mu.Unlock()
			be.said = append(be.said, line)
		},
		Toolbox: func(string) ([]byte, error) { return []byte("#!/bin/sh\n# " + t.Name() + "\nexec \"$@\"\n"), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	be.Builder = b
	t.Cleanup(b.Close)
	be.raw, err = client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = be.raw.Close() })
	return be
}

// count tells how many lines of progress contain a text.
func (be *bench) count(text string) int {
	be.mu.Lock()
	defer be.mu.Unlock()
	n := 0
	for _, line := range be.said {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// own are the layers of a request that belong to a test alone.
func (be *bench) own(t *testing.T, req Request, base baseSource) []step {
	t.Helper()
	steps, _, err := be.plan(context.Background(), req, base)
	if err != nil {
		t.Fatal(err)
	}
	var own []step
	for _, s := range steps {
		if s.kind == "base" && !base.pulled || slices.Contains([]string{"go", "gostd", "debian", "node", "rust"}, s.kind) {
			continue
		}
		own = append(own, s)
	}
	return own
}

// dropAtEnd removes what a request makes beyond the shared layers, together
// with its locks.
func (be *bench) dropAtEnd(t *testing.T, req Request, base baseSource) {
	own := be.own(t, req, base)
	t.Cleanup(func() {
		for i := len(own) - 1; i >= 0; i-- {
			if err := be.drop(context.Background(), own[i].tag()); err != nil && !cerrdefs.IsNotFound(err) {
				t.Errorf("remove %s: %v", own[i].tag(), err)
			}
			_ = os.Remove(filepath.Join(be.dir, "locks", own[i].name()))
		}
	})
}

func (be *bench) mustEnsure(t *testing.T, req Request) Image {
	t.Helper()
	be.dropAtEnd(t, req, builtBase())
	img, err := be.Ensure(deadline(t), req)
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
func (be *bench) mustRun(t *testing.T, img Image, script string) string {
	t.Helper()
	ctx := deadline(t)
	pids := int64(512)
	tmpfs := "rw,exec,nosuid,nodev,size=512m,uid=65532,gid=65532,mode=0755"
	made, err := be.raw.ContainerCreate(ctx,
		&container.Config{Image: img.ID, Cmd: []string{"/bin/sh", "-c", script}, AttachStdout: true, AttachStderr: true},
		&container.HostConfig{
			NetworkMode: "none", CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"}, ReadonlyRootfs: true,
			LogConfig: container.LogConfig{Type: "none"}, Tmpfs: map[string]string{"/work": tmpfs, "/home/agent": tmpfs, "/tmp": "rw,exec,nosuid,nodev,size=512m,mode=1777"},
			Resources: container.Resources{Memory: 3 << 30, MemorySwap: 3 << 30, PidsLimit: &pids},
		}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := be.raw.ContainerRemove(context.Background(), made.ID, container.RemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
			t.Errorf("remove a test's container: %v", err)
		}
	}()
	att, err := be.raw.ContainerAttach(ctx, made.ID, container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		t.Fatal(err)
	}
	defer att.Close()
	ended, failed := be.raw.ContainerWait(ctx, made.ID, container.WaitConditionNextExit)
	if err := be.raw.ContainerStart(ctx, made.ID, container.StartOptions{}); err != nil {
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

// exported calls each for every file of an image.
func (be *bench) exported(t *testing.T, img Image, each func(h *tar.Header, r io.Reader)) {
	t.Helper()
	ctx := deadline(t)
	made, err := be.raw.ContainerCreate(ctx, &container.Config{Image: img.ID, Cmd: []string{"/bin/true"}}, &container.HostConfig{NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := be.raw.ContainerRemove(context.Background(), made.ID, container.RemoveOptions{Force: true}); err != nil {
			t.Errorf("remove a test's container: %v", err)
		}
	}()
	body, err := be.raw.ContainerExport(ctx, made.ID)
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
	dir := t.TempDir()
	p := &project{t: t, dir: filepath.Join(dir, "work"), bare: filepath.Join(dir, "mirror.git")}
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
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t",
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
