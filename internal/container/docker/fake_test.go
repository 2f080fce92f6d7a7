package docker

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types"
	dockercontainer "github.com/docker/docker/api/types/container"
	dockerimage "github.com/docker/docker/api/types/image"
	dockernetwork "github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/system"
)

// fakeDaemon speaks as much of the engine's API as a start needs, and lies
// where a test tells it to. It keeps one container at a time.
type fakeDaemon struct {
	alter       func(*dockercontainer.InspectResponse) // before an inspect is answered
	createFails func(*dockercontainer.HostConfig) bool
	info        system.Info
	image       dockerimage.InspectResponse

	mu       sync.Mutex
	got      *dockercontainer.InspectResponse
	started  int
	removed  int
	filled   int           // archives put into the container
	gone     chan struct{} // closed when the container is removed
	requests []string
}

const fakeID = "f00df00df00df00df00df00df00df00df00df00df00df00df00df00df00df00d"

func newFakeDaemon(t *testing.T) (*fakeDaemon, *Runtime) {
	t.Helper()
	d := &fakeDaemon{
		info:  system.Info{OSType: "linux", NCPU: 64, Driver: "overlay2", DefaultRuntime: "runc", MemTotal: 64 << 30},
		image: dockerimage.InspectResponse{ID: world.image},
	}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	t.Setenv("DOCKER_HOST", strings.Replace(server.URL, "http", "tcp", 1))
	return d, d.open(t)
}

// open connects again, which reads the info again.
func (d *fakeDaemon) open(t *testing.T) *Runtime {
	t.Helper()
	r, err := Open(testContext(t), Options{})
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

func (d *fakeDaemon) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Api-Version", "1.41")
	w.Header().Set("Ostype", "linux")
	path := strings.TrimPrefix(req.URL.Path, "/v1.41")
	d.mu.Lock()
	d.requests = append(d.requests, req.Method+" "+path)
	d.mu.Unlock()
	switch one := "/containers/" + fakeID; {
	case path == "/_ping":
	case path == "/info":
		answer(w, http.StatusOK, d.info)
	case path == "/version":
		answer(w, http.StatusOK, types.Version{APIVersion: "1.41"})
	case strings.HasPrefix(path, "/images/"):
		answer(w, http.StatusOK, d.image)
	case path == "/containers/create":
		d.create(w, req)
	case path == one+"/attach":
		hijack(w)
	case path == one+"/wait":
		d.wait(w, req)
	case path == one+"/start":
		d.mu.Lock()
		d.started++
		d.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	case req.Method == http.MethodPut && strings.HasSuffix(path, "/archive"):
		_, _ = io.Copy(io.Discard, req.Body)
		d.mu.Lock()
		d.filled++
		d.mu.Unlock()
	case path == one && req.Method == http.MethodDelete:
		d.mu.Lock()
		d.removed++
		d.got = nil
		close(d.gone)
		d.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	case strings.HasSuffix(path, "/json"):
		d.inspect(w)
	default:
		answer(w, http.StatusNotFound, types.ErrorResponse{Message: "no such thing: " + path})
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// create answers like Docker 20.10: the defaults that it fills in are these.
func (d *fakeDaemon) create(w http.ResponseWriter, req *http.Request) {
	var body dockercontainer.CreateRequest
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		answer(w, http.StatusBadRequest, types.ErrorResponse{Message: err.Error()})
		return
	}
	if d.createFails != nil && d.createFails(body.HostConfig) {
		answer(w, http.StatusInternalServerError, types.ErrorResponse{Message: "--storage-opt is not supported"})
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	h, no := body.HostConfig, false
	h.MaskedPaths, h.ReadonlyPaths, h.Runtime, h.OomKillDisable = masked, readOnly, "runc", &no
	d.gone = make(chan struct{})
	d.got = &dockercontainer.InspectResponse{
		ContainerJSONBase: &dockercontainer.ContainerJSONBase{
			ID: fakeID, Name: "/" + req.URL.Query().Get("name"), Image: body.Config.Image,
			Path: body.Config.Entrypoint[0], Args: body.Config.Entrypoint[1:],
			State: &dockercontainer.State{Status: "created"}, HostConfig: h,
		},
		Config:          body.Config,
		NetworkSettings: &dockercontainer.NetworkSettings{Networks: map[string]*dockernetwork.EndpointSettings{"none": {}}},
	}
	answer(w, http.StatusCreated, dockercontainer.CreateResponse{ID: fakeID})
}

// inspect lies in a copy, so that the labels asked for at removal are right.
func (d *fakeDaemon) inspect(w http.ResponseWriter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.got == nil {
		answer(w, http.StatusNotFound, types.ErrorResponse{Message: "No such container"})
		return
	}
	b, err := json.Marshal(d.got)
	var lie dockercontainer.InspectResponse
	if err == nil {
		err = json.Unmarshal(b, &lie)
	}
	if err != nil {
		answer(w, http.StatusInternalServerError, types.ErrorResponse{Message: err.Error()})
		return
	}
	if d.alter != nil {
		d.alter(&lie)
		d.alter = nil // once: the look before the removal is honest
	}
	answer(w, http.StatusOK, lie)
}

func (d *fakeDaemon) wait(w http.ResponseWriter, req *http.Request) {
	d.mu.Lock()
	gone := d.gone
	d.mu.Unlock()
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	select {
	case <-gone:
		_ = json.NewEncoder(w).Encode(dockercontainer.WaitResponse{StatusCode: 137})
	case <-req.Context().Done():
	}
}

// hijack takes the connection over and keeps it until the other side closes.
func hijack(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
	var b [1]byte
	for {
		if _, err := conn.Read(b[:]); err != nil {
			return
		}
	}
}
