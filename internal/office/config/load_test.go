package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"company/internal/company"
	"company/internal/office/config/configtest"
)

// anyTrust lets every file count: what a file may set is the question of trust_test.go.
var anyTrust = &trialFile{}

// mustLoad reads a config whose files count.
func mustLoad(t testing.TB, o LoadOptions) Loaded {
	t.Helper()
	o.trial = anyTrust
	l, err := Load(t.Context(), o)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return l
}

// designYAML is the example of the design, which is the defaults but for the
// strong profile and the limit on writers.
const designYAML = `version: 1
models:
  default: {adapter: ollama, model: llama3}
  strong:  {adapter: openai, model: gpt-5, api_key_env: OPENAI_API_KEY, fallback: [default]}
agents:                       # role → model profile, limits, persona
  manager:  {model: strong}
  worker:   {model: default, max_turns: 30}
  reviewer: {model: strong}
  merger:   {model: strong}
workers:   {max: 3, command_timeout: 300s, run_timeout: 30m, memory: 4g, cpus: 2, pids: 512, disk: auto, warm: 1}
container: {image: auto, setup: [], setup_env: [], deps: locked}
bus:       {driver: nats}                                    # nats | file
git:       {base: auto, integration_branch: develop, remote: origin, credential: token, author: "", signoff: false}
forge:     {kind: auto, token_env: GITHUB_TOKEN}    # github | gitea | local
gates:     {lint: auto, test: auto, none: ask, red_green: report, canary: true, protect_tests: false, protected: []}
budget:    {usd: 5, tokens: auto}
approvals: {plan: auto, merge: auto, pr: auto, deps: auto}   # auto | ask
limits:    {continuations: 3, model_wait: 15m, stop_grace: 3s, concurrent_tasks: 4, readers: 9, writers: 4}
recovery: auto                                               # auto | ask
retention_days: 7
`

// Every key of the design's example is known, and but for one its values are the defaults
// (CFG-1).
func TestDesignExampleIsTheDefault(t *testing.T) {
	got := mustLoad(t, LoadOptions{OfficeDir: configtest.Office(t, designYAML)}).Config
	want := Default()
	want.setDefaultModels()
	want.Models["strong"] = Model{Adapter: "openai", Model: "gpt-5", APIKeyEnv: "OPENAI_API_KEY",
		Fallback: []string{"default"}, Tools: Auto, Images: Auto}
	want.Agents.Manager.Model, want.Agents.Reviewer.Model, want.Agents.Merger.Model = "strong", "strong", "strong"
	if diff := diffConfigs(got, want); diff != "" {
		t.Fatal(diff)
	}
	empty := mustLoad(t, LoadOptions{OfficeDir: t.TempDir()})
	if empty.Config.Agents.Manager.Model != "default" {
		t.Errorf("without a strong profile the manager uses %q", empty.Config.Agents.Manager.Model)
	}
	for key, at := range empty.Origin {
		if at != OriginDefault {
			t.Errorf("%s comes from %q", key, at)
		}
	}
}

// diffConfigs names a key whose values differ.
func diffConfigs(a, b Config) string {
	x, y := flattenConfig(a), flattenConfig(b)
	for k, v := range x {
		if y[k] != v {
			return fmt.Sprintf("%s: %s and %s", k, v, y[k])
		}
	}
	for k := range y {
		if _, ok := x[k]; !ok {
			return k + " is missing"
		}
	}
	return ""
}

// Flag over environment over office over user over default, key by key, and
// each origin is told (CFG-3).
func TestPrecedence(t *testing.T) {
	user := t.TempDir()
	configtest.WriteFile(t, filepath.Join(user, "company", "config.yaml"),
		"workers: {max: 4, pids: 100, warm: 2, cpus: 3}\nmodels:\n  fast: {adapter: openai, model: m, base_url: "+
			"'http://localhost:1/v1', api_key_env: K}\n")
	dir := configtest.Office(t, "workers:\n  max: 5\n  pids: 200\n  warm: 3\n")
	configtest.WriteFile(t, filepath.Join(dir, ".env"), "COMPANY_WORKERS_CPUS=9\n")
	env := map[string]string{"XDG_CONFIG_HOME": user, "COMPANY_WORKERS_MAX": "6", "COMPANY_WORKERS_PIDS": "300",
		"COMPANY_MODELS_FAST_MODEL": "n", "COMPANY_GATES_PROTECTED": "a/**, b", "COMPANY_GATES_TEST": "go test ./...",
		"COMPANY_MODELS_FAST_PRICE_INPUT": "1.25"}
	l := mustLoad(t, LoadOptions{OfficeDir: dir, Env: configtest.Env(env), Flags: map[string]string{"workers.max": "7"}})
	c := l.Config
	if c.Workers.Max != 7 || c.Workers.PIDs != 300 || c.Workers.Warm != 3 || c.Workers.CPUs != 3 ||
		c.Workers.Memory != 4<<30 {
		t.Errorf("workers: %+v", c.Workers)
	}
	if m := c.Models["fast"]; m.Model != "n" || m.BaseURL != "http://localhost:1/v1" || m.Price == nil ||
		m.Price.Input != 1_250_000 {
		t.Errorf("models.fast: %+v", m)
	}
	if !reflect.DeepEqual(c.Gates.Protected, []string{"a/**", "b"}) || c.Gates.Test.Line != "go test ./..." {
		t.Errorf("gates: %+v", c.Gates)
	}
	for key, want := range map[string]string{
		"workers.max":       "flag workers.max",
		"workers.pids":      "COMPANY_WORKERS_PIDS",
		"workers.warm":      filepath.Join(dir, ConfigName) + ":4:9",
		"workers.cpus":      filepath.Join(user, "company", "config.yaml") + ":1:45",
		"workers.memory":    "default",
		"models.fast.model": "COMPANY_MODELS_FAST_MODEL",
	} {
		if l.Origin[key] != want {
			t.Errorf("%s comes from %q, want %q", key, l.Origin[key], want)
		}
	}
	if again := mustLoad(
		t, LoadOptions{OfficeDir: dir, Env: configtest.Env(env),
			Flags: map[string]string{"workers.max": "7"}}); again.Hash != l.Hash {
		t.Error("the same config has two hashes")
	}
	if other := mustLoad(t, LoadOptions{OfficeDir: dir, Env: configtest.Env(env)}); other.Hash == l.Hash {
		t.Error("two configs have one hash")
	}
}

// A profile that an office gives replaces the user's whole, so that its key
// cannot be sent to another address.
func TestProfilesReplace(t *testing.T) {
	user := t.TempDir()
	configtest.WriteFile(t, filepath.Join(user, "company", "config.yaml"),
		"models:\n  default: {adapter: openai, model: m, base_url: 'http://localhost:1/v1', api_key_env: SECRET}\n")
	dir := configtest.Office(t, "models:\n  default: {adapter: openai, model: x}\n")
	c := mustLoad(t, LoadOptions{OfficeDir: dir, Env: configtest.Env(map[string]string{"XDG_CONFIG_HOME": user})}).Config
	if m := c.Models["default"]; m.APIKeyEnv != "" || m.BaseURL != "" || m.Model != "x" {
		t.Fatalf("models.default: %+v", m)
	}
}

// A line that is not YAML is shown with a caret below the place, and with a fix for it. One that may hold a secret is not
// shown.
func TestSyntaxErrorPointsAtItsPlace(t *testing.T) {
	for text, want := range map[string][2]string{
		"a: 1\nworkers: max: 3\n": {"\n    workers: max: •\n             ^", "compare line 2 with the one above: its indent, " +
			"and one key with one value in a line"},
		"workers: {max: \"3}\n": {"\n    workers: {max: \"•}\n                   ^",
			"close the quote that is opened in line 1"},
		"workers:\n\tmax: 3\n": {"\n    →max: •\n    ^", "indent with blanks: line 2 has a tab"},
		"forge: {url: \"https://me:s3cr3t@host/x}\n": {"\n    forge: {url: \"•••••:••••:•••••••••••••}\n" +
			"                 ^", "close the quote that is opened in line 1"},
		"models:\n  default:\n    api_key_env:\n      sk-s3cr3t: x: y\n": {"\n          •••••••••: •: •\n" +
			"                     ^", "compare line 4 with the one above: its indent, and one key with one value in a line"},
		"a: it's 5\" wide: x\n":            {"", "write one key with one value in a line"},
		"a: \"x\\\"\n":                     {"", "close the quote that is opened in line 1"},
		"authorization: \"Bearer s3cr3t\n": {"", "close the quote that is opened in line 1"},
	} {
		dir := t.TempDir()
		configtest.WriteFile(t, filepath.Join(dir, ConfigName), text)
		_, err := Load(t.Context(), LoadOptions{OfficeDir: dir, trial: anyTrust})
		var e *company.Error
		if !errors.As(err, &e) || !strings.HasSuffix(e.Message, want[0]) || e.Hint != want[1] ||
			strings.Contains(e.Message, "s3cr3t") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Bad input: one line each with place, key, what was found and what is allowed
// (CFG-2).
func TestBadConfig(t *testing.T) {
	long := strings.Repeat("x", maxLineBytes+1)
	for _, c := range []struct{ name, yaml, want, hint string }{
		{"empty", "", ":1:1: the file is empty", "write version: 1, or remove the file"},
		{"only a comment", "# nothing\n", ":1:1: the file is empty", "write version: 1, or remove the file"},
		{"bad syntax", "version: 1\nmy_key: {max: 3\n", "  ••••••: {max: •\n            ^", "close each bracket that is opened up to line 2"},
		{"tab", "workers:\n\tkey: 3\n", "  →•••: •\n    ^",
			"indent with blanks: line 2 has a tab"},
		{"not a mapping", "- a\n", `:1:1: the file is a list`, "write keys with values, such as version: 1"},
		{"unknown key", "wrokers: {max: 3}\n", ":1:1: unknown key wrokers", "did you mean workers?"},
		{"unknown key below", "workers:\n  mx: 3\n", ":2:3: unknown key workers.mx", "did you mean workers.max?"},
		{"key of another section", "integration_branch: dev\n", ":1:1: unknown key integration_branch",
			"did you mean git.integration_branch?"},
		{"key far from all", "approvals: {everything: auto}\n", ":1:13: unknown key approvals.everything",
			"allowed: plan, merge, pr, deps"},
		{"wrong type", "workers: {max: many}\n", `:1:16: workers.max is not what is needed, found "many"`,
			"allowed: a whole number from 1 to 64"},
		{"quoted number", "workers: {max: '3'}\n", `:1:16: workers.max is not what is needed, found "3"`,
			"allowed: a whole number from 1 to 64"},
		{"list for a number", "workers: {max: [3]}\n", `:1:16: workers.max is not what is needed, found a list`,
			"allowed: a whole number from 1 to 64"},
		{"scalar for a section", "workers: 3\n", ":1:10: workers must be a mapping, found 3",
			"allowed: max, command_timeout, run_timeout, memory, cpus, pids, disk, warm, commands"},
		{"no value", "workers:\n  max:\n", ":2:8: workers.max has no value",
			"give it one or remove the key; allowed: a whole number from 1 to 64"},
		{"negative", "workers: {max: -1}\n", ":1:16: workers.max is negative, found -1",
			"allowed: a whole number from 1 to 64"},
		{"zero", "workers: {max: 0}\n", ":1:16: workers.max is too small, found 0", "allowed: from 1 to 64"},
		{"too large", "workers: {pids: 99999999}\n", ":1:17: workers.pids is too large, found 99999999",
			"allowed: from 32 to 1000000"},
		{"overflow", "workers: {pids: 99999999999999999999}\n",
			":1:17: workers.pids is too large, found 99999999999999999999", "allowed: a whole number from 32 to 1000000"},
		{"hexadecimal", "workers: {max: 0x3}\n", ":1:16: workers.max is not what is needed, found 0x3",
			"allowed: a whole number from 1 to 64"},
		{"infinite", "workers: {cpus: .inf}\n", ":1:17: workers.cpus is not what is needed, found .inf",
			"allowed: a number from 0.1 to 1024"},
		{"time without unit", "workers: {command_timeout: 300}\n",
			":1:28: workers.command_timeout is not what is needed, found 300",
			"allowed: a time with its unit, such as 300s or 30m"},
		{"negative time", "limits: {model_wait: -5m}\n", `:1:22: limits.model_wait is negative, found "-5m"`,
			"allowed: a time with its unit, such as 300s or 30m"},
		{"size without unit", "workers: {memory: 4}\n", ":1:19: workers.memory is not what is needed, found 4",
			"allowed: a size with its unit, such as 512m or 4g"},
		{"size overflow", "workers: {memory: 99999999999t}\n", `:1:19: workers.memory is too large, found "99999999999t"`,
			"allowed: a size with its unit, such as 512m or 4g"},
		{"small size", "workers: {memory: 1k}\n", `:1:19: workers.memory is too small, found "1k"`,
			"allowed: from 64m to 64t"},
		{"disk word", "workers: {disk: much}\n", `:1:17: workers.disk is not what is needed, found "much"`,
			"allowed: auto, or a size with its unit, such as 512m or 4g"},
		{"enum", "bus: {driver: natts}\n", `:1:15: bus.driver is not one of the words allowed, found "natts"`,
			"allowed: nats, file (did you mean nats?)"},
		{"text for a truth", "git: {signoff: 'yes'}\n", `:1:16: git.signoff is not what is needed, found "yes"`,
			"allowed: true or false"},
		{"negative money", "budget: {usd: -5}\n", ":1:15: budget.usd is negative, found -5",
			"allowed: none, or an amount in USD, such as 5 or 0.25, up to 1000000"},
		{"money in too many places", "budget: {usd: 0.00000001}\n",
			":1:15: budget.usd is not what is needed, found 0.00000001",
			"allowed: none, or an amount in USD, such as 5 or 0.25, up to 1000000"},
		{"too much money", "budget: {usd: 123456789012345678901234567890}\n",
			":1:15: budget.usd is too large, found 123456789012345678901234567890",
			"allowed: none, or an amount in USD, such as 5 or 0.25, up to 1000000"},
		{"tokens", "budget: {tokens: lots}\n", `:1:18: budget.tokens is not what is needed, found "lots"`,
			"allowed: auto, none, or a number of tokens"},
		{"duplicate worker", "agents:\n  worker: {max_turns: 3}\n  worker: {max_turns: 4}\n",
			":3:3: duplicate key worker (first at 2:3)", "keep one of them"},
		{"unpinned image", "container: {image: 'golang:1.26'}\n",
			`:1:20: container.image is not pinned by digest, found "golang:1.26"`,
			"allowed: auto, or an image by digest: name@sha256: and 64 hexadecimal digits"},
		{"short digest", "container: {image: 'golang@sha256:abc'}\n",
			`:1:20: container.image is not pinned by digest, found "golang@sha256:abc"`,
			"allowed: auto, or an image by digest: name@sha256: and 64 hexadecimal digits"},
		{"a Dockerfile outside", "container: {dockerfile: ../Dockerfile}\n",
			`:1:25: container.dockerfile is not a path in a repository, found "../Dockerfile"`,
			"allowed: a path from the root of the repository, such as Dockerfile or .devcontainer/devcontainer.json"},
		{"two bases", "container:\n  dockerfile: Dockerfile\n  image: 'x@sha256:" + strings.Repeat("a", 64) + "'\n",
			`:2:15: container.dockerfile is set, and container.image is too, found "x@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...`, "an image has one base: set one of them, or container.image: auto"},
		{"main as target", "git: {integration_branch: main}\n",
			`:1:27: git.integration_branch must never be main or master, found "main"`,
			"name a branch that collects the work, such as develop; the pull request goes to main"},
		{"master in disguise", "git: {integration_branch: refs/heads/MASTER}\n",
			`:1:27: git.integration_branch must never be main or master, found "refs/heads/MASTER"`,
			"name a branch that collects the work, such as develop; the pull request goes to main"},
		{"option as branch", "git: {base: --upload-pack=x}\n",
			`:1:13: git.base is not a branch name, found "--upload-pack=x"`, "allowed: a branch name"},
		{"a value of a later version", "bus: {driver: redis}\n",
			`:1:15: bus.driver is not one of the words allowed, found "redis"`, "allowed: nats, file"},
		{"an adapter of a later version", "models:\n  default: {adapter: gemini, model: m}\n",
			`:2:22: models.default.adapter is not one of the words allowed, found "gemini"`,
			"allowed: anthropic, cli, ollama, openai, scripted"},
		{"a key of a later version", "container: {egress: [example.com]}\n", ":1:13: unknown key container.egress",
			"allowed: image, dockerfile, setup, setup_env, deps, logins, docker_host, allow, keep_images, cleanup_timeout"},
		{"a command longer than a container allows", "workers: {command_timeout: 16m}\n",
			`:1:28: workers.command_timeout is too large, found "16m"`, "allowed: from 1s to 15m"},
		{"key instead of its name", "models:\n  default: {adapter: openai, model: m, api_key_env: sk-proj-12345}\n",
			":2:53: models.default.api_key_env is not the name of a variable",
			"allowed: the name of an environment variable, such as OPENAI_API_KEY (never the key itself)"},
		{"password in a URL", "models:\n  default: {adapter: openai, model: m, base_url: 'http://u:secret@h/v1'}\n",
			":2:50: models.default.base_url holds a user or password",
			"put the secret into an environment variable and name that"},
		{"scheme", "models:\n  default: {adapter: openai, model: m, base_url: 'file:///etc/passwd'}\n",
			`:2:50: models.default.base_url is not an address of that kind, found "file:///etc/passwd"`,
			"allowed: an address such as https://api.example.com/v1, without user or password"},
		{"profile without adapter", "models:\n  default: {model: m}\n", ":2:3: models.default has no adapter",
			"add adapter: openai, ollama, anthropic or scripted"},
		{"profile without model", "models:\n  default: {adapter: openai}\n", ":2:22: models.default has no model",
			"add model: and the name that its server calls it"},
		// ADP-5: what names no provider or no model is an error; nothing is guessed.
		{"blank model", "models:\n  default: {adapter: openai, model: \"  \"}\n", ":2:22: models.default has no model",
			"add model: and the name that its server calls it"},
		{"empty model", "models:\n  default: {adapter: openai, model: \"\"}\n", ":2:22: models.default has no model",
			"add model: and the name that its server calls it"},
		{"null model", "models:\n  default: {adapter: openai, model: null}\n", ":2:37: models.default.model has no value",
			"give it one or remove the key; allowed: a text"},
		{"unknown provider", "models:\n  default: {adapter: opnai, model: m}\n",
			":2:22: models.default.adapter is not one of the words allowed, found \"opnai\"",
			"allowed: anthropic, cli, ollama, openai, scripted (did you mean openai?)"},
		{"profile name", "models:\n  Über: {adapter: openai, model: m}\n", `:2:3: models has a profile with the name "Über"`,
			"allowed: up to 32 of a-z, 0-9, _ and -, a letter or digit first"},
		{"unknown profile", "agents:\n  worker: {model: defautl}\n",
			`:2:19: agents.worker.model names a profile that does not exist, found "defautl"`,
			"did you mean default? allowed: default"},
		{"fallback to itself",
			"models:\n  default: {adapter: openai, model: m, fallback: [b]}\n  b: {adapter: openai, model: m, fallback: " +
				"[default]}\n", ":3:44: models.b.fallback leads back to the profile itself; let fallbacks end",
			"correct these lines, then try again"},
		{"bad glob", "gates: {protected: ['../x']}\n",
			`:1:20: gates.protected cannot be read (glob "../x": a component . or .. in it), found a list`,
			"allowed: a glob such as internal/secret/**"},
		{"no command", "gates: {generate: ['api/**']}\n", `:1:19: gates.generate has no glob or no command, found a list`,
			"allowed: globs, an equals sign and a command of one line, such as internal/pb/** = make proto"},
		{"bad glob of a command", "gates: {generate: ['../x = make']}\n",
			`:1:19: gates.generate cannot be read (glob "../x": a component . or .. in it), found a list`,
			"allowed: globs, an equals sign and a command of one line, such as internal/pb/** = make proto"},
		{"empty command", "gates: {test: ''}\n", `:1:15: gates.test is not what is needed, found ""`,
			"allowed: auto, none, a command, or a list of arguments"},
		{"numbers in a list", "container: {setup: [1]}\n", ":1:20: container.setup is not what is needed, found a list",
			"allowed: a list of texts, such as [a, b]"},
		{"a program without a kind", "models: {p: {adapter: cli, bin: [/a]}}\n",
			":1:23: models.p.adapter is cli and has no program",
			"add program: claude, codex, opencode, stdio-json"},
		{"a program of no kind", "models: {p: {adapter: cli, program: codex9, bin: [/a]}}\n",
			`:1:37: models.p.program is not a known program, found "codex9"`,
			"allowed: claude, codex, opencode, stdio-json"},
		{"a program without a path", "models: {p: {adapter: cli, program: stdio-json}}\n",
			":1:37: models.p.program has no bin",
			"add bin: and the path of the program in the image, such as [/opt/acme/agent]"},
		{"a program in PATH", "models: {p: {adapter: cli, program: stdio-json, bin: [agent]}}\n",
			`:1:54: models.p.bin has no absolute path, found "agent"`,
			"write the path from the image's root: no PATH is searched"},
		{"a program that is code", "models: {p: {adapter: cli, program: stdio-json, bin: [/bin/sh, -ec, 'echo x']}}\n",
			`:1:54: models.p.bin is a shell or an interpreter with code, found "/bin/sh -ec echo x"`,
			"put the code into a file of the image, and name that"},
		{"a program that is code behind env",
			"models: {p: {adapter: cli, program: stdio-json, bin: [/usr/bin/env, A=b, node, -e, x]}}\n",
			`:1:54: models.p.bin is a shell or an interpreter with code, found "/usr/bin/env A=b node -e x"`,
			"put the code into a file of the image, and name that"},
		{"a program with a server's keys", "models: {p: {adapter: cli, program: stdio-json, bin: [/a], model: m}}\n",
			":1:23: models.p.adapter is cli, and has keys of a model's server",
			"leave model, base_url, api_key_env and fallback out; via names a profile that has them"},
		{"a model with a program's keys", "models: {p: {adapter: openai, model: m, bin: [/a]}}\n",
			":1:23: models.p.adapter is openai, and has keys of a program", "adapter: cli runs a program"},
		{"a program whose model is a program", "models: {p: {adapter: cli, program: stdio-json, bin: [/a], via: p}}\n",
			`:1:65: models.p.via is a profile whose server stdio-json cannot ask, found "cli p"`,
			"name a profile with adapter openai; Ollama serves that at base_url http://127.0.0.1:11434/v1"},
		{"a program of another wire",
			"models: {p: {adapter: cli, program: opencode, via: q}, q: {adapter: anthropic, model: m}}\n",
			`:1:52: models.p.via is a profile whose server opencode cannot ask, found "anthropic q"`,
			"name a profile with adapter openai; Ollama serves that at base_url http://127.0.0.1:11434/v1"},
		{"a program of a vendor's wire",
			"models: {p: {adapter: cli, program: claude, via: q}, q: {adapter: openai, model: m}}\n",
			`:1:50: models.p.via is a profile whose server claude cannot ask, found "openai q"`,
			"name a profile with adapter anthropic; Ollama serves that at base_url http://127.0.0.1:11434"},
		{"a program without a model", "models: {p: {adapter: cli, program: opencode}}\n",
			":1:37: models.p.program has no via",
			"add via: and the profile whose server, key and price it uses"},
		{"a program of an unknown model", "models: {p: {adapter: cli, program: stdio-json, bin: [/a], via: q}}\n",
			`:1:65: models.p.via names a profile that does not exist, found "q"`, "allowed: default, p"},
		{"a program behind busybox",
			"models: {p: {adapter: cli, program: stdio-json, bin: [/bin/busybox, sh, -c, x]}}\n",
			`:1:54: models.p.bin is a shell or an interpreter with code, found "/bin/busybox sh -c x"`,
			"put the code into a file of the image, and name that"},
		{"a program behind env with options",
			"models: {p: {adapter: cli, program: stdio-json, bin: [/usr/bin/env, -u, A, node, -p, x]}}\n",
			`:1:54: models.p.bin is a shell or an interpreter with code, found "/usr/bin/env -u A node -p x"`,
			"put the code into a file of the image, and name that"},
		{"a program as a fallback",
			"models: {p: {adapter: cli, program: stdio-json, bin: [/a]}, q: {adapter: openai, model: m, fallback: [p]}}\n",
			`:1:102: models.q.fallback names a program, which is no model, found "p"`,
			"name a profile with another adapter"},
		{"a program whose model falls back to another wire",
			"models: {p: {adapter: cli, program: stdio-json, bin: [/a], via: q}, " +
				"q: {adapter: openai, model: m, fallback: [r]}, r: {adapter: anthropic, model: m}}\n",
			`:1:65: models.p.via has a fallback of another wire, found "q"`,
			"name a profile whose fallbacks have its adapter"},
		{"a program that reviews",
			"models: {p: {adapter: cli, program: stdio-json, bin: [/a]}}\nagents: {reviewer: {model: p}}\n",
			`:2:28: agents.reviewer.model is a program, and only workers can be, found "p"`,
			"name a profile with another adapter"},
		{"timeouts cross", "workers: {command_timeout: 10m, run_timeout: 5m}\n",
			":1:28: workers.command_timeout is longer than workers.run_timeout, found 10m0s", "allowed: up to 5m0s"},
		{"alias", "gates: {lint: &a auto, test: *a}\n", ":1:15: an anchor or alias", "correct these lines, then try again"},
		{"tag", "version: !!int 1\n", ":1:10: a tag", "write the value without !!int"},
		{"merge key", "<<: {version: 1}\n", ":1:1: a key that is not a plain name", "write keys as plain names"},
		{"second document", "version: 1\n---\nversion: 1\n", ":3:8: a second document", "keep one document in the file"},
		{"deep", "version: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n", ":1:41: values nest too deeply",
			"32 levels are allowed"},
		{"dashes", strings.Repeat("- ", 200) + "a\n", ":1:65: values nest too deeply", "32 levels are allowed"},
		{"long line", "version: 1\nrecovery: " + long + "\n", ":2:1: the line has 4107 bytes", "4096 are allowed"},
		{"many lines", strings.Repeat("a:\n", maxLines+1), ":4001:1: too many lines", "4000 are allowed"},
		{"large", strings.Repeat("# comment\n", maxFileBytes/10+1), ":1:1: the file has 65537 bytes", "65536 are allowed"},
		{"NUL", "version: 1\x00\n", ":1:11: a NUL byte", "save the file as plain UTF-8 text"},
		{"Latin-1", "version: 1\nforge: {url: \xe9}\n", ":2:14: a byte that is not UTF-8 (0xe9)",
			"save the file as plain UTF-8 text"},
		{"UTF-16", "\xff\xfev\x00", ":1:1: a byte that is not UTF-8 (0xff)", "save the file as plain UTF-8 text"},
		{"key that one does not see all of", "wor\u200bkers: {max: 3}\n", `:1:1: unknown key "wor\u200bkers"`,
			"did you mean workers?"},
		{"lines that end as on Windows", "version: 1\r\nworkers:\r\n  mx: 1\r\n", ":3:3: unknown key workers.mx",
			"did you mean workers.max?"},
		{"mark in front", "\ufeffwrokers: {max: 3}\n", ":1:1: unknown key wrokers", "did you mean workers?"},
		{"alias bomb", "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nversion: *c\n",
			":1:4: an anchor or alias; write the value out", "correct these lines, then try again"},
		{"version", "version: 2\n", ":1:10: version is that of a newer company, found 2", "allowed: 1; or update company"},
		{"deploy key without its file", "git: {credential: deploy_key}\n",
			":1:19: git.credential is deploy_key, and no key is named",
			"set git.deploy_key_file to the path of the private key"},
		{"file that is not a path", "git: {deploy_key_file: key}\n",
			`:1:24: git.deploy_key_file is not the path of a file, found "key"`, "allowed: the absolute path of a file"},
		{"folder above", "git: {paths: [../x]}\n", `:1:14: git.paths is not a folder of the repository, found a list`,
			"allowed: a folder of the repository such as services/api: no / in front, no .., no wildcard"},
		{"author", "git: {author: me}\n", `:1:15: git.author is not an author, found "me"`,
			"allowed: Name <mail@example.com>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := configtest.Office(t, c.yaml)
			_, err := Load(t.Context(), LoadOptions{OfficeDir: dir, trial: anyTrust})
			var e *company.Error
			if !errors.As(err, &e) || e.Code != company.EConfig && e.Code != company.EProtected {
				t.Fatalf("got %v", err)
			}
			got := strings.ReplaceAll(e.Message, filepath.Join(dir, ConfigName), "")
			if strings.Contains(got, "\n") { // several problems: ours is among them
				if !strings.Contains(got+";", "\n  "+c.want) {
					t.Errorf("message\n  %s\nlacks\n  %s", got, c.want)
				}
			} else if strings.HasSuffix(c.want, ":") && !strings.HasPrefix(got, c.want) ||
				!strings.HasSuffix(c.want, ":") && got != c.want {
				t.Errorf("message\n  %s\nwant\n  %s", got, c.want)
			}
			if e.Hint != c.hint {
				t.Errorf("hint %q, want %q", e.Hint, c.hint)
			}
			if strings.Contains(err.Error(), "secret@") || strings.Contains(err.Error(), "sk-proj") {
				t.Errorf("a secret is shown: %v", err)
			}
		})
	}
}

// What editors leave in a file means nothing.
func TestFileEncodings(t *testing.T) {
	for name, text := range map[string]string{
		"mark in front": "\ufeffversion: 1\nworkers: {max: 7}\n", "Windows": "version: 1\r\nworkers:\r\n  max: 7\r\n",
		"no end of line": "workers: {max: 7}", "document marks": "---\nworkers: {max: 7}\n...\n",
		"tab between": "workers:\n  max:\t7\n",
	} {
		if l := mustLoad(t, LoadOptions{OfficeDir: configtest.Office(t, text)}); l.Config.Workers.Max != 7 {
			t.Errorf("%s: workers.max is %d", name, l.Config.Workers.Max)
		}
	}
}

func TestBadEnvAndFlags(t *testing.T) {
	for _, c := range []struct {
		name       string
		opts       LoadOptions
		want, hint string
	}{
		{"environment", LoadOptions{Env: configtest.Env(map[string]string{"COMPANY_WORKERS_MAX": "x"})},
			`COMPANY_WORKERS_MAX: workers.max is not what is needed, found "x"`, "allowed: a whole number from 1 to 64"},
		{"empty variable", LoadOptions{Env: configtest.Env(map[string]string{"COMPANY_WORKERS_MAX": ""})},
			`COMPANY_WORKERS_MAX: workers.max is not what is needed, found ""`, "allowed: a whole number from 1 to 64"},
		{"main by environment", LoadOptions{Env: configtest.Env(map[string]string{"COMPANY_GIT_INTEGRATION_BRANCH": "Main"})},
			`COMPANY_GIT_INTEGRATION_BRANCH: git.integration_branch must never be main or master, found "Main"`,
			"name a branch that collects the work, such as develop; the pull request goes to main"},
		{"flag", LoadOptions{Flags: map[string]string{"workers.mx": "3"}}, "flag workers.mx: unknown key workers.mx",
			"did you mean workers.max?"},
		{"section as flag", LoadOptions{Flags: map[string]string{"workers": "3"}}, "flag workers: unknown key workers",
			"keys look like workers.max, and are those of company.yaml"},
		{"profile as flag", LoadOptions{Flags: map[string]string{"models.defalt.model": "3"}},
			"flag models.defalt.model: unknown key models.defalt.model", "did you mean models.default.model?"},
		{"flag value", LoadOptions{Flags: map[string]string{"budget.usd": "much"}},
			`flag budget.usd: budget.usd is not what is needed, found "much"`,
			"allowed: none, or an amount in USD, such as 5 or 0.25, up to 1000000"},
	} {
		_, err := Load(t.Context(), c.opts)
		var e *company.Error
		if !errors.As(err, &e) || e.Message != c.want || e.Hint != c.hint {
			t.Errorf("%s: got %q, hint %q", c.name, e.Message, e.Hint)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ConfigName), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(t.Context(), LoadOptions{OfficeDir: dir}); company.CodeOf(err) != company.EConfig {
		t.Errorf("a folder called company.yaml: %v", err)
	}
}

// All problems are told at once, up to ten.
func TestManyProblems(t *testing.T) {
	var text strings.Builder
	for i := range 12 {
		fmt.Fprintf(&text, "zzzzzzzz%d: 1\n", i)
	}
	dir := configtest.Office(t, text.String())
	_, err := Load(t.Context(), LoadOptions{OfficeDir: dir})
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 12 || lines[0] != "12 problems" || !strings.Contains(lines[10], ":10:1: unknown key zzzzzzzz9;") ||
		strings.TrimSpace(lines[11]) != "and 2 more" {
		t.Fatalf("got %q", lines)
	}
}

// Files with keys that others can read are refused by CheckKeyFiles, not by Load.
func TestCheckKeyFiles(t *testing.T) {
	dir := configtest.Office(t, "git: {credential: deploy_key}\n")
	key := filepath.Join(dir, "key")
	configtest.WriteFile(t, key, "secret")
	l := mustLoad(t, LoadOptions{OfficeDir: dir, Flags: map[string]string{"git.deploy_key_file": key}})
	want := `flag git.deploy_key_file: git.deploy_key_file holds keys and can be read by others (mode 0644)`
	if err := l.CheckKeyFiles(); company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), want) {
		t.Errorf("%q is missing in\n%v", want, err)
	}
	if err := os.Chmod(key, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.CheckKeyFiles(); err != nil {
		t.Errorf("a private file is refused: %v", err)
	}
}

func TestForHost(t *testing.T) {
	l := mustLoad(t, LoadOptions{})
	c := l.ForHost(HostResources{CPUs: 1, Memory: 9 << 30})
	if c.Workers.Max != 2 || c.Workers.CPUs != 1 || c.Workers.Disk != 2<<30 {
		t.Errorf("small host: %+v", c.Workers)
	}
	if c := l.ForHost(HostResources{CPUs: 8, Memory: 1 << 30, SizeOption: true}); c.Workers.Max != 1 ||
		c.Workers.CPUs != 2 || c.Workers.Disk != 10<<30 {
		t.Errorf("no memory: %+v", c.Workers)
	}
	l = mustLoad(t, LoadOptions{Flags: map[string]string{"workers.max": "5", "workers.disk": "1g"}})
	if c := l.ForHost(HostResources{CPUs: 8, Memory: 1 << 30}); c.Workers.Max != 5 || c.Workers.Disk != 1<<30 {
		t.Errorf("what somebody set: %+v", c.Workers)
	}
	if got := l.Config.BudgetCap(true); got != (company.Amount{MicroUSD: 5_000_000, Tokens: company.NoCap}) {
		t.Errorf("cap with prices: %+v", got)
	}
	if got := l.Config.BudgetCap(false); got != (company.Amount{MicroUSD: 5_000_000, Tokens: 5_000_000}) {
		t.Errorf("cap without prices: %+v", got)
	}
}

func genConfig(t *rapid.T) Config {
	c := Default()
	word := rapid.StringMatching(`[A-Za-z0-9 .:"'#\\{}\[\]&*!|>%@,é-]{1,20}`)
	c.Workers.Max = rapid.IntRange(1, 64).Draw(t, "max")
	c.Workers.RunTimeout = time.Duration(rapid.Int64Range(int64(time.Hour), int64(100*time.Hour)).Draw(t, "run"))
	c.Workers.Memory = Size(rapid.Int64Range(64<<20, 64<<40).Draw(t, "memory"))
	c.Workers.Disk = AutoSize(rapid.SampledFrom([]int64{0, 1 << 30, 123456789}).Draw(t, "disk"))
	c.Workers.CPUs = rapid.Float64Range(0.1, 1024).Draw(t, "cpus")
	c.Budget.USD = USDCap(rapid.Int64Range(-1, 1_000_000_000_000).Draw(t, "usd"))
	c.Budget.Tokens = TokenCap(rapid.Int64Range(-2, 1_000_000_000_000).Draw(t, "tokens"))
	c.Git.Signoff = rapid.Bool().Draw(t, "signoff")
	c.Approvals.Plan = rapid.SampledFrom([]string{"auto", "ask"}).Draw(t, "plan")
	c.Container.Setup = rapid.SliceOfN(
		word.Filter(func(s string) bool { return strings.TrimSpace(s) != "" }), 0, 3).Draw(t, "setup")
	if len(c.Container.Setup) == 0 {
		c.Container.Setup = nil
	}
	c.Agents.Worker.Persona = rapid.StringOf(
		rapid.Rune().Filter(func(r rune) bool {
			return r == '\n' || r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0xa0)
		})).Draw(t, "persona")
	switch rapid.IntRange(0, 2).Draw(t, "gate") {
	case 0:
		c.Gates.Test = Command{Line: "x" + word.Draw(t, "line")}
	case 1:
		c.Gates.Test = Command{Argv: []string{"go", word.Draw(t, "arg"), "null"}}
	}
	temp := rapid.Float64Range(0, 2).Draw(t, "temperature")
	c.Models["m-1"] = Model{Adapter: "openai", Model: "m" + word.Draw(t, "model"), Fallback: []string{"default"},
		Temperature: &temp, Tools: rapid.SampledFrom([]string{"auto", "yes", "no"}).Draw(t, "tools"),
		Images: rapid.SampledFrom([]string{"auto", "yes", "no"}).Draw(t, "images"),
		Price:  &Price{Input: USD(rapid.Int64Range(0, 1_000_000_000_000).Draw(t, "price")), Output: 1, Cached: 0, Write: 2}}
	c.setDefaultModels()
	return c
}

// schemaAccepts holds a file to the JSON Schema, by a reader of YAML and a
// validator that are not ours.
func schemaAccepts(t testing.TB, data []byte) error {
	t.Helper()
	schema, err := compiledSchema()
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return err
	}
	j, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(j))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

var compiledSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("company.json", doc); err != nil {
		return nil, err
	}
	return compiler.Compile("company.json")
})

// Feature: config, Property 2: Config Round-Trip
//
// What YAML writes, Load reads to the same values, and another YAML reader
// and the schema agree (CFG-1).
func TestConfigRoundTrip(t *testing.T) {
	dir := t.TempDir()
	valid := func(data []byte) error { return schemaAccepts(t, data) }
	rapid.Check(t, func(t *rapid.T) {
		want := genConfig(t)
		if err := os.WriteFile(filepath.Join(dir, ConfigName), toYAML(want), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Load(t.Context(), LoadOptions{OfficeDir: dir, trial: anyTrust})
		if err != nil {
			t.Fatalf("%v\n%s", err, toYAML(want))
		}
		if diff := diffConfigs(got.Config, want); diff != "" || !reflect.DeepEqual(got.Config, want) {
			t.Fatalf("%s\n%s", diff, toYAML(want))
		}
		if err := valid(toYAML(want)); err != nil {
			t.Fatalf("schema: %v\n%s", err, toYAML(want))
		}
	})
	if err := valid([]byte(designYAML)); err != nil {
		t.Errorf("the design's example: %v", err)
	}
	for _, bad := range []string{"wrokers: {}", "workers: {max: 0}", "workers: {memory: 4}", "bus: {driver: x}",
		"models: {a: {model: m}}", "budget: {usd: -1}"} {
		if valid([]byte(bad)) == nil {
			t.Errorf("the schema accepts %s", bad)
		}
	}
}

// No text crashes the reader or takes long.
func FuzzParseYAML(f *testing.F) {
	f.Add(designYAML)
	f.Add("a: &a [*a]\n")
	f.Add("? ? ?\n")
	f.Fuzz(func(t *testing.T, text string) {
		l := loader{cfg: Default(), origin: map[string]string{}}
		root, ps := parseYAML("f", []byte(text))
		if root.kind == nodeMap && len(ps) == 0 {
			l.applyTree(root)
		}
		for _, p := range append(ps, l.problems...) {
			if p.at == "" || p.what == "" || p.fix == "" {
				t.Fatalf("a problem without place, cause or fix: %+v", p)
			}
		}
	})
}

// An empty text where a key that is not set means somebody else's service, or a key for
// it, is a slip, such as a variable that was not set: it is refused, in every source.
func TestEmptyIsNotUnset(t *testing.T) {
	for key, file := range map[string]string{
		"models.default.base_url":    "models: {default: {adapter: openai, model: m, base_url: '', api_key_env: K}}\n",
		"models.default.api_key_env": "models: {default: {adapter: openai, model: m, api_key_env: \"\"}}\n",
		"forge.url":                  "forge: {kind: gitea, url: ''}\n",
		"forge.token_env":            "forge: {token_env: ''}\n",
	} {
		dir := configtest.Office(t, file)
		for where, o := range map[string]LoadOptions{
			"company.yaml": {OfficeDir: dir}, "a variable": {Env: configtest.Env(map[string]string{EnvName(key): ""})},
			"a flag": {Flags: map[string]string{key: ""}},
		} {
			o.trial = anyTrust
			_, err := Load(t.Context(), o)
			if company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), key+" is empty") ||
				!strings.Contains(fixOf(err), "or leave the key out for") {
				t.Errorf("%s in %s: %v (%s)", key, where, err, fixOf(err))
			}
		}
		if key == "forge.url" {
			continue
		}
		if _, err := Load(t.Context(),
			LoadOptions{OfficeDir: configtest.Office(
				t, strings.NewReplacer("base_url: '', ", "", ", api_key_env: \"\"", "", "forge: {token_env: ''}",
					"version: 1").Replace(file)), trial: anyTrust}); err != nil {
			t.Errorf("%s, left out: %v", key, err)
		}
	}
}
