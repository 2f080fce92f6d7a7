package node

import (
	"encoding/json"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/testreport"
)

// nxLintPlugin is a plugin that gives each Nx project with an ESLint configuration a lint target without a
// script.
const nxLintPlugin = "@nx/eslint/plugin"

// findNxLint returns a lint check of all projects in an Nx workspace that uses nxLintPlugin, or nil. No
// script asks for it, so it is provisional: it counts only if the base passes it.
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
	return &company.GateCommand{Command: s.m.commandOf(one), Report: own.pinTexts(s.dir, env+report),
		Probe: s.m.Probe("nx"), Parse: testreport.FormatLint, Provisional: true}
}

// nxLintTarget returns the target name of Nx's ESLint plugin. It returns "" if the workspace does not use
// the plugin.
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
