package dockerapi

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
)

// writeFile writes a file with its folders.
func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeContext stores a context as docker context create does, and returns its id.
func writeContext(t *testing.T, folder, name, host string) string {
	t.Helper()
	id := fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	text, err := json.Marshal(map[string]any{"Name": name, "Metadata": map[string]string{},
		"Endpoints": map[string]any{"docker": map[string]any{"Host": host, "SkipTLSVerify": name == "unverified"}}})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(folder, "contexts/meta", id, "meta.json"), string(text))
	return id
}

// The daemon is the one of Docker's own client, and what cannot be used is refused in words.
func TestFindDaemon(t *testing.T) {
	home := t.TempDir()
	folder := filepath.Join(home, ".docker")
	for name, host := range map[string]string{"colima": "unix:///c/docker.sock", "remote": "tcp://host:2375",
		"far": "ssh://me@host", "unverified": "tcp://host:2376", "none": ""} {
		writeContext(t, folder, name, host)
	}
	secured := writeContext(t, folder, "secured", "tcp://host:2376")
	writeFile(t, filepath.Join(folder, "contexts/tls", secured, "docker/ca.pem"), "x")
	torn := writeContext(t, folder, "torn", "")
	writeFile(t, filepath.Join(folder, "contexts/meta", torn, "meta.json"), "{")
	other := filepath.Join(home, "other")
	writeContext(t, other, "desktop", "unix:///d/docker.sock")
	writeFile(t, filepath.Join(other, "config.json"), `{"auths": {}, "currentContext": "desktop"}`)
	standard := filepath.Join(home, "standard.sock")
	writeFile(t, standard, "")
	const colima = `{"currentContext":"colima"}`
	for name, c := range map[string]struct {
		current string // text of the client's config; empty means no such file
		env     string
		want    string
		errors  []string
	}{
		"nothing set":     {},
		"no context":      {current: `{"auths":{}}`},
		"default":         {current: `{"currentContext":"default"}`},
		"DOCKER_HOST":     {current: colima, env: "DOCKER_HOST=tcp://x:1", want: "tcp://x:1 (DOCKER_HOST)"},
		"current context": {current: colima, want: "unix:///c/docker.sock (context colima of " + folder + "/config.json)"},
		"DOCKER_CONTEXT": {current: colima, env: "DOCKER_CONTEXT=remote",
			want: "tcp://host:2375 (context remote of DOCKER_CONTEXT)"},
		"back to default": {current: colima, env: "DOCKER_CONTEXT=default"},
		"DOCKER_CONFIG": {env: "DOCKER_CONFIG=" + other,
			want: "unix:///d/docker.sock (context desktop of " + other + "/config.json)"},
		"a torn config": {current: `{"currentContext`,
			want: " (not read: " + folder + "/config.json: unexpected end of JSON input)"},
		"no such context": {current: `{"currentContext":"gone"}`,
			errors: []string{`the Docker context "gone" does not exist`, "config.json names it", "docker context use"}},
		"no such, by name": {env: "DOCKER_CONTEXT=../x",
			errors: []string{`the Docker context "../x" does not exist`, "DOCKER_CONTEXT names it"}},
		"a torn context": {env: "DOCKER_CONTEXT=torn",
			errors: []string{`the Docker context "torn" cannot be read`, "DOCKER_HOST"}},
		"no address": {env: "DOCKER_CONTEXT=none", errors: []string{`the Docker context "none" has no address`}},
		"certificates": {env: "DOCKER_CONTEXT=secured", errors: []string{`"secured" needs its own certificates`,
			"DOCKER_HOST=tcp://host:2376 DOCKER_TLS_VERIFY=1 DOCKER_CERT_PATH=" + folder + "/contexts/tls/" + secured}},
		"not verified": {env: "DOCKER_CONTEXT=unverified",
			errors: []string{`"unverified" uses TLS without verifying`, "DOCKER_HOST"}},
		"ssh": {env: "DOCKER_CONTEXT=far", errors: []string{"ssh:// is not supported", "DOCKER_HOST",
			"the Docker daemon is at ssh://me@host (context far of DOCKER_CONTEXT)"}},
		"ssh in DOCKER_HOST": {env: "DOCKER_HOST=ssh://me@host",
			errors: []string{"the Docker daemon is at ssh://me@host (DOCKER_HOST)"}},
	} {
		t.Run(name, func(t *testing.T) {
			configFile := filepath.Join(folder, "config.json")
			_ = os.Remove(configFile)
			if c.current != "" {
				writeFile(t, configFile, c.current)
			}
			env := func(name string) (string, bool) {
				key, value, _ := strings.Cut(c.env, "=")
				return map[string]string{"HOME": home, key: value}[name], true
			}
			got, err := findDaemon(env, standard)
			if err == nil {
				err = got.checkScheme()
			}
			text, fault := "", (*company.Error)(nil)
			if errors.As(err, &fault) {
				text = fault.Error() + "; " + fault.Hint
			}
			for _, words := range c.errors {
				if !strings.Contains(text, words) {
					t.Errorf("%q lacks %q", text, words)
				}
			}
			if len(c.errors) == 0 && (err != nil || got.String() != c.want) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// Without the standard socket, the one of a rootless daemon or of Docker Desktop is used.
func TestFindDaemonWithoutTheStandardSocket(t *testing.T) {
	home, session := t.TempDir(), t.TempDir()
	env := func(name string) (string, bool) {
		return map[string]string{"HOME": home, "XDG_RUNTIME_DIR": session}[name], true
	}
	for _, socket := range []string{"", home + "/.docker/desktop/docker.sock", session + "/docker.sock"} {
		want := ""
		if socket != "" {
			want = "unix://" + socket + " (there is no /nowhere/docker.sock)"
			if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
		}
		if got, err := findDaemon(env, "/nowhere/docker.sock"); err != nil || got.String() != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}
