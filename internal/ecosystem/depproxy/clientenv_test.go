package depproxy

import (
	"company/internal/ecosystem"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What the clients are told: nothing of a registry that is not there, a cache
// of their own only once something was added, and no host but the gateway's.
func TestClientEnv(t *testing.T) {
	const base = "http://127.0.0.1:8377"
	up := upstreamsAtAll("https://all.corp.example")
	up.Registries[Go] = ecosystem.Upstream{Endpoints: up.Registries[Go].Endpoints,
		Settings: map[string]string{"GOSUMDB": "sum.example", "GONOSUMDB": "corp.example"}}
	up.Registries[NPM] = ecosystem.At(
		ecosystem.Endpoint{URL: "https://npm.corp.example"},
		ecosystem.Endpoint{URL: "https://other.corp.example", Scope: "@corp"})
	s := newStore(t, up)
	env := s.ClientEnv(base, nil)
	if env["npm_config_registry"] != base+"/npm/" || env["npm_config_@corp:registry"] != base+"/npm/" ||
		env["PIP_INDEX_URL"] != base+"/pypi/simple/" || env["GOPROXY"] != "" || env["CARGO_HOME"] != "" {
		t.Errorf("at first: %v", env)
	}
	env = s.ClientEnv(base, map[string]bool{Go: true, Crates: true})
	if env["GOPROXY"] != "file:///opt/gomod/cache/download,"+base+"/go" || env["GOSUMDB"] != "sum.example" ||
		env["GONOSUMDB"] != "corp.example" || env["GOMODCACHE"] == "" || env["CARGO_NET_OFFLINE"] != "false" {
		t.Errorf("with something added: %v", env)
	}
	for k, v := range env {
		if strings.Contains(v, "https://") || strings.ContainsAny(k, "=\x00") {
			t.Errorf("%s is %q", k, v)
		}
	}
	if env := newStore(t, Upstreams{}).ClientEnv(base, map[string]bool{Go: true}); len(env) != 0 {
		t.Errorf("without registries: %v", env)
	}
	for _, e := range Ecosystems() {
		if AddCommand(newDependency(e, "name", "1.0.0")) == "" {
			t.Errorf("%s has no command", e)
		}
	}
	if got, want := AddCommand(newDependency(NPM, "a", "1.0.0")),
		"npm install a@1.0.0 (with pnpm: pnpm add a@1.0.0) (with yarn: yarn add a@1.0.0)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Cargo is set up by a command of the shell, which says so where cargo is too
// old for a sparse index.
func TestCargoSetupCommand(t *testing.T) {
	if SetupCommand("http://127.0.0.1:1", Go) != "" {
		t.Error("go is set up by variables alone")
	}
	dir := t.TempDir()
	for version, ok := range map[string]bool{"cargo 1.66.0 (x)": false, "cargo 1.68.0": true, "cargo 1.100.1 (y)": true,
		"nonsense": false} {
		write(t, dir, map[string]string{"bin/cargo": "#!/bin/sh\necho '" + version + "'\n"})
		if err := exec.Command("chmod", "+x", filepath.Join(dir, "bin", "cargo")).Run(); err != nil {
			t.Fatal(err)
		}
		script := strings.ReplaceAll(SetupCommand("http://127.0.0.1:1", Crates), "/work/.fetched/cargo",
			filepath.Join(dir, "home"))
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		if (err == nil) != ok || !ok && !strings.Contains(string(out), "older than 1.68") {
			t.Errorf("%s: %v %s", version, err, out)
		}
	}
}
