package docker

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	dockercontainer "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	dockernetwork "github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"

	"company/internal/company"
	"company/internal/container/dockerapi"
)

// CTR-2: what is not on the list is refused before it reaches the daemon, and
// logged; through the real client, by the methods it offers.
func TestAllowListRefuses(t *testing.T) {
	d, _ := newFakeDaemon(t)
	var log bytes.Buffer
	r, err := Open(testContext(t), Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cli, id := r.api, fakeID
	for name, call := range map[string]func(context.Context) error{
		"exec": func(ctx context.Context) error {
			_, err := cli.ContainerExecCreate(ctx, id, dockercontainer.ExecOptions{Cmd: []string{"sh"}})
			return err
		},
		"copy out": func(ctx context.Context) error { _, _, err := cli.CopyFromContainer(ctx, id, "/"); return err },
		"copy in": func(ctx context.Context) error {
			return cli.CopyToContainer(ctx, id, "/", strings.NewReader(""), dockercontainer.CopyToContainerOptions{})
		},
		"commit": func(ctx context.Context) error {
			_, err := cli.ContainerCommit(ctx, id, dockercontainer.CommitOptions{})
			return err
		},
		"update": func(ctx context.Context) error {
			_, err := cli.ContainerUpdate(ctx, id, dockercontainer.UpdateConfig{})
			return err
		},
		"rename": func(ctx context.Context) error { return cli.ContainerRename(ctx, id, "x") },
		"logs": func(ctx context.Context) error {
			_, err := cli.ContainerLogs(ctx, id, dockercontainer.LogsOptions{ShowStdout: true})
			return err
		},
		"restart": func(ctx context.Context) error {
			return cli.ContainerRestart(ctx, id, dockercontainer.StopOptions{})
		},
		"prune": func(ctx context.Context) error { _, err := cli.ContainersPrune(ctx, filters.Args{}); return err },
		"network": func(ctx context.Context) error {
			return cli.NetworkConnect(ctx, "bridge", id, &dockernetwork.EndpointSettings{})
		},
		"volume": func(ctx context.Context) error {
			_, err := cli.VolumeCreate(ctx, volume.CreateOptions{})
			return err
		},
		"remove volumes": func(ctx context.Context) error {
			return cli.ContainerRemove(ctx, id, dockercontainer.RemoveOptions{RemoveVolumes: true})
		},
		"sizes": func(ctx context.Context) error {
			_, err := cli.ContainerList(ctx, dockercontainer.ListOptions{Size: true})
			return err
		},
		"checkpoint": func(ctx context.Context) error {
			return cli.ContainerStart(ctx, id, dockercontainer.StartOptions{CheckpointID: "x"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d.mu.Lock()
			before := len(d.requests)
			d.mu.Unlock()
			log.Reset()
			err := dockerapi.WrapError("try", call(testContext(t)))
			requireCode(t, err, company.EPolicy)
			if !strings.Contains(log.String(), "docker request refused") {
				t.Errorf("not logged: %q", log.String())
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			if len(d.requests) != before {
				t.Errorf("the daemon saw %v", d.requests[before:])
			}
		})
	}
}

// CTR-2: the operator may allow less, word by word, and nothing more.
func TestOperatorAllowsLess(t *testing.T) {
	d, _ := newFakeDaemon(t)
	r, err := Open(testContext(t),
		Options{Allow: []dockerapi.Word{dockerapi.WordRun, dockerapi.WordInspect, dockerapi.WordRemove}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := mustStart(t, r, newSpec("echo"))
	requireCode(t, c.Kill(testContext(t)), company.EPolicy)
	if err := c.Remove(testContext(t)); err != nil {
		t.Error(err)
	}

	none, err := Open(testContext(t), Options{Allow: []dockerapi.Word{dockerapi.WordInspect}})
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	_, err = none.Start(testContext(t), newSpec("echo"))
	requireCode(t, err, company.EPolicy)
	_, err = none.api.Attach(testContext(t), fakeID) // past any RoundTripper
	requireCode(t, err, company.EPolicy)
	attach := "POST /containers/" + fakeID + "/attach"
	if n := slices.Index(d.requests, attach); n < 0 || slices.Contains(d.requests[n+1:], attach) {
		t.Errorf("not one attach, the allowed one, in %v", d.requests)
	}

	_, err = Open(testContext(t), Options{Allow: []dockerapi.Word{"exec"}})
	requireCode(t, err, company.EConfig)
	_, err = Open(testContext(t), Options{Allow: []dockerapi.Word{}})
	requireCode(t, err, company.EPolicy)
}

// The guard must not cost the client its TLS settings, nor TLS the guard.
func TestGuardOverTLS(t *testing.T) {
	d, _ := newFakeDaemon(t)
	server := httptest.NewTLSServer(d)
	defer server.Close()
	dir := t.TempDir()
	cert := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
	for name, data := range map[string][]byte{
		"ca.pem": public, "cert.pem": public,
		"key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("DOCKER_CERT_PATH", dir)
	t.Setenv("DOCKER_TLS_VERIFY", "1")
	t.Setenv("DOCKER_HOST", strings.Replace(server.URL, "https", "tcp", 1))

	r := d.open(t)
	c := mustStart(t, r, newSpec("echo"))
	if err := c.Remove(testContext(t)); err != nil {
		t.Error(err)
	}
	if d.started != 1 {
		t.Errorf("started %d times", d.started)
	}
	_, err = r.api.ContainerExecCreate(testContext(t), fakeID, dockercontainer.ExecOptions{Cmd: []string{"sh"}})
	requireCode(t, dockerapi.WrapError("exec", err), company.EPolicy)
}

// A daemon that accepts the connection and never upgrades it must not hold a
// start for ever.
func TestAttachHonoursItsContext(t *testing.T) {
	d, _ := newFakeDaemon(t)
	asked, release := make(chan struct{}), make(chan struct{})
	stalled := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/attach") {
			close(asked)
			<-release
			return
		}
		d.ServeHTTP(w, req)
	}))
	defer stalled.Close()
	defer close(release)
	t.Setenv("DOCKER_HOST", strings.Replace(stalled.URL, "http", "tcp", 1))
	r := d.open(t)
	ctx, cancel := context.WithCancel(testContext(t))
	go func() {
		<-asked
		cancel()
	}()
	_, err := r.Start(ctx, newSpec("echo"))
	requireCode(t, err, company.EDocker)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is lost: %v", err)
	}
	if d.removed != 1 || d.started != 0 {
		t.Errorf("removed %d times, started %d times", d.removed, d.started)
	}
}

// The address that the options name goes before DOCKER_HOST, and a removal that the
// daemon does not answer ends after the time that they give (CTR-5).
func TestCleanupHasItsTime(t *testing.T) {
	d, _ := newFakeDaemon(t)
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodDelete {
			select {
			case <-release:
			case <-req.Context().Done():
				return
			}
		}
		d.ServeHTTP(w, req)
	}))
	defer silent.Close()
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
	r, err := Open(testContext(t),
		Options{Host: strings.Replace(silent.URL, "http", "tcp", 1), Cleanup: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	c := mustStart(t, r, newSpec("echo"))
	err = c.Remove(testContext(t))
	requireCode(t, err, company.ETimeout)
	close(release)
	if err := c.Remove(testContext(t)); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
