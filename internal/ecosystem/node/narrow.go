package node

import (
	"encoding/json"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// fastScripts are scripts that run the quick part of tests, by their usual names.
var fastScripts = []string{"test:unit", "test-unit", "unit", "test:fast", "test:quick", "test-fast", "test:short", "unit-test", "unittest"}

// Narrow is the script for the quick part of the tests.
func (Ecosystem) Narrow(t *ecosystem.Tree, g company.GateCommand) (command, why string, ok bool) {
	client, isTest := strings.CutSuffix(g.Command, " test")
	if !isTest || !slices.Contains([]string{"npm", "pnpm", "yarn"}, client) {
		return "", "", false
	}
	var p packageJSON
	if json.Unmarshal([]byte(t.ReadManifest(g.Dir, "package.json")), &p) != nil {
		return "", "", false
	}
	for _, name := range fastScripts {
		if p.Scripts[name] != "" {
			return client + " run " + name, manifestIn(g.Dir) + " has the script " + name, true
		}
	}
	return "", "", false
}
