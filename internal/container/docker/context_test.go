package docker

import (
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
)

// The daemon of the current context of Docker's own client is used, and it is named where it matters.
func TestContextOfDockersClient(t *testing.T) {
	d, _ := newFakeDaemon(t)
	home := t.TempDir()
	socket := filepath.Join(home, "colima.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(d)
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	defer server.Close()
	const id = "f24fd3749c1368328e2b149bec149cb6795619f244c5b584e844961215dadd16" // SHA-256 of "colima"
	for name, text := range map[string]string{
		"config.json":                           `{"currentContext": "colima"}`,
		"contexts/meta/" + id + "/meta.json":    `{"Name":"colima","Endpoints":{"docker":{"Host":"unix://` + socket + `"}}}`,
		"contexts/meta/not-a-context/meta.json": `{`,
	} {
		file := filepath.Join(home, ".docker", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("DOCKER_HOST", "")
	facts, err := d.open(t).Check(testContext(t))
	if err != nil || !strings.Contains(facts[0].Value, "unix://"+socket+" (context colima of "+home+"/.docker/config.json)") {
		t.Fatalf("%+v, %v", facts, err)
	}
	server.Close()
	_, err = Open(testContext(t), Options{})
	if requireCode(t, err, company.EDocker); !strings.Contains(err.Error(), "context colima of") {
		t.Error(err)
	}
}
