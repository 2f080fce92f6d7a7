package depproxy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// npm itself, against the operator's own registry.
func TestNPMWithClient(t *testing.T) {
	hosttest.Long(t, "npm itself")
	if _, err := exec.LookPath("npm"); err != nil {
		t.Fatal("there is no npm on this host: make test installs it")
	}
	up := hostUpstreams(t, NPM, "/is-number")
	s := newStore(t, up)
	dir := t.TempDir()
	// The lock names the public registry, as most do.
	write(t, dir, map[string]string{
		"package.json": `{"name":"x","version":"1.0.0","dependencies":{"is-number":"7.0.0"}}`,
		"package-lock.json": `{"name":"x","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"x","version":"1.0.0","dependencies":{"is-number":"7.0.0"}},
"node_modules/is-number":{"version":"7.0.0","resolved":"https://registry.npmjs.org/is-number/-/is-number-7.0.0.tgz","integrity":"sha512-41Cifkg6e8TylSpdtTpeLVMqvSBEVzTttHvERD741+pnZ8ANv0004MRL43QKPDlK9cGvNp6NZWZUBlbGXYxxng=="}}}`,
	})
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	p, _ := LockedPolicy(map[string][]byte{"package-lock.json": lock})
	srv := serve(t, s.NewPolicyHandler(p))
	env := []string{"npm_config_registry=" + srv.URL + "/npm/", "npm_config_update_notifier=false",
		"npm_config_audit=false", "npm_config_fund=false",
		"npm_config_omit_lockfile_registry_resolved=false"}

	if out, err := run(t, dir, env, "npm", "ci", "--ignore-scripts"); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	out, err := run(t, dir, env, "npm", "install", "--ignore-scripts", "is-odd@3.0.1")
	if err == nil || !strings.Contains(out, "add_dependency") {
		t.Errorf("a name that nobody added: %v\n%s", err, out)
	}
	p.AllowWithNeeds(newDependency(NPM, "is-odd", "3.0.1"))
	if out, err := run(t, dir, env, "npm", "install", "--ignore-scripts", "is-odd@3.0.1"); err != nil {
		t.Fatalf("an added package: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "is-odd", "index.js")); err != nil {
		t.Error(err)
	}
	var after struct {
		Packages map[string]struct{ Version string }
	}
	lock, err = os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil || json.Unmarshal(lock, &after) != nil || after.Packages["node_modules/is-odd"].Version != "3.0.1" {
		t.Errorf("%v: %s", err, lock)
	}
	// People install from this file, and have no mirror.
	if strings.Contains(string(lock), srv.URL) ||
		!strings.Contains(string(lock), "https://registry.npmjs.org/is-odd/-/is-odd-3.0.1.tgz") {
		t.Errorf("the addresses of what was added: %s", lock)
	}
}
