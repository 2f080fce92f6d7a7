package config

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"company/internal/office/config/configtest"
)

// Every key of the config works with another value than its default: nothing is accepted
// and ignored, and nothing that the schema has is refused later.
func TestEveryKeyWorks(t *testing.T) {
	// By key: another value than the default. Those that work have their use
	// in the wiring, and tests there.
	works := map[string]string{
		"version": "1", "workers.max": "7", "workers.run_timeout": "40m", "workers.command_timeout": "100s",
		"workers.memory": "2g", "workers.commands": "[go, make]",
		"workers.cpus": "1", "workers.pids": "100", "workers.disk": "100m", "workers.warm": "0",
		"container.image": "x@sha256:" + strings.Repeat("a", 64), "container.dockerfile": "Dockerfile",
		"container.setup": "[make]", "container.setup_env": "[TOKEN]", "container.logins": "[npm.example.com]",
		"container.deps": "off", "deps.scripts": "[better-sqlite3]", "deps.without": "[pypi]",
		"container.docker_host": "unix:///run/user/1000/docker.sock", "container.cleanup_timeout": "30s",
		"container.keep_images": "3", "container.allow": "[run, stop]", "log.level": "debug",
		"bus.driver": "file", "bus.path": "/srv/company", "watch.refresh": "1m", "git.base": "main", "git.integration_branch": "integ", "git.remote": "upstream",
		"git.author":     "A <a@example.com>",
		"git.credential": "ssh_agent", "git.deploy_key_file": "", "git.signoff": "true", "git.history": "keep",
		"git.paths": "[services/api]", "git.sign": "none", "git.use_my_logins": "false", "git.signing_key": "/k.pub",
		"forge.kind": "gitea", "forge.url": "https://git.example.com", "forge.token_env": "MY_TOKEN", "forge.app_id": "0",
		"forge.installation_id": "7",
		"forge.private_key_env": "APP_KEY", "forge.labels": "[company]", "forge.draft": "always", "forge.reviewers": "none",
		"gates.lint": "none", "gates.types": "none", "gates.build": "make", "gates.test": "make test", "gates.none": "allow",
		"gates.protected": "[x/**]", "gates.protect_tests": "true", "gates.canary": "false", "gates.first_step_after": "0s",
		"gates.red_green": "require", "gates.services": "[redis]", "gates.generate": "['x/** = make x']",
		"budget.usd": "1", "budget.tokens": "1000", "budget.day_usd": "3", "budget.day_tokens": "none",
		"budget.office_usd": "none", "budget.office_tokens": "9000", "approvals.plan": "ask", "approvals.merge": "ask",
		"approvals.pr": "ask",
		// Nothing can be added in this version, so nothing is added unasked.
		"forge.poll": "30s", "forge.webhook_secret_env": "HOOK", "forge.webhook_listen": "", "notify.by": "[bell]",
		"notify.webhook_url": "", "notify.webhook_secret_env": "HOOK", "approvals.deps": "ask",
		"limits.continuations": "0", "limits.run_retries": "1", "limits.gate_retries": "3", "limits.review_rounds": "4",
		"limits.conflicts": "5", "limits.model_wait": "0s", "limits.model_silence": "1m", "limits.stop_grace": "0s",
		"limits.concurrent_tasks": "1", "limits.merge_stack": "1", "limits.exclusive": "true", "limits.readers": "1",
		"limits.writers": "1", "plan.way": "one", "plan.max_subtasks": "3", "plan.max_write_set": "8",
		"plan.max_effort": "medium", "plan.allow_tiny": "true", "review.confirm": "blocking", "retention_days": "1",
		"recovery":     "ask",
		"serve.listen": `""`, "serve.hosts": "[company.example.com]", "serve.token_env": "COMPANY_TOKEN",
		"serve.tls_cert": "", "serve.tls_key": "",
		"paths.runtime": "runtime", "paths.backlog": "workflows/backlog",
		"agents.manager.model": "default", "agents.manager.max_turns": "5", "agents.manager.persona": "kind",
		"agents.worker.model": "default", "agents.worker.max_turns": "5", "agents.worker.persona": "kind",
		"agents.reviewer.model": "default", "agents.reviewer.max_turns": "5", "agents.reviewer.persona": "kind",
		"agents.merger.model": "default", "agents.merger.max_turns": "5", "agents.merger.persona": "kind",
		"agents.worker.escalate_to": "[default]", "agents.second_reviewer.model": "default",
		"agents.second_reviewer.max_turns": "5", "agents.second_reviewer.persona": "kind",
		"agents.manager.title": "Go developer", "agents.manager.capabilities": "[Go]",
		"agents.manager.responsibilities": "[tests]",
		"agents.worker.title":             "Go developer", "agents.worker.capabilities": "[Go]",
		"agents.worker.responsibilities": "[tests]",
		"agents.reviewer.title":          "Go developer", "agents.reviewer.capabilities": "[Go]",
		"agents.reviewer.responsibilities": "[tests]",
		"agents.merger.title":              "Go developer", "agents.merger.capabilities": "[Go]",
		"agents.merger.responsibilities": "[tests]",
		"agents.second_reviewer.title":   "Go developer", "agents.second_reviewer.capabilities": "[Go]",
		"agents.second_reviewer.responsibilities": "[tests]",
	}
	model := "{adapter: openai, model: m"
	check := func(key, value string) error {
		t.Helper()
		text := "models: {default: " + model + "}}\n"
		if value != "" {
			dotted := strings.Split(key, ".")
			last := len(dotted) - 1
			for i, part := range dotted {
				text += strings.Repeat("  ", i) + part + ":"
				if i < last {
					text += "\n"
				}
			}
			text += " " + value + "\n"
		}
		return mustLoad(t, LoadOptions{OfficeDir: configtest.Office(t, text)}).CheckKeyFiles()
	}
	for key, value := range works {
		if err := check(key, value); err != nil {
			t.Errorf("%s: %s: %v", key, value, err)
		}
	}
	// What a profile says reaches its model: TestProfiles of internal/surface/cli.
	model = "{adapter: openai, model: m, temperature: 0.5, tools: no"
	if err := check("version", "1"); err != nil {
		t.Errorf("a temperature, or no tools: %v", err)
	}

	l := mustLoad(t, LoadOptions{OfficeDir: configtest.Office(t, "version: 1\n")})
	for _, key := range slices.Sorted(maps.Keys(l.Origin)) {
		if _, ok := works[key]; !ok && !strings.HasPrefix(key, "models.") {
			t.Errorf("nobody says whether %s works", key)
		}
	}
}
