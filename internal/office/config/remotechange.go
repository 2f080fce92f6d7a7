package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"company/internal/company"
)

// remoteKeys are the keys that a request from outside of the machine may change: limits, checks and approvals of the
// work. They name no programs, files, addresses, variables or containers, and do not affect access to the office. Any
// other key is refused.
var remoteKeys = []string{
	"agents.manager.model", "agents.worker.model", "agents.reviewer.model", "agents.merger.model",
	"agents.second_reviewer.model",
	"agents.manager.max_turns", "agents.worker.max_turns", "agents.reviewer.max_turns", "agents.merger.max_turns",
	"agents.second_reviewer.max_turns",
	"agents.worker.escalate_to",
	"approvals.plan", "approvals.merge", "approvals.pr", "approvals.deps",
	"budget.usd", "budget.tokens", "budget.day_usd", "budget.day_tokens", "budget.office_usd", "budget.office_tokens",
	"gates.none", "gates.red_green", "gates.canary", "gates.first_step_after", "gates.protect_tests", "gates.protected",
	"limits.concurrent_tasks", "limits.conflicts", "limits.continuations", "limits.gate_retries", "limits.merge_stack",
	"limits.model_silence", "limits.model_wait",
	"limits.readers", "limits.review_rounds", "limits.run_retries", "limits.stop_grace", "limits.writers",
	"plan.allow_tiny", "plan.max_effort", "plan.max_subtasks", "plan.max_write_set",
	"recovery", "retention_days",
	"workers.command_timeout", "workers.max", "workers.run_timeout", "workers.warm",
}

// FileDigest returns the SHA-256 of a config file in hexadecimal. It returns "" if the file does not exist.
func FileDigest(path string) (string, error) {
	data, err := (&loader{}).readFile(path)
	if err != nil {
		return "", err
	}
	return digestText(data), nil
}

func digestText(data []byte) string {
	if data == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// checkRemoteKey refuses a key that a remote change may not set. It reads no files.
func checkRemoteKey(change Change) error {
	if !change.Remote || slices.Contains(remoteKeys, change.Key) {
		return nil
	}
	return company.E(company.EAccess, "a token cannot change "+shortenText(quoteIfOdd(change.Key))).
		Because("it may name a program, a file, an address, a secret or a limit of this machine").
		Fix("on the machine of the office: company config set")
}

// checkRemoteChange refuses a remote change that makes a value less strict. It allows the same values as a
// company.yaml without trust. Environment variables are ignored on both sides, because the next start may lack a
// variable that hides the value.
func checkRemoteChange(ctx context.Context, loadOptions LoadOptions, change Change, old, text []byte) error {
	if !change.Remote {
		return nil
	}
	env := loadOptions.Env
	loadOptions.Environ, loadOptions.Env = nil, func(name string) (string, bool) {
		if strings.HasPrefix(name, "COMPANY_") {
			return "", false
		}
		return env(name)
	}
	load := func(data []byte) (Loaded, error) {
		loadOptions.trial = &trialFile{path: change.File, data: data}
		return Load(ctx, loadOptions)
	}
	before, err := load(old)
	if err != nil {
		return err
	}
	after, err := load(text)
	if err != nil {
		return err
	}
	had, has := flattenConfig(before.Config), flattenConfig(after.Config)
	for _, key := range sortedKeys(had, has) {
		if had[key] == has[key] || slices.Contains(remoteKeys, key) &&
			!needsTrust(key, had[key], has[key], before.Config, after.Config) {
			continue
		}
		return company.E(company.EAccess, "a token cannot loosen "+key).
			Because("it is " + maskValue(key, had[key]) + " and would be " + maskValue(key, has[key])).
			Fix("on the machine of the office: company config set")
	}
	return nil
}

// checkDigest refuses a change if the file differs from the one that the caller read.
func checkDigest(change Change, data []byte) error {
	if change.Digest == nil || *change.Digest == digestText(data) {
		return nil
	}
	return company.E(company.EConflict, change.File+" was changed since it was read").
		Fix("read it again: GET /api/v1/config has its digest")
}
