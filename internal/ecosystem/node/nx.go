package node

import (
	"encoding/json"
	"strings"

	"company/internal/company"
	"company/internal/testreport"
)

// nxLintPlugin gives each project of an Nx workspace that ESLint is configured for a target, with no script for it.
const nxLintPlugin = "@nx/eslint/plugin"

// findNxLint is the linter of the projects of an Nx workspace, where a plugin runs it. No script asks for
// it, so that it judges where the base is green by it.
func (s scriptChecks) findNxLint() *company.GateCommand {
	if !s.manifest.dependsOn("nx") || !s.isInstalled("eslint") || !s.tree.HasFile(s.dir, "nx.json") {
		return nil
	}
	target := nxLintTarget(s.tree.ReadManifest(s.dir, "nx.json"))
	if !scriptNameRE.MatchString(target) {
		return nil
	}
	command := "nx run-many -t " + target
	one := step{text: command, words: strings.Fields(command)}
	env, report, _ := forPackages(one)
	own := packageJSON{managed: s.manifest.managed}
	return &company.GateCommand{Command: s.m.commandOf(one), Report: own.pinTexts(s.dir, env+report), Probe: s.m.Probe("nx"), Parse: testreport.FormatLint, Provisional: true}
}

// nxLintTarget is the target by which Nx's ESLint plugin lints a package. Empty: the workspace does not
// use the plugin.
func nxLintTarget(nx string) string {
	var config struct{ Plugins []json.RawMessage }
	if json.Unmarshal([]byte(nx), &config) != nil {
		return ""
	}
	for _, raw := range config.Plugins {
		one := struct {
			Plugin  string
			Options struct{ TargetName string }
		}{}
		if json.Unmarshal(raw, &one.Plugin) != nil && json.Unmarshal(raw, &one) != nil || one.Plugin != nxLintPlugin {
			continue
		}
		if one.Options.TargetName == "" {
			return "lint"
		}
		return one.Options.TargetName
	}
	return ""
}
