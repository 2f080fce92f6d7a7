package app

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/container/dockerapi"
	"company/internal/engine/orchestrator"
	"company/internal/ledger"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
	"company/internal/present/feed"
)

// What the config says of limits reaches the core: none stays none, and one
// model without a price, be it a fallback, means that tokens are counted.
func TestCompanySettings(t *testing.T) {
	c := config.Default()
	price := &config.Price{Input: 1, Output: 1}
	c.Models = map[string]config.Model{
		"default": {Adapter: "openai", Model: "m", BaseURL: "http://127.0.0.1:1", Price: price, Fallback: []string{"second"}},
		"second":  {Adapter: "openai", Model: "m", BaseURL: "http://127.0.0.1:1", Price: price},
	}
	c.Agents.Manager.Model, c.Agents.Worker.Model, c.Agents.Reviewer.Model, c.Agents.Merger.Model = "default", "default",
		"default", "default"
	if got := CompanySettings(c).Cap; got != (company.Amount{MicroUSD: 5_000_000, Tokens: company.NoCap}) {
		t.Errorf("all have a price: the cap is %+v", got)
	}
	c.Models["second"] = config.Model{Adapter: "openai", Model: "m", BaseURL: "http://127.0.0.1:1"}
	if got := CompanySettings(c).Cap; got.Tokens != 5_000_000 {
		t.Errorf("a fallback has no price: the cap is %+v", got)
	}
	c.Limits.Continuations, c.Limits.ModelWait = 0, 0
	if s := CompanySettings(c).WithDefaults(); s.Continuations > 0 || s.ModelWait > 0 {
		t.Errorf("none became %d continuations and %s", s.Continuations, s.ModelWait)
	}
	// SUB-13: the limits of a plan.
	if g := CompanySettings(c).Granularity; g.Describe() != nil || g.AllowTiny {
		t.Errorf("the default limits of a plan are %+v", g)
	}
	c.Plan = config.PlanLimits{MaxSubtasks: 3, MaxWriteSet: 8, MaxEffort: company.EffortMedium, AllowTiny: true}
	if g := CompanySettings(
		c).Granularity; g != (company.Granularity{MaxSubtasks: 3, MaxWriteSet: 8, MaxEffort: company.EffortMedium,
		AllowTiny: true}) {
		t.Errorf("the limits of a plan became %+v", g)
	}
	// SUB-6: when a ticket goes to the manager.
	c.Limits.RunRetries, c.Limits.GateRetries, c.Limits.ReviewRounds, c.Limits.Conflicts = 3, 4, 5, 6
	if s := CompanySettings(c); s.RunRetries != 3 || s.GateRetries != 4 || s.ReviewRounds != 5 || s.Conflicts != 6 {
		t.Errorf("%d, %d, %d, %d", s.RunRetries, s.GateRetries, s.ReviewRounds, s.Conflicts)
	}
	// REV-4: findings are confirmed where it is set.
	if got := CompanySettings(c).ConfirmReview; got != "" {
		t.Errorf("review.confirm is %q by default", got)
	}
	c.Review.Confirm = company.ConfirmBlocking
	if got := CompanySettings(c).ConfirmReview; got != company.ConfirmBlocking {
		t.Errorf("review.confirm became %q", got)
	}
	if got := CompanySettings(c); got.KeepsHistory() || got.History != "" {
		t.Errorf("git.history is %q by default", got.History)
	}
	c.Git.History = company.HistoryKeep
	if !CompanySettings(c).KeepsHistory() {
		t.Error("git.history: keep is lost on the way")
	}
	c.Gates.ProtectTests = true
	if !CompanySettings(c).ProtectTests {
		t.Error("gates.protect_tests is lost on the way")
	}
	if HostMemory() < 64<<20 {
		t.Errorf("this machine has %d bytes of memory", HostMemory())
	}
}

// Who follows a company that cannot work any more is told why, instead of
// waiting for ever.
func TestFollowEndsWithTheCompany(t *testing.T) {
	bus, err := nats.Open(t.Context(), nats.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	}()
	h := &App{hub: feed.NewHub(0)}
	h.lifetime, h.fail = context.WithCancelCause(t.Context())
	if h.ledger, err = ledger.Open(t.Context(), bus, ledger.Options{}); err != nil {
		t.Fatal(err)
	}
	if h.orch, err = orchestrator.Open(t.Context(), orchestrator.Config{Ledger: h.ledger, Office: "k3fq"}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- h.Follow(t.Context(), feed.Range{From: 1}, func(feed.Item) error { return nil })
	}()
	broken := errors.New("the disk is full")
	h.fail(broken)
	select {
	case err := <-ended:
		if !errors.Is(err, broken) {
			t.Fatalf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it follows a company that is gone")
	}
}

// What is listed as read for each task is in what a task is given; what a company reads
// at its start is not.
func TestSettingsOfTasks(t *testing.T) {
	values := map[string]string{
		"approvals.plan": "ask", "approvals.merge": "ask", "approvals.pr": "ask", "approvals.deps": "ask", "budget.usd": "7",
		"budget.tokens":   "9",
		"container.image": "debian@sha256:" + strings.Repeat("0", 64), "container.dockerfile": "Dockerfile",
		"container.setup": "true", "container.deps": "off", "deps.scripts": "esbuild", "deps.without": "pypi",
		"gates.generate": "x/** = make x", "gates.lint": "true", "gates.types": "true", "gates.build": "true",
		"gates.test": "true", "gates.none": "fail", "gates.services": "redis", "gates.protect_tests": "true",
		"gates.red_green": "require", "gates.protected": "a/**",
		"git.base": "trunk", "git.paths": "api", "git.integration_branch": "next", "git.history": "keep",
		"limits.model_wait": "1m", "limits.continuations": "1", "limits.run_retries": "5", "limits.gate_retries": "5",
		"limits.review_rounds": "5", "limits.conflicts": "5", "limits.merge_stack": "2", "limits.exclusive": "true",
		"workers.run_timeout": "10m", "agents.worker.escalate_to": "default",
		"agents.manager.model": "spare", "agents.worker.model": "spare", "agents.reviewer.model": "spare",
		"agents.merger.model": "spare", "agents.second_reviewer.model": "spare",
		"agents.manager.max_turns": "9", "agents.worker.max_turns": "9", "agents.reviewer.max_turns": "9",
		"agents.merger.max_turns": "9", "agents.second_reviewer.max_turns": "9",
		"agents.manager.persona": "x", "agents.worker.persona": "x", "agents.reviewer.persona": "x",
		"agents.merger.persona": "x", "agents.second_reviewer.persona": "x",
		"models.default.model": "qwen3", "models.default.fallback": "[spare]", "models.default.context_tokens": "9000",
		"models.default.max_output": "900", "models.default.temperature": "1", "models.default.tools": "no",
		"models.default.base_url": "http://127.0.0.1:1",
		"plan.way":                "one", "plan.max_subtasks": "3", "plan.max_write_set": "8", "plan.max_effort": "medium",
		"plan.allow_tiny": "true", "review.confirm": "blocking",
		"workers.max": "2", "limits.concurrent_tasks": "1", "git.remote": "upstream", "forge.kind": "local",
		"retention_days": "1",
	}
	dir := t.TempDir()
	text := "models: {default: {adapter: ollama, model: llama3}, spare: {adapter: ollama, model: spare}}\n"
	configtest.WriteFile(t, filepath.Join(dir, "company", "config.yaml"), text)
	given := func(flags map[string]string) any {
		all := map[string]string{}
		if _, ok := flags["agents.second_reviewer.model"]; !ok {
			all["agents.second_reviewer.model"] = "default"
		}
		maps.Copy(all, flags)
		loaded, err := config.Load(t.Context(),
			config.LoadOptions{Flags: all, Env: configtest.Env(map[string]string{"XDG_CONFIG_HOME": dir})})
		if err != nil {
			t.Fatal(err)
		}
		return []any{CompanySettings(loaded.Config), intakeProject(loaded.Config, nil), loaded.Config.Git.Base}
	}
	for key, value := range values {
		if changes := !reflect.DeepEqual(given(nil), given(map[string]string{key: value})); changes != IsSettingOfTasks(key) {
			t.Errorf("%s changes what a task is given: %v; it is listed: %v", key, changes, IsSettingOfTasks(key))
		}
	}
	for _, key := range settingsOfTasks {
		if values[key] == "" {
			t.Errorf("%s has no value here", key)
		}
	}
}

// DOCKER_HOST goes before container.docker_host, as it does in Docker's own client. container.allow narrows the
// commands, and all are allowed by default (CTR-2).
func TestDaemonOf(t *testing.T) {
	c := config.Default()
	c.Container.DockerHost = "unix:///run/user/1000/docker.sock"
	for host, want := range map[string]string{"": c.Container.DockerHost, "tcp://127.0.0.1:2375": ""} {
		env := func(name string) (string, bool) { return host, name == "DOCKER_HOST" }
		if got := DaemonOf(c, env, nil); got.Host != want || got.Cleanup != time.Minute {
			t.Errorf("DOCKER_HOST %q: %+v", host, got)
		}
	}
	var all []string
	for _, word := range dockerapi.Words {
		all = append(all, string(word))
	}
	noEnv := func(string) (string, bool) { return "", false }
	if got := DaemonOf(c, noEnv, nil); !slices.Equal(got.Allow, all) {
		t.Errorf("allowed are %v, want %v", got.Allow, all)
	}
	c.Container.Allow = []string{"exec"}
	if _, err := DaemonOf(c, noEnv, nil).OpenRuntime(t.Context()); company.CodeOf(err) != company.EConfig {
		t.Errorf("an unknown command: %v", err)
	}
}

// A protected folder is protected in the form of its name that the repository has: what a person typed
// is composed, what macOS tracked may be decomposed.
func TestProtectedInEachNormalForm(t *testing.T) {
	const composed, decomposed = "Vertr\u00e4ge", "Vertra\u0308ge"
	for _, typed := range []string{composed, decomposed} {
		c := config.Default()
		c.Gates.Protected = []string{typed + "/**", "deploy/**"}
		s := CompanySettings(c)
		rules := company.PlanRules{Protected: s.Protected}
		for path, want := range map[string]bool{composed + "/a": true, decomposed + "/a": true, "vertra\u0308ge/a": true,
			"deploy/a": true, "Vertrage/a": false, "src/a": false} {
			if got := rules.IsProtected(path); got != want {
				t.Errorf("%+q of %+q is protected: %t", path, typed, got)
			}
		}
		if len(s.Protected) != 3 {
			t.Errorf("%+q", s.Protected)
		}
	}
	if got := CompanySettings(config.Default()).Protected; got != nil {
		t.Errorf("nothing is set: %q", got)
	}
}
