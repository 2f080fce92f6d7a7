package config

import (
	"maps"
	"slices"
	"strings"
)

// applyFlags applies the keys set on the command line.
func (l *loader) applyFlags() {
	for _, key := range slices.Sorted(maps.Keys(l.opts.Flags)) {
		l.applyFlag(key, node{at: "flag " + key, kind: nodeUntyped, text: l.opts.Flags[key]})
	}
}

// applyFlag sets a key, or each key below it if the value is a mapping in braces. A mapping may name a new model
// profile.
func (l *loader) applyFlag(key string, n node) {
	if n.kind == nodeUntyped && strings.HasPrefix(strings.TrimSpace(n.text), "{") {
		if section, ok := parseValue(n.text); ok && section.kind == nodeMap {
			n.kind, n.fields = section.kind, section.fields
		}
	}
	if n.kind == nodeMap && len(n.fields) > 0 && !slices.Contains(l.allKeys(), key) {
		if name, ok := strings.CutPrefix(key, "models."); ok && profileRE.MatchString(name) {
			l.cfg.Models = maps.Clone(l.cfg.Models)
			if _, known := l.cfg.Models[name]; !known {
				l.cfg.Models[name] = Model{}
			}
		}
		for _, nodeField := range n.fields {
			nodeField.node.at = n.at
			l.applyFlag(joinKey(key, nodeField.key), nodeField.node)
		}
		return
	}
	if l.setNode(key, n) {
		return
	}
	p := problem{at: n.at, what: "unknown key " + shortenText(key),
		fix: "keys look like workers.max, and are those of company.yaml"}
	if near := nearestKey(key, l.allKeys()); near != "" {
		p.fix = "did you mean " + near + "?"
	}
	l.problems = append(l.problems, p)
}
