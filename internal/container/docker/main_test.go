package docker

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	dockercontainer "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	dockerimage "github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"

	"company/internal/container"
	"company/internal/lib/hosttest"
	"company/test/goroutines"
)

const testTimeout = 3 * time.Minute

// The tests' own world on the daemon: images made from testdata/probe, and
// offices that nobody else uses. setup is an unrestricted client, as only
// tests have.
var world struct {
	setup       *client.Client
	image       string // probe at /usr/local/bin/probe, probe386 beside it
	volumeImage string // the same with a VOLUME
	portImage   string // the same with an EXPOSE
	richImage   string // the same with ENV, LABEL, CMD, USER root, WORKDIR
	office      string
}

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		child(spec) // does not return
	}
	world.office = strings.ToLower(rand.Text()[:12])
	world.image = "sha256:" + strings.Repeat("5", 64) // until the real one is made
	if hosttest.Short() {                             // the tests that remain bring a daemon of their own
		goroutines.Main(m)
	}
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "docker tests:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	if world.setup, err = client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation()); err != nil {
		return 1, err
	}
	defer func() {
		if cerr := cleanWorld(); err == nil {
			err = cerr
		}
		_ = world.setup.Close()
		if lerr := goroutines.Left(); err == nil {
			err = lerr
		}
	}()
	if err := makeImages(ctx); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// cleanWorld removes the images and complains about containers that a test
// left.
func cleanWorld() error {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	// The images carry this label, and their containers with them.
	left, err := world.setup.ContainerList(ctx, dockercontainer.ListOptions{All: true,
		Filters: filters.NewArgs(filters.Arg("label", "company.test="+world.office))})
	if err != nil {
		return err
	}
	for _, c := range left {
		if rerr := world.setup.ContainerRemove(ctx, c.ID, dockercontainer.RemoveOptions{Force: true}); rerr != nil {
			err = rerr
		}
	}
	for _, id := range []string{world.richImage, world.portImage, world.volumeImage, world.image} {
		if id == "" {
			continue
		}
		if _, rerr := world.setup.ImageRemove(ctx, id, dockerimage.RemoveOptions{Force: true}); rerr != nil {
			err = rerr
		}
	}
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%d containers were left behind, first %v", len(left), left[0].Names)
	}
	return err
}

func makeImages(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "probe")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var files []string
	for name, arch := range map[string]string{"probe": "", "probe386": "386"} {
		bin := filepath.Join(dir, name)
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./testdata/probe")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if arch != "" {
			cmd.Env = append(cmd.Env, "GOOS=linux", "GOARCH="+arch)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
		files = append(files, bin)
	}
	root, err := rootfs(files)
	if err != nil {
		return err
	}
	for id, changes := range map[*string][]string{
		&world.image:       nil,
		&world.volumeImage: {"VOLUME /data"},
		&world.portImage:   {"EXPOSE 8080"},
		&world.richImage: {"ENV PATH=/usr/local/bin:/bin IMAGE=yes", `CMD ["/bin/from-the-image"]`, "USER root",
			"WORKDIR /usr", "LABEL maker=test", "LABEL company.office=other"},
	} {
		if *id, err = importImage(ctx, root, append(changes, "LABEL company.test="+world.office)); err != nil {
			return err
		}
	}
	return nil
}

// rootfs is a tar of a root file system with the files in /usr/local/bin.
func rootfs(files []string) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	add := func(h tar.Header, data []byte) error {
		h.Size = int64(len(data))
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		_, err := w.Write(data)
		return err
	}
	for _, d := range []string{"etc/", "usr/", "usr/local/", "usr/local/bin/", "home/", "home/agent/", "work/", "tmp/"} {
		if err := add(tar.Header{Typeflag: tar.TypeDir, Name: d, Mode: 0o755}, nil); err != nil {
			return nil, err
		}
	}
	if err := add(tar.Header{Name: "etc/passwd", Mode: 0o644},
		[]byte("root:x:0:0::/:/bin/sh\nagent:x:65532:65532::/home/agent:/bin/sh\n")); err != nil {
		return nil, err
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		// setuid root: no-new-privileges must make nothing of it (probe 3).
		if err := add(tar.Header{Name: "usr/local/bin/" + filepath.Base(f), Mode: 0o4755}, data); err != nil {
			return nil, err
		}
	}
	return buf.Bytes(), w.Close()
}

func importImage(ctx context.Context, root []byte, changes []string) (string, error) {
	body, err := world.setup.ImageImport(ctx, dockerimage.ImportSource{Source: bytes.NewReader(root), SourceName: "-"}, "",
		dockerimage.ImportOptions{Changes: changes})
	if err != nil {
		return "", err
	}
	defer body.Close()
	for lines := bufio.NewScanner(body); lines.Scan(); {
		var msg struct{ Status, Error string }
		if err := json.Unmarshal(lines.Bytes(), &msg); err != nil {
			return "", err
		}
		if strings.HasPrefix(msg.Status, "sha256:") {
			return msg.Status, nil
		}
		if msg.Error != "" {
			return "", fmt.Errorf("import: %s", msg.Error)
		}
	}
	return "", fmt.Errorf("import: no image id")
}

// testWriter sends a log to t.Log.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

func testLog(t testing.TB) *slog.Logger { return slog.New(slog.NewTextHandler(testWriter{t}, nil)) }

// newRuntime is the driver under test on the real daemon.
func newRuntime(t testing.TB) *Runtime {
	t.Helper()
	hosttest.NeedsDocker(t)
	r, err := Open(testContext(t), Options{Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return r
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

var runs atomic.Uint64

// newSpec is a container of the tests' office that runs the probe.
func newSpec(command ...string) container.Spec {
	labels := container.Labels{Office: world.office, Run: fmt.Sprintf("t1-%02d.1", runs.Add(1)), Epoch: 3, Role: "worker"}
	return container.Spec{
		Name:    labels.Name(),
		Image:   world.image,
		Labels:  labels,
		Command: append([]string{"/usr/local/bin/probe"}, command...),
	}
}

func mustStart(t testing.TB, r container.Runtime, spec container.Spec) container.Container {
	t.Helper()
	c, err := r.Start(testContext(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Remove(context.Background()); err != nil {
			t.Errorf("remove: %v", err)
		}
	})
	return c
}

// gate runs a spec to its end.
func gate(
	t testing.TB, r container.Runtime, spec container.Spec, stdin string,
) (exit container.Exit, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	exit, err := container.RunGate(testContext(t), r, spec, strings.NewReader(stdin), &out, &errs)
	if err != nil {
		t.Fatalf("%v: %v\n%s", spec.Command, err, errs.String())
	}
	return exit, out.String(), errs.String()
}

// exists asks the daemon by the tests' own client.
func exists(t testing.TB, id string) bool {
	t.Helper()
	_, err := world.setup.ContainerInspect(testContext(t), id)
	if cerrdefs.IsNotFound(err) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

var _ io.Writer = testWriter{}
