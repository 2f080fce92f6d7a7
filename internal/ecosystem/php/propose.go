package php

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"company/internal/ecosystem"
)

// maxScripts bounds the scripts of a composer.json that are named.
const maxScripts = 200

var _ ecosystem.Proposer = Ecosystem{}

// Propose names the scripts of the composer.json at the root. What composer runs by itself, before and after its own work, is none.
func (Ecosystem) Propose(t *ecosystem.Tree) (out []ecosystem.Proposal) {
	text := t.ReadManifest("", manifest)
	var m struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(m.Scripts))
	for _, name := range names[:min(len(names), maxScripts)] {
		if strings.HasPrefix(name, "pre-") || strings.HasPrefix(name, "post-") || strings.ContainsAny(name, " \t\n'\"$`\\") {
			continue
		}
		p := ecosystem.Proposal{Command: "composer " + name, File: manifest, Line: 1}
		if at := strings.Index(text, strconv.Quote(name)+":"); at >= 0 {
			p.Line += strings.Count(text[:at], "\n")
		}
		lines, isList := m.Scripts[name].([]any)
		if !isList {
			lines = []any{m.Scripts[name]}
		}
		for _, line := range lines {
			if run, _ := line.(string); run != "" && !strings.HasPrefix(run, "@putenv") {
				p.Runs = append(p.Runs, expandScript(run))
			}
		}
		if len(p.Runs) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// expandScript is a line of a script as a shell takes it: @php and @composer are these programs, @name is another script.
func expandScript(run string) string {
	rest, isOwn := strings.CutPrefix(run, "@")
	if !isOwn || strings.HasPrefix(rest, "php ") || strings.HasPrefix(rest, "composer ") {
		return rest
	}
	return "composer " + rest
}
