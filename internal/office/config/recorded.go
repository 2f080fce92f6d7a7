package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/lib/shellquote"
)

// recordedKeys are the keys that affect the outcome of a task, besides those that are frozen into the task. Keys that
// depend on a machine or a person are left out: the daemon, memory, logins, signing and variables with secrets.
var recordedKeys = []string{
	"container.deps", "container.dockerfile", "container.image", "container.setup", "deps.scripts", "deps.without",
	"gates.build", "gates.canary", "gates.first_step_after", "gates.lint", "gates.red_green", "gates.services",
	"gates.test", "gates.types",
	"git.author", "git.integration_branch", "git.signoff",
	"limits.stop_grace", "workers.command_timeout", "workers.run_timeout",
}

// RecordedValues returns the values that the record of a task contains, by key, as in company.yaml. It contains no
// secrets.
func (c Config) RecordedValues() map[string]string {
	all, out := flattenConfig(c), map[string]string{}
	for _, key := range recordedKeys {
		out[key] = all[key]
	}
	return out
}

// originRecord is the origin of a value from a record.
const originRecord = "the record"

// applyRecord applies the values from the record of a task. It skips keys of other versions of the program.
func (l *loader) applyRecord() {
	for _, key := range slices.Sorted(maps.Keys(l.opts.Record)) {
		v, tag, ok := leafOf(reflect.ValueOf(&l.cfg).Elem(), key)
		if !ok || !slices.Contains(recordedKeys, key) {
			continue
		}
		node, ok := parseValue(l.opts.Record[key])
		if !ok {
			l.problems = append(l.problems,
				problem{at: originRecord, key: key, what: "cannot be read", fix: "save the record again"})
			continue
		}
		decoder := l.newDecoder()
		decoder.decodeValue(v, node.placeAt(originRecord), key, tag)
		l.problems = append(l.problems, decoder.problems...)
		l.origin[key] = originRecord
	}
}

// distrustRecord refuses values of a record that change how images and packages are built. The author of the record
// could run commands as root in a container with network access. The value is accepted if the user sets the same key
// themselves.
func (l *loader) distrustRecord(lower Config) problems {
	before, after := flattenConfig(lower), flattenConfig(l.cfg)
	var ps problems
	for _, key := range recordedKeys {
		ofImage := strings.HasPrefix(key, "container.") || strings.HasPrefix(key, "deps.")
		if !ofImage || l.origin[key] != originRecord || before[key] == after[key] || key == "container.deps" ||
			key == "deps.without" {
			continue
		}
		ps = append(ps, problem{at: originRecord, key: key, what: "needs your word", found: after[key], code: company.EConfig,
			fix: "read it, then add --set " + shellquote.QuoteArgument(key+"="+unquoteText(after[key]))})
	}
	return ps
}

// unquoteText returns a YAML value as a flag takes it, without the quotes of a text.
func unquoteText(value string) string {
	if text, err := strconv.Unquote(value); err == nil {
		return text
	}
	return value
}
