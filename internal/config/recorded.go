package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/shell"
)

// recordedKeys are the keys that the outcome of a task hangs on, beside those that are
// frozen into the task. What belongs to a machine or to a person (the daemon, memory,
// logins, signing, variables with secrets) is none.
var recordedKeys = []string{
	"container.deps", "container.dockerfile", "container.image", "container.setup", "deps.scripts", "deps.without",
	"gates.build", "gates.canary", "gates.first_step_after", "gates.lint", "gates.red_green", "gates.services", "gates.test", "gates.types",
	"git.author", "git.integration_branch", "git.signoff",
	"limits.stop_grace", "workers.command_timeout", "workers.run_timeout",
}

// RecordedValues are the values of a config that the record of a task takes along, by key,
// as in company.yaml. None is a secret.
func (c Config) RecordedValues() map[string]string {
	all, out := flattenConfig(c), map[string]string{}
	for _, key := range recordedKeys {
		out[key] = all[key]
	}
	return out
}

// originRecord is the origin of a value that a record has brought.
const originRecord = "the record"

// applyRecord sets what the record of a task says. Keys of another version of the program
// are passed over.
func (l *loader) applyRecord() {
	for _, key := range slices.Sorted(maps.Keys(l.opts.Record)) {
		v, tag, ok := leafOf(reflect.ValueOf(&l.cfg).Elem(), key)
		if !ok || !slices.Contains(recordedKeys, key) {
			continue
		}
		n, ok := parseValue(l.opts.Record[key])
		if !ok {
			l.problems = append(l.problems, problem{at: originRecord, key: key, what: "cannot be read", fix: "save the record anew"})
			continue
		}
		d := l.newDecoder()
		d.decodeValue(v, n.placeAt(originRecord), key, tag)
		l.problems = append(l.problems, d.problems...)
		l.origin[key] = originRecord
	}
}

// distrustRecord refuses what a record changes in the making of images and their packages:
// the author of the file would have commands run as root in a container with a network.
// A person's own word for the same key counts.
func (l *loader) distrustRecord(lower Config) problems {
	before, after := flattenConfig(lower), flattenConfig(l.cfg)
	var ps problems
	for _, key := range recordedKeys {
		ofImage := strings.HasPrefix(key, "container.") || strings.HasPrefix(key, "deps.")
		if !ofImage || l.origin[key] != originRecord || before[key] == after[key] || key == "container.deps" || key == "deps.without" {
			continue
		}
		ps = append(ps, problem{at: originRecord, key: key, what: "needs your word", found: after[key], code: company.EConfig,
			fix: "read it, then add --set " + shell.QuoteArgument(key+"="+unquoteText(after[key]))})
	}
	return ps
}

// unquoteText is a value of YAML as a flag takes it: a text stands without its quotes.
func unquoteText(value string) string {
	if text, err := strconv.Unquote(value); err == nil {
		return text
	}
	return value
}
