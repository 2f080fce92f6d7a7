package config

import (
	"maps"
	"slices"
	"strings"
)

// applyFlags applies the keys that the command line sets.
func (l *loader) applyFlags() {
	for _, key := range slices.Sorted(maps.Keys(l.opts.Flags)) {
		l.applyFlag(key, node{at: "flag " + key, kind: nodeUntyped, text: l.opts.Flags[key]})
	}
}

// applyFlag sets a key, or each key below it where the value is a mapping in braces. A mapping may name a
// model profile that is not there yet.
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
		for _, f := range n.fields {
			f.node.at = n.at
			l.applyFlag(joinKey(key, f.key), f.node)
		}
		return
	}
	if l.setNode(key, n) {
		return
	}
	p := problem{at: n.at, what: "unknown key " + shortenText(key), fix: "keys look like workers.max, and are those of company.yaml"}
	if near := nearestKey(key, l.allKeys()); near != "" {
		p.fix = "did you mean " + near + "?"
	}
	l.problems = append(l.problems, p)
}
