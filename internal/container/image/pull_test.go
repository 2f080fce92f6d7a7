package image

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/lib/hosttest"

	"github.com/docker/docker/api/types/image"
)

// imageRemove removes an image with its parents that have no tag: requests of a test may share
// a base, whose tag the first of these to end takes away.
var imageRemove = image.RemoveOptions{PruneChildren: true}

// registry is the reading half of a Docker registry with one image. The daemon
// speaks plain HTTP to one on 127.0.0.1.
type pullRegistry struct {
	*httptest.Server
	blobs map[string][]byte
	types map[string]string
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func newPullRegistry(t *testing.T) *pullRegistry {
	r := &pullRegistry{blobs: map[string][]byte{}, types: map[string]string{}}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name := req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:]
		switch data, ok := r.blobs[name]; {
		case req.URL.Path == "/v2/":
		case ok:
			w.Header().Set("Content-Type", r.types[name])
			w.Header().Set("Docker-Content-Digest", name)
			_, _ = w.Write(data)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}`)
		}
	}))
	_ = r.Listener.Close()
	r.Listener = hosttest.ListenOnHost(t) // where the daemon is
	r.Start()
	t.Cleanup(r.Close)
	return r
}

func (r *pullRegistry) put(kind string, data []byte) map[string]any {
	d := digest(data)
	r.blobs[d], r.types[d] = data, kind
	return map[string]any{"mediaType": kind, "size": len(data), "digest": d}
}

// push makes an image of one layer and returns its pinned name.
func (r *pullRegistry) push(t *testing.T, config map[string]any, files []tar.Header) string {
	t.Helper()
	var layer bytes.Buffer
	tw := tar.NewWriter(&layer)
	for _, h := range files {
		body := ""
		if h.Typeflag == tar.TypeReg {
			body = "content of " + h.Name + "\n"
			h.Size = int64(len(body))
		}
		if err := tw.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(tw, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	encode := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	cfg := encode(map[string]any{"architecture": arch, "os": "linux", "config": config,
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest(layer.Bytes())}}})
	const v2 = "application/vnd.docker.distribution.manifest.v2+json"
	m := r.put(v2, encode(map[string]any{"schemaVersion": 2, "mediaType": v2,
		"config": r.put("application/vnd.docker.container.image.v1+json", cfg),
		"layers": []any{r.put("application/vnd.docker.image.rootfs.diff.tar", layer.Bytes())}}))
	return strings.TrimPrefix(r.URL, "http://") + "/some/base@" + m["digest"].(string)
}

func regularHeader(name string, mode int64) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode}
}

// A base pinned by digest is pulled from a real registry and flattened: no
// volumes, no set-id bits, our user; its search path is kept.
func TestPulledBase(t *testing.T) {
	be := newTestBuilder(t)
	r := newPullRegistry(t)
	ref := r.push(t, map[string]any{
		"Env": []string{"PATH=/opt/their/bin:/usr/bin", "HOME=/root", "THEIR=kept", "ODD=a b$(c)"}, "User": "root",
		"Entrypoint": []string{"/evil"},
		"Volumes":    map[string]any{"/data": map[string]any{}},
	}, []tar.Header{regularHeader("bin/sh", 0o755), regularHeader("usr/bin/git", 0o755),
		regularHeader("usr/bin/su", 0o4755), regularHeader("etc/passwd", 0o644), regularHeader("data/x", 0o644),
		regularHeader("etc/gitconfig", 0o644)})
	req := Request{Base: ref}
	be.dropAtEnd(t, req, newPulledBase(ref))
	t.Cleanup(func() {
		if _, err := be.unguarded.ImageRemove(context.Background(), ref, imageRemove); err != nil {
			t.Error(err)
		}
	})
	img, err := be.Ensure(newContext(t), req)
	if err != nil {
		t.Fatal(err)
	}
	info, err := be.unguarded.ImageInspect(newContext(t), img.ID)
	if err != nil {
		t.Fatal(err)
	}
	c := info.Config
	if len(c.Volumes) != 0 || len(c.Entrypoint) != 0 || c.User != "65532:65532" {
		t.Errorf("config %+v", c)
	}
	if env := strings.Join(c.Env, " "); !strings.Contains(env, "PATH=/opt/their/bin:/usr/bin") ||
		!strings.Contains(env, "THEIR=kept") ||
		!strings.Contains(env, "HOME=/home/agent") || strings.Contains(env, "ODD") || strings.Contains(env, "/root") {
		t.Errorf("environment %q", env)
	}
	found := map[string]bool{}
	be.eachFile(t, img, func(h *tar.Header, r io.Reader) {
		found[h.Name] = true
		if h.Mode&0o6000 != 0 {
			t.Errorf("%s has set-id bits", h.Name)
		}
		if h.Name == "etc/passwd" {
			if text, _ := io.ReadAll(r); !strings.Contains(string(text), "agent:x:65532") {
				t.Errorf("passwd %q", text)
			}
		}
	})
	if !found["usr/bin/su"] || !found["data/x"] {
		t.Error("files of the pulled image are missing")
	}

	// What the registry does not have is an error, and no reason for another base.
	unknown := ref[:len(ref)-64] + strings.Repeat("0", 64)
	be.dropAtEnd(t, Request{Base: unknown}, newPulledBase(unknown))
	_, err = be.Ensure(newContext(t), Request{Base: unknown})
	requireCode(t, err, company.EImage, "cannot pull the image")

	// An image without git is not a base.
	none := r.push(t, nil, []tar.Header{regularHeader("bin/sh", 0o755)})
	be.dropAtEnd(t, Request{Base: none}, newPulledBase(none))
	t.Cleanup(func() { _, _ = be.unguarded.ImageRemove(context.Background(), none, imageRemove) })
	_, err = be.Ensure(newContext(t), Request{Base: none})
	requireCode(t, err, company.EImage, "has no git")
}

// Where no registry answers, a base is built; for an hour nobody asks again.
func TestUnreachableRegistryBuildsBase(t *testing.T) {
	be := newTestBuilder(t)
	ref := "127.0.0.1:1/some/base@sha256:" + strings.Repeat("a", 64)
	req := Request{Base: ref}
	pulled := be.ownLayers(t, req, newPulledBase(ref))
	marker := filepath.Join(be.dir, pulled[0].uniqueName()+".unreachable")
	forget := func() {
		_ = os.Remove(marker)
		_ = os.Remove(filepath.Join(be.dir, "locks", pulled[0].uniqueName()))
	}
	forget() // what a test that was killed has left
	t.Cleanup(forget)
	be.dropAtEnd(t, req, newBuiltBase())
	img, err := be.Ensure(newContext(t), req)
	if err != nil {
		t.Fatal(err)
	}
	if be.countProgress("no registry answers") != 1 || be.countProgress("pulling") != 1 {
		t.Errorf("said %q", be.progressLines)
	}
	auto, err := be.Ensure(newContext(t), Request{})
	if err != nil || auto.ID != img.ID {
		t.Errorf("image %v, want the built one %v; error %v", img, auto, err)
	}
	if _, err := be.Ensure(newContext(t), req); err != nil || be.countProgress("pulling") != 1 {
		t.Errorf("asked again: %q, error %v", be.progressLines, err)
	}
	// The clock was set back since: nobody knows how long ago it was asked.
	ahead := time.Now().Add(24 * time.Hour)
	if err := os.Chtimes(marker, ahead, ahead); err != nil {
		t.Fatal(err)
	}
	if _, err := be.Ensure(newContext(t), req); err != nil || be.countProgress("pulling") != 2 {
		t.Errorf("not asked again: %q, error %v", be.progressLines, err)
	}
}
