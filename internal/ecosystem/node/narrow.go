package node

import (
	"encoding/json"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// fastScripts lists usual names of scripts that run only the quick tests.
var fastScripts = []string{"test:unit", "test-unit", "unit", "test:fast", "test:quick", "test-fast", "test:short",
	"unit-test", "unittest"}

// Narrow returns the script for the quick tests if the package has one.
func (Ecosystem) Narrow(tree *ecosystem.Tree, gateCommand company.GateCommand) (command, reason string, ok bool) {
	client, isTest := strings.CutSuffix(gateCommand.Command, " test")
	if !isTest || !slices.Contains([]string{"npm", "pnpm", "yarn"}, client) {
		return "", "", false
	}
	var p packageJSON
	if json.Unmarshal([]byte(tree.ReadManifest(gateCommand.Dir, "package.json")), &p) != nil {
		return "", "", false
	}
	for _, name := range fastScripts {
		if p.Scripts[name] != "" {
			return client + " run " + name, manifestIn(gateCommand.Dir) + " has the script " + name, true
		}
	}
	return "", "", false
}
