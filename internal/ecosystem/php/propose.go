package php

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"company/internal/ecosystem"
)

// maxScripts limits the scripts of a composer.json that are proposed.
const maxScripts = 200

var _ ecosystem.Proposer = Ecosystem{}

// Propose lists the scripts of the composer.json at the root. It skips hooks, which composer runs before
// and after its own commands.
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
		proposal := ecosystem.Proposal{Command: "composer " + name, File: manifest, Line: 1}
		if index := strings.Index(text, strconv.Quote(name)+":"); index >= 0 {
			proposal.Line += strings.Count(text[:index], "\n")
		}
		lines, isList := m.Scripts[name].([]any)
		if !isList {
			lines = []any{m.Scripts[name]}
		}
		for _, line := range lines {
			if run, _ := line.(string); run != "" && !strings.HasPrefix(run, "@putenv") {
				proposal.Runs = append(proposal.Runs, expandScript(run))
			}
		}
		if len(proposal.Runs) > 0 {
			out = append(out, proposal)
		}
	}
	return out
}

// expandScript converts a line of a script to a shell command. @php and @composer are these programs, and
// @name is another script.
func expandScript(run string) string {
	rest, isOwn := strings.CutPrefix(run, "@")
	if !isOwn || strings.HasPrefix(rest, "php ") || strings.HasPrefix(rest, "composer ") {
		return rest
	}
	return "composer " + rest
}
