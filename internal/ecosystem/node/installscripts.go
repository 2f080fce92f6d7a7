package node

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// scriptRunner runs install scripts in a build container, for every client alike.
//
//go:embed runscripts.cjs
var scriptRunner string

const (
	runnerFile = ".company-runscripts.cjs"
	// scriptSeconds is the time of one script, as a shell reckons it: ten minutes, and
	// less than its step has.
	scriptSeconds = "$(( ${COMPANY_STEP_SECONDS:-600} < 600 ? ${COMPANY_STEP_SECONDS:-600} : 600 ))"
)

// AddScripts adds to a layer of packages the run of those install scripts that may
// run: of packages that are allowed by name and that the lock files name.
func AddScripts(s ecosystem.Sources, in *ecosystem.Install, locked func(name string) bool) {
	names := slices.DeleteFunc(slices.Clone(s.Scripts()), func(name string) bool { return checkName(name, "") != nil || !locked(name) })
	if len(names) == 0 || len(in.Steps) == 0 {
		return
	}
	list := strings.Join(names, " ")
	in.Stage = append(in.Stage, ecosystem.StagedFile{Path: runnerFile, Text: []byte(scriptRunner)})
	in.Inputs = append(in.Inputs, "\x00scripts", s.HashText(scriptRunner), list)
	in.Says.Permanent = append(slices.Clone(in.Says.Permanent), "the install script of ")
	in.Says.Telling = append([]string{"the install script of "}, in.Says.Telling...)
	in.Steps = append(in.Steps, ecosystem.Step{
		Dir: ".", Command: fmt.Sprintf("node %s %s %s", runnerFile, scriptSeconds, list), Env: in.Steps[0].Env, Progress: "running the install scripts of " + strings.Join(names, ", "),
		Failure: "the install scripts that deps.scripts names do not end well",
		Fix:     "run `npm rebuild " + list + "` in your checkout to see what they need; or take the package out of deps.scripts: what needs it stays red",
	})
}

// NamesIn says whether lock files name a package.
func NamesIn(locks map[string][]byte, locker ecosystem.Locker) func(name string) bool {
	return func(name string) bool {
		for file, text := range locks {
			all, err := locker.ParseLock(file, text)
			if err == nil && slices.ContainsFunc(all, func(d company.Dependency) bool { return d.Name == name }) {
				return true
			}
		}
		return false
	}
}

// nativeParts tells from the files of packages which have native code that was not
// built: their install scripts do not run without leave.
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
		n.sources, n.built, n.all = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	n.all[m[1]] = true
	switch {
	case m[2] == "binding.gyp":
		n.sources[m[1]] = true
	case path.Ext(m[2]) == ".node":
		n.built[m[1]] = true
	}
}

// listUnbuilt lists packages that have sources of native code, and nothing that is
// built: neither in them nor in a package of its own for a platform.
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

// describeUnbuilt tells people what was left unbuilt, and how it is built.
func (n *nativeParts) describeUnbuilt() []string {
	names := n.listUnbuilt()
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: not built, since no install script runs without your leave: where checks need it, set deps: {scripts: [%s]} in company.yaml", strings.Join(names, ", "), strings.Join(quoteNames(names), ", "))}
}

// quoteNames are names as a list of YAML may hold them.
func quoteNames(names []string) (out []string) {
	for _, name := range names {
		if strings.HasPrefix(name, "@") {
			name = `"` + name + `"`
		}
		out = append(out, name)
	}
	return out
}
