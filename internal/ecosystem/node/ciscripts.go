package node

import (
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// ciFolders hold the definitions of continuous integration, ciFiles are definitions by their names.
var (
	ciFolders = []string{".github/workflows", ".gitea/workflows", ".forgejo/workflows", ".circleci"}
	ciFiles   = []string{".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml", ".woodpecker.yml"}
)

// maxCIFiles limits the definitions that are read.
const maxCIFiles = 30

var scriptCallRE = lazyregexp.New(`\b(?:npm|pnpm|yarn|bun)(?:[ \t]+-[\w-]+)*(?:[ \t]+run(?:-script)?)?[ \t]+([A-Za-z0-9][\w:.-]{0,39})`)

// findCIScripts returns the names of the scripts that the definitions of continuous integration run.
func findCIScripts(t *ecosystem.Tree) map[string]bool {
	var files []string
	for _, dir := range ciFolders {
		for _, name := range slices.Sorted(slices.Values(t.Dirs[dir])) {
			if ending := path.Ext(name); ending == ".yml" || ending == ".yaml" {
				files = append(files, path.Join(dir, name))
			}
		}
	}
	for _, name := range ciFiles {
		if t.HasFile("", name) {
			files = append(files, name)
		}
	}
	out := map[string]bool{}
	for _, file := range files[:min(len(files), maxCIFiles)] {
		for _, m := range scriptCallRE.FindAllStringSubmatch(t.ReadManifest("", file), maxProposed*maxScripts) {
			out[m[1]] = true
		}
	}
	return out
}

// addCIParts adds the scripts for parts of the tests that continuous integration runs beside the test script, where
// their runners report by name.
func (s scriptChecks) addCIParts(c *packageChecks) {
	for _, name := range slices.Sorted(maps.Keys(s.manifest.Scripts)) {
		if !partScriptRE.MatchString(name) || otherScriptRE.MatchString(name) || !s.ciScripts[name] || len(c.tests) >= maxTestGates {
			continue
		}
		own := s.manifest
		own.parted = true
		own.Scripts = maps.Clone(s.manifest.Scripts)
		delete(own.Scripts, "pretest")
		delete(own.Scripts, "posttest")
		own.Scripts["test"] = "npm run " + name
		part := &packageChecks{lints: c.lints, types: c.types}
		if !s.splitTests(own, part) || len(c.tests)+len(part.tests) > maxTestGates {
			continue
		}
		c.lints, c.types = part.lints, part.types
		c.browsers = append(c.browsers, part.browsers...)
		for _, g := range part.tests {
			if slices.ContainsFunc(c.tests, func(known namedGate) bool {
				return known.gate.Report == g.gate.Report || known.label == g.label && g.label != ""
			}) {
				continue
			}
			if g.label == "" {
				g.label = partLabel(name)
			}
			c.tests = append(c.tests, g)
		}
	}
}

// partLabel is the name of a part of the tests, by its script.
func partLabel(script string) string {
	for _, prefix := range []string{"test:", "test-", "tests:"} {
		if rest, ok := strings.CutPrefix(script, prefix); ok && rest != "" {
			return rest
		}
	}
	return script
}
