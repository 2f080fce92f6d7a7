package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
)

// packProgram returns a package with a program, and a link in its place first.
func packProgram(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: "package/bin/agent", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})
	for name, text := range files {
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o6777, Size: int64(len(text)),
				Typeflag: tar.TypeReg})
		}
		if err == nil {
			_, err = io.WriteString(w, text)
		}
	}
	for _, end := range []func() error{w.Close, z.Close} {
		if err == nil {
			err = end()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// An image for a program has its listed files, and nothing else of its package. Images without one keep their layers.
func TestProgramLayer(t *testing.T) {
	be := newTestBuilder(t)
	packed := packProgram(t, map[string]string{"bin/agent": "#!/bin/sh\necho \"agent $1\"\n",
		"postinstall.sh": "touch /ran\n"})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/@acme/agent/-/agent-1.0.0.tgz" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(packed)
	}))
	t.Cleanup(server.Close)
	up := upstreams()
	up.Registries["npm"] = ecosystem.At(ecosystem.Endpoint{URL: server.URL})
	useRegistries(t, be, up, t.TempDir())
	sum := sha512.Sum512(packed)
	program := Program{Name: "agent", Version: "1.0.0", Package: "@acme/agent",
		Integrity: "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		Files:     map[string]string{"bin/agent": "agent"}}
	repo := newProject(t).commit(map[string]string{"README": "hello\n"})
	img := be.mustEnsure(t, Request{Repo: repo, Programs: []Program{program}})
	out := be.mustRun(t, img, program.Path()+" 7; ls -l /opt/agents/agent; ls /ran 2>&1 || true")
	if !strings.Contains(out, "agent 7\n") || !strings.Contains(out, "-rwxr-xr-x 1 root root") ||
		strings.Contains(out, "postinstall") || !strings.Contains(out, "cannot access '/ran'") {
		t.Error(out)
	}
	plain, _, err := be.planLayers(newContext(t), Request{Repo: repo}, newBuiltBase())
	if err != nil || slices.ContainsFunc(plain, func(s layerStep) bool { return s.kind == "agents" }) {
		t.Errorf("%v", err)
	}

	for name, x := range map[string]struct {
		change func(*Program)
		req    Request
		says   string
	}{
		"another digest": {change: func(p *Program) {
			p.Integrity = "sha512-" +
				base64.StdEncoding.EncodeToString(make([]byte, 64))
		},
			says: "cannot fetch agent 1.0.0"},
		"another version": {change: func(p *Program) { p.Version = "2.0.0" }, says: "cannot fetch agent 2.0.0"},
		"a file that it lacks": {change: func(p *Program) { p.Files = map[string]string{"bin/other": "other"} },
			says: "@acme/agent 1.0.0 lacks bin/other"},
		"no registry": {change: func(*Program) {}, req: Request{Offline: true}, says: "agent 1.0.0 cannot be fetched"},
	} {
		changed := program
		x.change(&changed)
		x.req.Repo, x.req.Programs = repo, []Program{changed}
		_, err := be.Ensure(newContext(t), x.req)
		if company.CodeOf(err) != company.EImage || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
