package node

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// ciFolders hold the definitions of continuous integration, ciFiles are definitions by their names.
var (
	ciFolders = []string{".github/workflows", ".gitea/workflows", ".forgejo/workflows", ".circleci"}
	ciFiles   = []string{".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml", ".woodpecker.yml"}
)

const (
	maxCIFiles         = 30 // definitions that are read
	maxPlaywrightCalls = 8  // of Playwright's runner that are looked at for each package
)

var scriptCallRE = lazyregexp.New(`\b(?:npm|pnpm|yarn|bun)(?:[ \t]+-[\w-]+)*(?:[ \t]+run(?:-script)?)?[ \t]+([A-Za-z0-9][\w:.-]{0,39})`)

// playwrightCallRE matches a call of Playwright's runner that stands in a definition, up to what a shell or a matrix
// makes of it.
var playwrightCallRE = lazyregexp.New(`\b(?:npx|bunx|npm exec|pnpm|pnpm exec|yarn|yarn exec)(?:[ \t]+-[\w-]+)*[ \t]+playwright[ \t]+test((?:[ \t]+[\w@./:=,-]+)*)[ \t]*(\S?)`)

// commentedRE matches a line of a definition that is a comment: what people have switched off.
var commentedRE = lazyregexp.New(`(?m)^[ \t]*#.*$`)

// ciCalls are the calls of programs of a package that definitions of continuous integration make.
type ciCalls struct {
	scripts map[string]bool // by their names
	// playwright are the arguments of Playwright's runner, each once.
	playwright []string
}

// findCICalls finds the calls in the definitions of continuous integration.
func findCICalls(t *ecosystem.Tree) ciCalls {
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
	out := ciCalls{scripts: map[string]bool{}}
	for _, file := range files[:min(len(files), maxCIFiles)] {
		text := commentedRE.ReplaceAllString(t.ReadManifest("", file), "")
		for _, m := range scriptCallRE.FindAllStringSubmatch(text, maxProposed*maxScripts) {
			out.scripts[m[1]] = true
		}
		for _, m := range playwrightCallRE.FindAllStringSubmatch(text, maxProposed*maxScripts) {
			if m[2] != "" && !strings.ContainsAny(m[2], "#&;|)") {
				m[1] = "" // a matrix or a shell makes the rest: all browsers that can be are run
			}
			if len(out.playwright) < maxPlaywrightCalls && !slices.Contains(out.playwright, m[1]) {
				out.playwright = append(out.playwright, m[1])
			}
		}
	}
	return out
}

// addCIParts adds the scripts for parts of the tests that continuous integration runs beside the test script, where
// their runners report by name.
func (s scriptChecks) addCIParts(c *packageChecks) {
	for _, name := range slices.Sorted(maps.Keys(s.manifest.Scripts)) {
		if !partScriptRE.MatchString(name) || otherScriptRE.MatchString(name) || !s.ci.scripts[name] || len(c.tests) >= maxTestGates {
			continue
		}
		s.addPart(c, "npm run "+name, partLabel(name))
	}
}

// addCIBrowsers adds the calls of Playwright's runner that continuous integration makes by themselves, where no script
// of the package makes one. Like other checks of the CI alone they judge where the base is green by them.
func (s scriptChecks) addCIBrowsers(c *packageChecks) {
	if !s.manifest.dependsOn("@playwright/test") || slices.Contains(c.browsers, "playwright") {
		return
	}
	for i, args := range s.ci.playwright {
		label := "playwright"
		if i > 0 {
			label += " " + strconv.Itoa(i+1)
		}
		known := len(c.tests)
		s.addPart(c, "playwright test"+args, label)
		for _, added := range c.tests[known:] {
			added.gate.Provisional = true
		}
	}
}

// addPart adds the checks that a command comes to, under a label. Those that are there already are not added.
func (s scriptChecks) addPart(c *packageChecks, command, label string) {
	own := s.manifest
	own.parted = true
	own.Scripts = maps.Clone(s.manifest.Scripts)
	if own.Scripts == nil {
		own.Scripts = map[string]string{}
	}
	delete(own.Scripts, "pretest")
	delete(own.Scripts, "posttest")
	own.Scripts["test"] = command
	part := &packageChecks{lints: c.lints, types: c.types}
	if !s.splitTests(own, part) || len(c.tests)+len(part.tests) > maxTestGates {
		return
	}
	c.lints, c.types = part.lints, part.types
	c.browsers = append(c.browsers, part.browsers...)
	for _, g := range part.tests {
		if slices.ContainsFunc(c.tests, func(known namedGate) bool {
			return known.gate.Report == g.gate.Report || known.label == g.label && g.label != ""
		}) {
			continue
		}
		if g.label == "" && len(c.tests) > 0 {
			g.label = label
		}
		c.tests = append(c.tests, g)
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
