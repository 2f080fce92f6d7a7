package node

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// scriptRunner runs install scripts in a build container. All clients use it.
//
//go:embed runscripts.cjs
var scriptRunner string

const (
	runnerFile = ".company-runscripts.cjs"
	// scriptSeconds is a shell expression for the timeout of one script, in seconds: ten minutes, or less if
	// its step has less.
	scriptSeconds = "$(( ${COMPANY_STEP_SECONDS:-600} < 600 ? ${COMPANY_STEP_SECONDS:-600} : 600 ))"
)

// AddScripts adds a step to a layer that runs install scripts. It runs those of packages that are allowed
// by name and that the lock files name.
func AddScripts(sources ecosystem.Sources, install *ecosystem.Install, locked func(name string) bool) {
	names := slices.DeleteFunc(slices.Clone(sources.Scripts()),
		func(name string) bool { return checkName(name, "") != nil || !locked(name) })
	if len(names) == 0 || len(install.Steps) == 0 {
		return
	}
	list := strings.Join(names, " ")
	install.Stage = append(install.Stage, ecosystem.StagedFile{Path: runnerFile, Text: []byte(scriptRunner)})
	install.Inputs = append(install.Inputs, "\x00scripts", sources.HashText(scriptRunner), list)
	install.Says.Permanent = append(slices.Clone(install.Says.Permanent), "the install script of ")
	install.Says.Telling = append([]string{"the install script of "}, install.Says.Telling...)
	install.Steps = append(install.Steps, ecosystem.Step{
		Dir: ".", Command: fmt.Sprintf("node %s %s %s", runnerFile, scriptSeconds, list), Env: install.Steps[0].Env,
		Progress: "running the install scripts of " + strings.Join(names, ", "),
		Failure:  "the install scripts that deps.scripts names do not end well",
		Fix: "run `npm rebuild " + list +
			"` in your checkout to see what they need; or take the package out of deps.scripts: what needs it stays red",
	})
}

// NamesIn returns a function that reports whether the lock files name a package.
func NamesIn(locks map[string][]byte, locker ecosystem.Locker) func(name string) bool {
	return func(name string) bool {
		for file, text := range locks {
			dependencies, err := locker.ParseLock(file, text)
			if err == nil && slices.ContainsFunc(dependencies, func(d company.Dependency) bool { return d.Name == name }) {
				return true
			}
		}
		return false
	}
}

// nativeParts finds packages with native code that was not built, because their install scripts did not
// have permission to run.
type nativeParts struct {
	sources, built map[string]bool // names of packages
	all            map[string]bool
}

var packageFileRE = lazyregexp.New(`(?:^|/)node_modules/((?:@[^/]+/)?[^/@.][^/]*)/(.*)$`)

func (n *nativeParts) addFile(file string) {
	i := strings.LastIndex("/"+file, "/node_modules/")
	if i < 0 {
		return
	}
	m := packageFileRE.FindStringSubmatch(file[max(i-1, 0):])
	if m == nil {
		return
	}
	if n.all == nil {
		n.sources = map[string]bool{}
		n.built = map[string]bool{}
		n.all = map[string]bool{}
	}
	n.all[m[1]] = true
	switch {
	case m[2] == "binding.gyp":
		n.sources[m[1]] = true
	case path.Ext(m[2]) == ".node":
		n.built[m[1]] = true
	}
}

// listUnbuilt lists packages that have native sources and no built file. A built file may also be in a
// separate package for the platform.
func (n *nativeParts) listUnbuilt() (out []string) {
	for name := range n.sources {
		own := nameWithoutScope(name)
		forPlatform := func(other string) bool {
			return strings.Contains(other, own) && strings.Contains(other, "linux") && n.built[other]
		}
		platform := false
		for other := range n.all {
			platform = platform || forPlatform(other)
		}
		if !n.built[name] && !platform {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// describeUnbuilt returns a message about the packages that were not built and how to build them.
func (n *nativeParts) describeUnbuilt() []string {
	names := n.listUnbuilt()
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: not built, since no install script runs without your leave: where checks need it, "+
		"set deps: {scripts: [%s]} in company.yaml", strings.Join(names, ", "), strings.Join(quoteNames(names), ", "))}
}

// quoteNames returns the names in the form that a YAML list requires.
func quoteNames(names []string) (out []string) {
	for _, name := range names {
		if strings.HasPrefix(name, "@") {
			name = `"` + name + `"`
		}
		out = append(out, name)
	}
	return out
}
