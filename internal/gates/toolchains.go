package gates

import (
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// neededToolchains are the toolchains of the parts and of the commands that were
// given; spare are those of projects that have a manifest and no check.
func neededToolchains(t *ecosystem.Tree, parts []ecosystem.Component, o Options) (all, spare, unneeded []string) {
	need := map[string]bool{}
	var commands []string
	for _, p := range parts {
		need[p.Kind] = true
		for _, kind := range kinds {
			if g := p.Check(kind); g != nil {
				commands = append(commands, g.Command)
			}
		}
	}
	for _, kind := range kinds {
		if g := o.overrideOf(kind); g != None && !g.isAuto() {
			commands = append(commands, string(g))
		}
	}
	addNeeds(t, need, commands)
	checked := maps.Clone(need)
	for _, p := range selectWithin(t.Projects(), o.Paths) {
		need[p.Kind] = true
	}
	addNeeds(t, need, commands)
	for name := range need {
		if !checked[name] {
			spare = append(spare, name)
		}
	}
	spare = catalog.SortToolchains(spare)
	// In folders that the task names the packages are for work, whatever the checks are.
	if len(o.Paths) == 0 && len(commands) > 0 && !slices.ContainsFunc(commands, mayCallAnything) {
		unneeded = spare
	}
	return catalog.SortToolchains(slices.Collect(maps.Keys(need))), spare, unneeded
}

// addNeedsOfMore adds what checks that were added to those of the parts call.
func (p *Project) addNeedsOfMore(t *ecosystem.Tree, more []company.GateCommand) {
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
	addNeeds(t, need, commands)
	p.Toolchains = catalog.SortToolchains(slices.Collect(maps.Keys(need)))
}

// isInEveryBase reports whether a toolchain brings nothing of its own, since each base has it.
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

// isToolchain reports whether an ecosystem has a toolchain of this name.
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

// mayCallAnything reports whether it is not known what a command calls: one of make, or of a
// program such as ./ci.sh.
func mayCallAnything(command string) bool {
	toolchain := ToolchainOf(command)
	return toolchain == "" || toolchain == "make"
}

// addNeeds adds the toolchains of commands, of what the files of needed ecosystems
// call, and what all those need in turn.
func addNeeds(t *ecosystem.Tree, need map[string]bool, commands []string) {
	for _, c := range commands {
		if name := ToolchainOf(c); name != "" {
			need[name] = true
		}
	}
	for _, e := range catalog.Of[ecosystem.Caller]() {
		if !need[e.Name()] {
			continue
		}
		for _, call := range e.Calls(t) {
			if name := ToolchainOf(call); name != "" {
				need[name] = true
			}
		}
	}
	for _, e := range catalog.Of[ecosystem.Needer]() {
		for _, name := range e.Needs(t, func(name string) bool { return need[name] }, commands) {
			need[name] = true
		}
	}
}

// ToolchainOf is the toolchain that a command's program needs, or nothing.
func ToolchainOf(command string) string {
	for w := range strings.FieldsSeq(command) {
		if w == "exec" || strings.Contains(w, "=") {
			continue
		}
		for _, e := range catalog.Of[ecosystem.Detector]() {
			if slices.Contains(e.Programs(), w) {
				return e.Name()
			}
		}
		break
	}
	return ""
}
