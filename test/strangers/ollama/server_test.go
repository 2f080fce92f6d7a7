//go:build strangers

package ollama

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ollama/ollama/api"

	"company/internal/lib/hosttest"
	"company/test/safebuffer"
)

// server is a real Ollama server with folders of its own.
type server struct {
	t    *testing.T
	bin  string
	dir  string
	addr string
	api  *api.Client

	cmd *exec.Cmd
	log safebuffer.Buffer
}

// serve starts the server on a port of its own.
func serve(t *testing.T, bin string) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, bin: bin, dir: t.TempDir(), addr: l.Addr().String()}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s.api = api.NewClient(&url.URL{Scheme: "http", Host: s.addr}, http.DefaultClient)
	t.Cleanup(func() { http.DefaultClient.CloseIdleConnections() })
	t.Cleanup(s.kill)
	s.start()
	return s
}

// start starts the server and waits until it answers.
func (s *server) start() {
	s.t.Helper()
	cmd := exec.Command(s.bin, "serve")
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "OLLAMA_HOST="+s.addr, "OLLAMA_MODELS="+filepath.Join(s.dir, "models"),
		"OLLAMA_NUM_PARALLEL=1")
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its runners are killed with it
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.cmd = cmd
	hosttest.Eventually(s.t, "the server answers", func() (any, bool) {
		_, err := s.api.Version(s.t.Context())
		return s.log.String(), err == nil
	})
}

// kill ends the server and the models' processes at once.
func (s *server) kill() {
	if s.cmd == nil {
		return
	}
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	_ = s.cmd.Wait() // killed
	s.cmd = nil
}

// templates of the models: with tools, as a model that can call them has it,
// and without.
const (
	withTools = `{{ if .Tools }}tools: {{ range .Tools }}{{ .Function.Name }} {{ end }}{{ end }}{{ range .Messages }}<{{ .Role }}> {{ .Content }}
{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "parameters": {{ .Function.Arguments }}}{{ end }}
{{ end }}<assistant> `
	plain = `{{ range .Messages }}<{{ .Role }}> {{ .Content }}
{{ end }}<assistant> `
)

// create makes a model of a file.
func (s *server) create(name, template string, file []byte) {
	s.t.Helper()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(file))
	if err := s.api.CreateBlob(s.t.Context(), digest, bytes.NewReader(file)); err != nil {
		s.t.Fatal(err)
	}
	err := s.api.Create(s.t.Context(),
		&api.CreateRequest{Model: name, Template: template, Files: map[string]string{"tiny.gguf": digest}},
		func(api.ProgressResponse) error {
			return nil
		})
	if err != nil {
		s.t.Fatalf("create %s: %v", name, err)
	}
}

// models makes those of the exercise.
func (s *server) models() {
	file := tinyModel(7)
	s.create("plain", plain, file)
	s.create("broken", withTools, bytes.Replace(file, []byte("blk.1.ffn_up.weight"), []byte("blk.1.ffn_xx.weight"), 1))
	strange := slices.Clone(file) // an architecture that nobody knows
	strange = bytes.Replace(strange, []byte("\x05\x00\x00\x00\x00\x00\x00\x00llama\x0c"),
		[]byte("\x05\x00\x00\x00\x00\x00\x00\x00llamb\x0c"), 1)
	s.create("strange", withTools, strange)
	s.create("tiny", withTools, file)
}

// replying waits until a model is loaded: then a reply is on its way.
func (s *server) replying() {
	s.t.Helper()
	hosttest.Eventually(s.t, "the model is asked", func() (any, bool) {
		said := s.log.String()
		return said, strings.Contains(said, "llama runner started")
	})
}
