package gates

import (
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// neededToolchains returns the toolchains of the parts and of the configured commands. spare are those of projects
// that have a manifest but no check. unneeded are spare ones that certainly no check calls.
func neededToolchains(
	tree *ecosystem.Tree, parts []ecosystem.Component, options Options,
) (all, spare, unneeded []string) {
	need := map[string]bool{}
	var commands []string
	for _, component := range parts {
		need[component.Kind] = true
		for _, kind := range kinds {
			if g := component.Check(kind); g != nil {
				commands = append(commands, g.Command)
			}
		}
	}
	for _, kind := range kinds {
		if g := options.overrideOf(kind); g != None && !g.isAuto() {
			commands = append(commands, string(g))
		}
	}
	addNeeds(tree, need, commands)
	checked := maps.Clone(need)
	for _, p := range selectWithin(tree.Projects(), options.Paths) {
		need[p.Kind] = true
	}
	addNeeds(tree, need, commands)
	for name := range need {
		if !checked[name] {
			spare = append(spare, name)
		}
	}
	spare = catalog.SortToolchains(spare)
	// In folders that the task names, packages are needed for the work, whatever the checks are.
	if len(options.Paths) == 0 && len(commands) > 0 && !slices.ContainsFunc(commands, mayCallAnything) {
		unneeded = spare
	}
	return catalog.SortToolchains(slices.Collect(maps.Keys(need))), spare, unneeded
}

// addNeedsOfMore adds the toolchains that additional checks need.
func (p *Project) addNeedsOfMore(tree *ecosystem.Tree, more []company.GateCommand) {
	if len(more) == 0 {
		return
	}
	need := map[string]bool{}
	for _, name := range p.Toolchains {
		need[name] = true
	}
	var commands []string
	for _, g := range more {
		commands = append(commands, g.Command)
	}
	addNeeds(tree, need, commands)
	p.Toolchains = catalog.SortToolchains(slices.Collect(maps.Keys(need)))
}

// isInEveryBase reports whether a toolchain adds no packages because every base image has it.
func isInEveryBase(name string) bool {
	for _, p := range catalog.Of[ecosystem.Provider]() {
		for _, tool := range p.Toolchains() {
			if tool.Name == name {
				return len(tool.Packages)+len(tool.Fallback) == 0 && tool.Tree == nil
			}
		}
	}
	return false
}

// isToolchain reports whether an ecosystem has a toolchain with this name.
func isToolchain(name string) bool {
	for _, p := range catalog.Of[ecosystem.Provider]() {
		for _, tool := range p.Toolchains() {
			if tool.Name == name {
				return true
			}
		}
	}
	return false
}

// mayCallAnything reports whether the programs that a command calls are unknown, as with make or a script such as
// ./ci.sh.
func mayCallAnything(command string) bool {
	toolchain := ToolchainOf(command)
	return toolchain == "" || toolchain == "make"
}

// addNeeds adds the toolchains of commands, of commands in the files of needed ecosystems, and the toolchains that
// these need in turn.
func addNeeds(tree *ecosystem.Tree, need map[string]bool, commands []string) {
	for _, c := range commands {
		if name := ToolchainOf(c); name != "" {
			need[name] = true
		}
	}
	for _, caller := range catalog.Of[ecosystem.Caller]() {
		if !need[caller.Name()] {
			continue
		}
		for _, call := range caller.Calls(tree) {
			if name := ToolchainOf(call); name != "" {
				need[name] = true
			}
		}
	}
	for _, e := range catalog.Of[ecosystem.Needer]() {
		for _, name := range e.Needs(tree, func(name string) bool { return need[name] }, commands) {
			need[name] = true
		}
	}
}

// ToolchainOf returns the toolchain that a command's program needs, or "".
func ToolchainOf(command string) string {
	for w := range strings.FieldsSeq(command) {
		if w == "exec" || strings.Contains(w, "=") {
			continue
		}
		for _, detector := range catalog.Of[ecosystem.Detector]() {
			if slices.Contains(detector.Programs(), w) {
				return detector.Name()
			}
		}
		break
	}
	return ""
}
