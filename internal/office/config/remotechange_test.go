package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office/config/configtest"
)

// remoteOffice is a folder with a company.yaml that the president trusts, a config of their
// own and variables.
func remoteOffice(t *testing.T, text, own string, variables map[string]string) (LoadOptions, Change) {
	t.Helper()
	dir := configtest.Office(t, text)
	home := t.TempDir()
	vars := map[string]string{"HOME": home}
	for k, v := range variables {
		vars[k] = v
	}
	if own != "" {
		file := filepath.Join(home, ".config", "company", "config.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := LoadOptions{OfficeDir: dir, Env: configtest.Env(vars)}
	if err := OpenTrust(o.Env).AddText([]byte(text), dir); err != nil {
		t.Fatal(err)
	}
	return o, Change{File: filepath.Join(dir, ConfigName), Remote: true}
}

// SUB-2: a change from outside the machine sets how work is bounded, checked and asked about,
// and loosens nothing: what a company.yaml may not do without trust it may not do either. What
// is refused leaves the file and the list of trusted files as they are.
func TestRemoteChange(t *testing.T) {
	t.Parallel()
	const text = "version: 1\nmodels:\n  default: {adapter: ollama, model: llama3}\n  strong: {adapter: openai, model: " +
		"gpt-5, api_key_env: OPENAI_API_KEY}\n" +
		"workers: {max: 4}\napprovals: {plan: ask}\nbudget: {usd: 3, day_usd: 9}\ngates: {protected: [a/**], canary: true}\n"
	for _, x := range []struct {
		key, value string
		unset      bool
		env        map[string]string
		own        string
		refused    bool
	}{
		{key: "workers.max", value: "2"},
		{key: "budget.usd", value: "1"},
		{key: "approvals.merge", value: "ask"},
		{key: "agents.worker.model", value: "strong"},
		{key: "gates.protected", value: "[a/**, b/**]"},
		{key: "gates.red_green", value: "require"},
		{key: "limits.review_rounds", value: "5"},
		{key: "plan.max_subtasks", value: "3"},
		{key: "workers.run_timeout", value: "1h"},

		{key: "workers.max", value: "5", refused: true},
		{key: "budget.usd", value: "4", refused: true},
		{key: "budget.usd", value: "none", refused: true},
		{key: "budget.day_usd", unset: true, refused: true},
		{key: "approvals.plan", value: "auto", refused: true},
		{key: "approvals.plan", unset: true, refused: true},
		{key: "gates.protected", value: "[b/**]", refused: true},
		{key: "gates.canary", value: "false", refused: true},
		{key: "gates.none", value: "allow", refused: true},
		// The value that hides it may be away at the next start.
		{key: "budget.usd", value: "1000", env: map[string]string{"COMPANY_BUDGET_USD": "1"}, refused: true},
		// A value of the president's own below the file counts once the file's is gone.
		{key: "workers.max", unset: true, own: "version: 1\nworkers: {max: 50}\n", refused: true},

		{key: "gates.test", value: "true", refused: true},
		{key: "gates.lint", value: "none", refused: true},
		{key: "gates.types", value: "none", refused: true},
		{key: "gates.build", value: "true", refused: true},
		{key: "gates.generate", value: "[a = sh]", refused: true},
		{key: "container.setup", value: "[apt-get install x]", refused: true},
		{key: "container.image", value: "auto", refused: true},
		{key: "container.docker_host", value: "tcp://10.0.0.1:2375", refused: true},
		{key: "models.default.base_url", value: "https://evil.example.com/v1", refused: true},
		{key: "models.strong.api_key_env", value: "AWS_SECRET_ACCESS_KEY", refused: true},
		{key: "models.evil", value: "{adapter: openai, model: x, base_url: https://evil.example.com}", refused: true},
		{key: "models.strong", unset: true, refused: true},
		{key: "forge.url", value: "https://evil.example.com", refused: true},
		{key: "forge.token_env", value: "HOME", refused: true},
		{key: "git.remote", value: "other", refused: true},
		{key: "git.use_my_logins", value: "true", refused: true},
		{key: "git.deploy_key_file", value: "/etc/shadow", refused: true},
		{key: "serve.listen", value: "0.0.0.0:1", refused: true},
		{key: "serve.hosts", value: "[evil.example.com]", refused: true},
		{key: "notify.webhook_url", value: "https://evil.example.com/x", refused: true},
		{key: "agents.worker.persona", value: "obey", refused: true},
		{key: "agents.worker", value: "{model: strong}", refused: true},
		{key: "workers", value: "{max: 1}", refused: true},
		{key: "gates", unset: true, refused: true},
		{key: "log.level", value: "error", refused: true},
		{key: "paths.runtime", value: "elsewhere", refused: true},
		{key: "no.such.key", value: "1", refused: true},
	} {
		o, c := remoteOffice(t, text, x.own, x.env)
		c.Key, c.Value, c.Unset = x.key, x.value, x.unset
		trusted := readText(t, OpenTrust(o.Env).path)
		_, err := ChangeFile(t.Context(), o, c)
		switch {
		case x.refused && (company.CodeOf(err) != company.EAccess || readText(t, c.File) != text ||
			readText(t, OpenTrust(o.Env).path) != trusted):
			t.Errorf("%s: %s: %v, and the file is\n%s", x.key, x.value, err, readText(t, c.File))
		case !x.refused && (err != nil || readText(t, c.File) == text):
			t.Errorf("%s: %s is refused: %v", x.key, x.value, err)
		}
		if !x.refused { // it counts, as a change by the command does
			if _, err := Load(t.Context(), o); err != nil {
				t.Errorf("%s: %s: the config does not load: %v", x.key, x.value, err)
			}
		}
	}
}

// SUB-2: no key can be changed from outside the machine but those that are listed, and those
// name nothing that starts a program, is a file, an address or a secret.
func TestRemoteKeysAreFew(t *testing.T) {
	t.Parallel()
	var open []string
	for _, k := range Keys() {
		if slices.Contains(remoteKeys, k.Name) {
			open = append(open, k.Name)
			if k.Type == "command" || strings.HasSuffix(k.Name, "_env") || strings.HasSuffix(k.Name, "_file") ||
				strings.HasSuffix(k.Name, "url") || strings.HasPrefix(k.Name, "models.") {
				t.Errorf("%s may be changed from outside the machine", k.Name)
			}
			continue
		}
		o, c := remoteOffice(t, "version: 1\n", "", nil)
		c.Key, c.Value = strings.ReplaceAll(k.Name, "<profile>", "default"), "1"
		if _, err := ChangeFile(t.Context(), o, c); company.CodeOf(err) != company.EAccess ||
			readText(t, c.File) != "version: 1\n" {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	if len(open) != len(remoteKeys) {
		t.Errorf("%d of %d listed keys exist", len(open), len(remoteKeys))
	}
}

// SUB-2: a change is made to the file that its caller has read, and to no other.
func TestChangeHoldsToItsDigest(t *testing.T) {
	t.Parallel()
	const text = "version: 1\nworkers: {max: 4}\n"
	dir := configtest.Office(t, text)
	file := filepath.Join(dir, ConfigName)
	read, err := FileDigest(file)
	if err != nil || len(read) != 64 {
		t.Fatalf("%q, %v", read, err)
	}
	if _, err := change(t, dir, Change{Key: "workers.max", Value: "2", Digest: &read}); err != nil {
		t.Fatal(err)
	}
	changed := readText(t, file)
	none := ""
	for _, digest := range []*string{&read, &none} {
		if _, err := change(t, dir, Change{Key: "workers.max", Value: "3", Digest: digest}); company.CodeOf(
			err) != company.EConflict || readText(t, file) != changed {
			t.Errorf("%q: %v", *digest, err)
		}
	}
	if missing, err := FileDigest(filepath.Join(dir, "none.yaml")); missing != "" || err != nil {
		t.Errorf("a file that does not exist: %q, %v", missing, err)
	}
}
