package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"company/internal/company"
	"company/internal/container/dockerapi"
	"company/internal/lib/hosttest"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// An image that exists is found by another builder without any work.
func TestEnsureReusesExisting(t *testing.T) {
	be := newTestBuilder(t)
	repo := newProject(t).commit(map[string]string{"README": "hello\n"})
	req := Request{Toolchains: []string{"go"}, Repo: repo}
	first := be.mustEnsure(t, req)

	again := newTestBuilder(t)
	second, err := again.Ensure(newContext(t), req)
	if err != nil {
		t.Fatal(err)
	}
	if second.ID != first.ID || second.Key != first.Key || len(second.Layers) != len(first.Layers) {
		t.Errorf("second image %+v, first %+v", second, first)
	}
	if len(again.progressLines) != 0 {
		t.Errorf("the second call worked: %q", again.progressLines)
	}
	for key, want := range map[string]string{string(first.Key): first.ID, first.ID: first.ID, strings.Repeat("0", 64): "",
		"sha256:" + strings.Repeat("0", 64): ""} {
		if id, err := again.FindLocal(newContext(t), key); err != nil || id != want {
			t.Errorf("%s is %q here, %v", key, id, err)
		}
	}
	var kinds []string
	for _, l := range first.Layers {
		kinds = append(kinds, l.Kind)
	}
	if got := strings.Join(kinds, " "); got != "base go gostd toolbox repo" {
		t.Errorf("layers %q", got)
	}
}

// What the image says and holds: users, git configuration, no trace of the
// host, nothing with set-id bits, no secret of the environment (T21).
func TestImageHoldsNothingOfTheHost(t *testing.T) {
	const canary = "canary-6b1f0c9e-never-in-an-image"
	t.Setenv("GITHUB_TOKEN", canary)
	t.Setenv("NETRC", canary)
	be := newTestBuilder(t)
	p := newProject(t)
	repo := p.commit(map[string]string{"README": "hello\n"})
	p.git("config", "user.email", canary)
	img := be.mustEnsure(t, Request{Repo: repo})

	info, err := be.unguarded.ImageInspect(newContext(t), img.ID)
	if err != nil {
		t.Fatal(err)
	}
	if info.Config.User != "65532:65532" || info.Config.WorkingDir != "/work" || len(info.Config.Volumes) != 0 ||
		len(info.Config.Entrypoint) != 0 {
		t.Errorf("config %+v", info.Config)
	}
	if env := strings.Join(info.Config.Env, " "); !strings.Contains(env, "HOME=/home/agent") ||
		strings.Contains(env, canary) {
		t.Errorf("environment %q", env)
	}

	host, _ := os.Hostname()
	text := map[string]string{}
	be.eachFile(t, img, func(h *tar.Header, r io.Reader) {
		if h.Mode&0o6000 != 0 {
			t.Errorf("%s has set-id bits", h.Name)
		}
		if strings.HasPrefix(h.Name, "usr/share/doc/") && h.Typeflag == tar.TypeReg {
			t.Errorf("a document: %s", h.Name)
		}
		if h.Typeflag != tar.TypeReg {
			return
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(canary)) {
			t.Errorf("the canary is in %s", h.Name)
		}
		if h.Size < 4096 {
			text[h.Name] = string(data)
		}
	})
	if !strings.Contains(text["etc/passwd"], "\nagent:x:65532:65532::/home/agent:/bin/bash\n") ||
		!strings.Contains(text["etc/group"], "\nagent:x:65532:\n") {
		t.Errorf("accounts: %q", text["etc/passwd"])
	}
	if !strings.Contains(text["etc/gitconfig"], "directory = *") {
		t.Errorf("gitconfig %q", text["etc/gitconfig"])
	}
	if s := text["etc/resolv.conf"] + text["etc/hostname"]; strings.Contains(s, "nameserver") ||
		host != "" && strings.Contains(s, host) {
		t.Errorf("the host's names are in: %q", s)
	}
	for name, s := range text {
		if strings.HasPrefix(name, "etc/apt/sources") && strings.Contains(s, "http") {
			t.Errorf("the host's mirror is in %s", name)
		}
	}
	if !strings.Contains(text[strings.TrimPrefix(ToolboxPath, "/")], t.Name()) {
		t.Error("the toolbox is not there")
	}
}

// Equal layers on equal layers give an equal image; a store that refuses
// partial archives gives an image of equal content.
func TestLayersAreReproducible(t *testing.T) {
	be := newTestBuilder(t)
	req := Request{Repo: newProject(t).commit(map[string]string{"a": "b"})}
	first := be.mustEnsure(t, req)
	drop := func() {
		for _, s := range be.ownLayers(t, req, newBuiltBase()) {
			if err := be.removeTag(context.Background(), s.imageTag()); err != nil {
				t.Fatal(err)
			}
		}
	}
	drop()
	second := be.mustEnsure(t, req)
	if first.ID != second.ID {
		t.Errorf("ids %s and %s", first.ID, second.ID)
	}
	const script = "id -u; stat -c '%U %a %n' /opt/repo.git/HEAD " + ToolboxPath +
		" /opt/repo.git/refs; cd /work && git clone -q " + RepoPath +
		" x && git -C x log --format=%H; pwd; env | grep -E '^(PATH|HOME)='"
	loaded := be.mustRun(t, second, script)
	drop()
	be.forceCommit = true
	committed := be.mustEnsure(t, req)
	if committed.ID == first.ID {
		t.Error("nothing was committed")
	}
	if a, b := loaded, be.mustRun(t, committed, script); a != b || !strings.Contains(a, string(req.Repo.Commit)) {
		t.Errorf("loaded:\n%s\ncommitted:\n%s", a, b)
	}
}

// Many callers at once, in two builders: each layer is made once.
func TestEnsureBuildsOnce(t *testing.T) {
	be := newRacedBuilder(t)
	other := newRacedBuilder(t)
	req := Request{Repo: newProject(t).commit(map[string]string{"a": "b"})}
	be.mustEnsure(t, Request{}) // the shared base is there
	be.dropAtEnd(t, req, newBuiltBase())
	before := be.countProgress("preparing")
	ids := make([]string, 6)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			b := be
			if i%2 == 1 {
				b = other
			}
			img, err := b.Ensure(newContext(t), req)
			if err != nil {
				t.Error(err)
			}
			ids[i] = img.ID
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("images %q", ids)
		}
	}
	if n := be.countProgress("preparing") + other.countProgress("preparing") - before; n != 2 {
		// toolbox as part of this image, and repo
		t.Errorf("%d layers were made, want 2", n)
	}
}

// Set-up commands run as root without a network; what they change is kept.
func TestSetup(t *testing.T) {
	be := newTestBuilder(t)
	img := be.mustEnsure(t, Request{Setup: []string{
		"echo made-by-setup >/etc/setup-note; chown 65532 /etc/setup-note; id -u >/etc/setup-uid",
		"(exec 3<>/dev/tcp/1.1.1.1/53) 2>/dev/null || ls /sys/class/net >/etc/setup-net",
	}})
	out := be.mustRun(t, img, "cat /etc/setup-note /etc/setup-uid /etc/setup-net; id -u; ls /opt")
	if want := "made-by-setup\n0\nlo\n65532\n"; !strings.HasPrefix(out, want) || strings.Contains(out, "out.log") {
		t.Errorf("%q, want %q", out, want)
	}

	bad := Request{Setup: []string{"true", "echo this is why >&2; exit 7"}}
	be.dropAtEnd(t, bad, newBuiltBase())
	_, err := be.Ensure(newContext(t), bad)
	requireCode(t, err, company.EImage, "exit code 7", "this is why")
}

// A cancelled build takes its container and its files along.
func TestCancelLeavesNothing(t *testing.T) {
	be := newRacedBuilder(t)
	be.mustEnsure(t, Request{})
	req := Request{Setup: []string{"sleep 600"}}
	be.dropAtEnd(t, req, newBuiltBase())
	setup := be.ownLayers(t, req, newBuiltBase())[0]
	name := dockerapi.BuildPrefix + setup.uniqueName()
	ctx, cancel := context.WithCancel(newContext(t))
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := be.Ensure(ctx, req)
		done <- err
	}()
	hosttest.Eventually(t, "the container runs", func() (any, bool) {
		info, err := be.unguarded.ContainerInspect(ctx, name)
		if err != nil && !cerrdefs.IsNotFound(err) {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			t.Fatalf("ended early: %v", err)
		default:
		}
		return err, err == nil && info.State.Running
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := be.unguarded.ContainerInspect(context.Background(), name); !cerrdefs.IsNotFound(err) {
		t.Errorf("the build container is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(be.dir, "tmp", setup.uniqueName())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("temporary files are still there: %v", err)
	}
}

// What a killed builder left is swept by the next one; what only has the name
// is somebody else's.
func TestSweepKilledBuild(t *testing.T) {
	be := newRacedBuilder(t)
	be.mustEnsure(t, Request{})
	req := Request{Setup: []string{"true"}}
	own := be.ownLayers(t, req, newBuiltBase())
	setup := own[0]
	name := dockerapi.BuildPrefix + setup.uniqueName()
	drop := func() {
		err := be.unguarded.ContainerRemove(context.Background(), name, container.RemoveOptions{Force: true})
		if err != nil && !cerrdefs.IsNotFound(err) {
			t.Error(err)
		}
		be.dropLayers(t, own)
	}
	drop() // what a killed run of this test left
	t.Cleanup(drop)
	left := filepath.Join(be.dir, "tmp", setup.uniqueName(), "deep")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	make := func(labels map[string]string) string {
		img, err := be.Ensure(newContext(t), Request{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := be.unguarded.ContainerCreate(
			newContext(t), &container.Config{Image: img.ID, Labels: labels}, &container.HostConfig{}, nil, nil, name)
		if err != nil {
			t.Fatal(err)
		}
		return c.ID
	}
	foreign := make(map[string]string{labelKind: ""})
	_, err := be.Ensure(newContext(t), req)
	requireCode(t, err, company.EImage, "a foreign container is named")
	if _, err := be.unguarded.ContainerInspect(newContext(t), foreign); err != nil {
		t.Errorf("a foreign container was touched: %v", err)
	}
	if err := be.unguarded.ContainerRemove(newContext(t), foreign, container.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}

	old := make(map[string]string{labelKind: "build"})
	if _, err := be.Ensure(newContext(t), req); err != nil {
		t.Fatal(err)
	}
	if _, err := be.unguarded.ContainerInspect(newContext(t), old); !cerrdefs.IsNotFound(err) {
		t.Errorf("the old container is still there: %v", err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old files are still there: %v", err)
	}
}

// The work directory of a layer, by which the next builder finds what a killed one left,
// stays while the layers above are made and what its build left is removed.
func TestWorkDirStaysUntilTheRestIsRemoved(t *testing.T) {
	be := newRacedBuilder(t)
	removing := make(chan struct{})
	var dir string
	var seen error
	lower := layerStep{kind: "lower", key: hashKey(t.Name(), "lower"), repository: layerRepository}
	lower.build = func(_ context.Context, _ *existingImage, s layerStep, work string) (*existingImage, error) {
		dir = work
		s.rest.Go(func() {
			<-removing
			_, seen = os.Stat(work)
		})
		return &existingImage{}, nil
	}
	upper := layerStep{kind: "upper", key: hashKey(t.Name(), "upper"), repository: layerRepository}
	upper.build = func(context.Context, *existingImage, layerStep, string) (*existingImage, error) {
		close(removing)
		return &existingImage{}, nil
	}
	if _, err := be.ensureSteps(newContext(t), []layerStep{lower, upper}); err != nil || seen != nil {
		t.Errorf("%v; the work directory meanwhile: %v", err, seen)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the work directory is still there: %v", err)
	}
}

// What a builder left that was killed after its layer was there is swept too, by the
// next one that works; what one leaves that is at work is not.
func TestSweepFinishedBuild(t *testing.T) {
	be, beside, next := newRacedBuilder(t), newRacedBuilder(t), newRacedBuilder(t)
	img := be.mustEnsure(t, Request{})
	top := img.Layers[len(img.Layers)-1]
	name := layerStep{kind: top.Kind, key: top.Key}.uniqueName()
	left := filepath.Join(be.dir, "tmp", name)
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	unlock, err := be.lockLayer(newContext(t), name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := be.unguarded.ContainerCreate(
		newContext(t), &container.Config{Image: img.ID, Labels: map[string]string{labelKind: "build"}},
		&container.HostConfig{}, nil, nil, dockerapi.BuildPrefix+top.Kind+"-"+name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := be.unguarded.ContainerRemove(context.Background(), c.ID, container.RemoveOptions{}); err != nil &&
			!cerrdefs.IsNotFound(err) {
			t.Error(err)
		}
	})
	isThere := func() bool {
		_, err := be.unguarded.ContainerInspect(newContext(t), c.ID)
		_, dirErr := os.Stat(left)
		if (err == nil) != (dirErr == nil) {
			t.Errorf("the container: %v; the files: %v", err, dirErr)
		}
		return err == nil
	}
	if beside.sweepKilled(newContext(t)); !isThere() {
		t.Error("what a builder at work has was swept")
	}
	unlock()
	if next.sweepKilled(newContext(t)); isThere() {
		t.Error("what a killed builder left is still there")
	}
}

// Prune takes what it is told to, of what is ours.
func TestPrune(t *testing.T) {
	be := newTestBuilder(t)
	img := be.mustEnsure(t, Request{})
	foreign := "company-test/foreign:" + strings.ToLower(t.Name())
	if err := be.unguarded.ImageTag(newContext(t), img.ID, foreign); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := be.unguarded.ImageRemove(context.Background(), foreign, imageRemove); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{string(img.Key), img.ID, img.Tag} {
		unused, err := be.Unused(newContext(t), []string{name}, false)
		if err != nil || unused(ImageEntry{ID: img.ID, Tag: img.Tag, IsWorkerImage: true, Layers: img.Layers}) {
			t.Errorf("%s keeps nothing, %v", name, err)
		}
	}
	mine := func(e ImageEntry) bool { return e.ID == img.ID }
	if n, err := be.Prune(newContext(t), mine); err != nil || n != 1 {
		t.Errorf("%d images removed, error %v", n, err)
	}
	if _, err := be.unguarded.ImageInspect(newContext(t), foreign); err != nil {
		t.Errorf("a name that is not ours was removed: %v", err)
	}
	left, err := be.List(newContext(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if e.Tag == img.Tag {
			t.Errorf("%s is still there", e.Tag)
		}
	}
}

func TestCheck(t *testing.T) {
	be := newTestBuilder(t)
	be.mustEnsure(t, Request{Toolchains: []string{"go"}})
	for _, s := range be.Check(newContext(t)) {
		if !s.OK || s.Detail == "" {
			t.Errorf("%+v", s)
		}
	}
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
	dead, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(dead.Close)
	got := dead.Check(newContext(t))
	if len(got) != 1 || got[0].OK || got[0].Hint == "" {
		t.Errorf("without a daemon: %+v", got)
	}
	_, err = dead.Ensure(newContext(t), Request{})
	requireCode(t, err, company.EDocker, "the Docker daemon does not answer")
}
